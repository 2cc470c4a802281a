// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <vector>

namespace mprof::trace {

/// Adds to the trace of one run the cases that the files of other runs have and it lacks, each file in one
/// transaction. Rows stay as they are, but ids of cases, calls and texts are renumbered, and times count from
/// the start of `to`'s first case. Work on GPUs of one number in several, on different machines, keeps that
/// number. Throws Error(usage) when one of `from` is no trace, Error(environment) when `to` cannot be
/// written.
void add_cases(const std::vector<std::filesystem::path>& from, const std::filesystem::path& to);

}  // namespace mprof::trace
