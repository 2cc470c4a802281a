// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "model/sanitizer.hpp"

namespace mprof {

/// The record as sanitizer.json has it. What it gives, parse_sanitizer_record() reads.
[[nodiscard]] std::string sanitizer_record_to_json(const SanitizerRecord& record);

/// The inverse. `name` is what messages call the text. Throws Error(usage) that names the field and the
/// value.
[[nodiscard]] SanitizerRecord parse_sanitizer_record(std::string_view text, const std::string& name);

/// Where `mprof sanitize` keeps the record of the run in `directory`.
[[nodiscard]] std::filesystem::path sanitizer_file(const std::filesystem::path& directory);

/// Reads the file, or the check.json beside it that an older mprof wrote; nullopt when there is neither.
/// Throws Error(usage) when it is no such record, or a symbolic link that leads out of its directory.
[[nodiscard]] std::optional<SanitizerRecord> read_sanitizer_record(const std::filesystem::path& file);

/// Writes the file durably, as write_run() does.
void write_sanitizer_record(const SanitizerRecord& record, const std::filesystem::path& file);

}  // namespace mprof
