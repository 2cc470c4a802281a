#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "model/sanitizer.hpp"

namespace mprof {

/// The record as check.json has it. parse_check(check_to_json(c)) == c.
[[nodiscard]] std::string check_to_json(const Check& check);

/// The inverse. `name` is what messages call the text. Throws Error(usage) that names the field and the
/// value.
[[nodiscard]] Check parse_check(std::string_view text, const std::string& name);

/// Where `mprof check` keeps the record of the run in `directory`.
[[nodiscard]] std::filesystem::path check_file(const std::filesystem::path& directory);

/// Reads the file; nullopt when there is none. Throws Error(usage) when it is there and is no such record.
[[nodiscard]] std::optional<Check> read_check(const std::filesystem::path& file);

/// Writes the file durably, as write_run() does.
void write_check(const Check& check, const std::filesystem::path& file);

}  // namespace mprof
