#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "model/run.hpp"

namespace mprof {

/// The run record as run.json has it: two-space indentation, arrays of numbers on one line, doubles that read
/// back to the same bits, a final newline. parse_run(run_to_json(r)) == r.
[[nodiscard]] std::string run_to_json(const Run& run);

/// The inverse. `name` is what messages call the text. Throws Error(usage) that names the field and the
/// value: truncated or invalid JSON, a missing or unknown field, a wrong type, a non-finite number, a newer
/// schema version.
[[nodiscard]] Run parse_run(std::string_view text, const std::string& name);

/// Reads DIR/run.json. Throws Error(usage) when DIR is no result directory or the file cannot be read.
[[nodiscard]] Run read_run(const std::filesystem::path& directory);

/// Writes DIR/run.json durably: temporary file, fsync, rename, fsync of the directory. At any moment the file
/// is the old record or the new one. Throws Error(environment) when the disk is full or the directory not
/// writable.
void write_run(const Run& run, const std::filesystem::path& directory);

}  // namespace mprof
