#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/trace.hpp"

/// trace.sqlite: the traces of all cases of a run in the schema that Nsight Systems exports, so that SQL
/// written for its exports works. Differences that such SQL does not notice: one file holds many cases, so
/// correlation ids are renumbered to be unique in it; times count from the first case's start
/// (TARGET_INFO_SESSION_START_TIME). What Nsight Systems does not know is in tables MPROF_...
namespace mprof::trace {

/// Adds the trace of a case, in place of an older one of that case, in one transaction: killed at any
/// moment, the file has all of it or nothing. Throws Error(environment) when the file cannot be written.
void write_trace(const std::filesystem::path& file, const Trace& trace);

/// The ids of the cases that the file has, in the order written.
[[nodiscard]] std::vector<std::string> traced_cases(const std::filesystem::path& file);

/// What write_trace() wrote of a case, but for external correlations; nullopt when the file does not have
/// it. Throws Error(environment) when there is no such file.
[[nodiscard]] std::optional<Trace> read_trace(const std::filesystem::path& file, const std::string& case_id);

}  // namespace mprof::trace
