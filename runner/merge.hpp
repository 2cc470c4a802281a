// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/run.hpp"
#include "runner/result_directory.hpp"

/// Several runs of one plan as one: its shards, or the whole of it several times.
namespace mprof {

/// A run to merge, as it was recorded, and the directory that it is in.
struct MergeSource {
  std::filesystem::path path{};
  Run run{};
};

struct MergeOptions {
  bool pool = false;        ///< a case that several runs have gets the rounds of all; otherwise it is refused
  bool incomplete = false;  ///< cases that no run has, or is not through with, stay to be run
};

/// The union of the sources' cases, in plan order whatever order the sources are in. What they had of their
/// own is in Run::parts. Facts that differ between them are absent, and of each ceiling the highest is kept.
/// The state is complete when every case of the plan was reached in every pass. Its times are from the first
/// start to the last end. `sources` must not be empty. They are left without their runs, in the order in
/// which they were merged.
///
/// Throws Error with the directory at fault. It is `usage` when one is given twice. It is `incomparable` when
/// builds, plans or counts of shards differ, when several have a case that must not be pooled, or when
/// something is missing that may not be.
[[nodiscard]] Run merged(std::vector<MergeSource>& sources, const MergeOptions& options);

/// Writes the merged run: its record, the sources of its variants and the traces of its cases, and reads it
/// back. The state on disk is `running` until that is done, so that a merge that was killed is seen to be
/// none. Throws Error(environment) when it cannot be written, Error(usage) when a trace cannot be read.
void write_merged(const Run& run, const std::vector<MergeSource>& sources, ResultDirectory& directory);

}  // namespace mprof
