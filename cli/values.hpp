#pragma once

#include <cstdint>
#include <optional>
#include <string>

/// Values that options of several verbs take.
namespace mprof::cli {

/// A whole number in decimal; nullopt for anything else, signs and spaces included.
[[nodiscard]] std::optional<std::uint64_t> parse_whole(const std::string& text);

/// Seconds of --timeout; throws Error(usage) unless they are positive.
[[nodiscard]] double parse_timeout(const std::string& text);

}  // namespace mprof::cli
