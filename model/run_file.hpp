// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "model/run.hpp"
#include "model/trace/reader.hpp"

/// The run record on disk: run.json, which stays small, and cases/, one file a case (model/case_file.hpp).
namespace mprof {

/// run.json: two-space indentation, arrays of numbers on one line, doubles that read back to the same bits, a
/// final newline. It holds everything but what the cases' passes left.
[[nodiscard]] std::string run_to_json(const Run& run);

/// Reads run.json of this schema version or an older one. A case whose results stand in a file of its own has
/// its planned passes, pending. `name` is what messages call the text. Throws Error(usage) that names the
/// field and the value: truncated or invalid JSON, a missing field, a wrong type, a non-finite number, two
/// cases of one id, a newer schema version. Fields that this mprof does not know are left alone.
[[nodiscard]] Run parse_run(std::string_view text, const std::string& name);

/// Reads the run in DIR, with all its cases: what was recorded, and nothing that follows from it. A case
/// without a file, or with one that another run left in this directory, is pending. Throws Error(usage) when
/// DIR is no result directory, when a file cannot be read, is damaged or of another case, or when a symbolic
/// link leads out of DIR.
[[nodiscard]] Run read_record(const std::filesystem::path& directory);

/// read_record(), with everything that follows from what was recorded (derive()).
[[nodiscard]] Run read_run(const std::filesystem::path& directory);

/// The same, with the trace that it was derived from (derive_and_keep_trace()).
struct TracedRun {
  Run run{};
  std::optional<trace::Trace> trace{};
};
[[nodiscard]] TracedRun read_traced_run(const std::filesystem::path& directory, const trace::Parts& parts);

/// Writes DIR/run.json durably: temporary file, fsync, rename, fsync of the directory. At any moment the file
/// is the old record or the new one. Throws Error(environment) when the disk is full or the directory not
/// writable.
void write_run(const Run& run, const std::filesystem::path& directory);

/// Writes the file of one case as durably; `stamp` is run_stamp() of its run. Throws like write_run(), and
/// Error(usage) when a symbolic link leads out of DIR.
void write_case(const Case& c, std::string_view stamp, const std::filesystem::path& directory);

/// Both, of all cases that have anything to tell.
void write_record(const Run& run, const std::filesystem::path& directory);

}  // namespace mprof
