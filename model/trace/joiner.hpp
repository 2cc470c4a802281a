#pragma once

#include <filesystem>

namespace mprof::trace {

/// Adds to the trace of one run the cases that another one's file has and it has not, in one transaction, row
/// by row as they are: ids of cases, calls and texts are renumbered, and times count from the start of `to`'s
/// first case. Work on GPUs of one number in both, on different machines, keeps that number. Throws
/// Error(usage) when `from` is no trace, Error(environment) when `to` cannot be written.
void add_cases(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace mprof::trace
