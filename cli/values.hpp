// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

/// Values that options of several verbs take.
namespace mprof::cli {

/// A whole number in decimal; nullopt for anything else, signs and spaces included.
[[nodiscard]] std::optional<std::uint64_t> parse_whole(const std::string& text);

/// The value of an option that takes seconds; throws Error(usage) unless it is positive.
[[nodiscard]] double parse_seconds(const std::string& option, const std::string& text);

/// "45 s", "3 min 05 s", "2 h 10 min": for people who wait.
[[nodiscard]] std::string duration(double seconds);

/// A number of rounds. Throws Error(usage) for anything else.
[[nodiscard]] std::uint32_t parse_rounds(const std::string& text);

/// Throws Error(usage) for "-": what writes several files needs a folder, and no standard output.
void require_folder(const std::string& out);

}  // namespace mprof::cli
