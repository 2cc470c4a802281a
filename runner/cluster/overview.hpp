// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runner/cluster/progress.hpp"
#include "runner/cluster/submission.hpp"

namespace mprof {

/// The shards of a run, or the shares of its devices, or the run alone where it has neither.
struct RunOverview {
  std::vector<ShardProgress> shards{};
  std::size_t unassigned = 0;  ///< cases of shards that have not begun, not known of which
  std::optional<Submission> submission{};
  std::optional<RunState> merged{};  ///< of the run that they are merged into
  bool are_of_devices = false;       ///< which one command measures, and merges
  bool merge_is_queued = false;
  std::string silence{};  ///< why the scheduler did not say what its jobs do
};

/// Looks at the records below the directory and, where the run was submitted, asks Slurm.
[[nodiscard]] RunOverview overview_of(const std::filesystem::path& directory);

/// The cases of all shards.
[[nodiscard]] ShardProgress sum_of(const RunOverview& overview);

/// What to do next, as a sentence with the command; empty: only wait.
[[nodiscard]] std::string next_step(const RunOverview& overview, const std::string& directory);

/// What to do with shards that have not begun; empty where all have.
[[nodiscard]] std::string how_to_begin(const RunOverview& overview, const std::string& directory);

}  // namespace mprof
