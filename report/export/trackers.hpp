// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "report/analysis/analysis.hpp"
#include "report/analysis/machines/environment.hpp"

/// The times of runs for services that follow them: Bencher, github-action-benchmark and Apache Otava. Only
/// times of cases that are ok are there, since none of the formats has a place for a reason.
namespace mprof {

struct TrackedTime {
  std::string name;  ///< "rows/op_time", or "total_time"
  Estimate time;
};

struct TrackedCase {
  std::string id;
  std::vector<TrackedTime> times{};

  /// "map/tiled[width=16]@1000/rows/op_time": what trackers know the time by, in every run.
  [[nodiscard]] std::string name_of(const TrackedTime& one) const { return id + "/" + one.name; }
};

/// What trackers need of a run, which is little beside its samples.
struct TrackedRun {
  std::string name;      ///< what the reader calls it
  std::string started;   ///< UTC, ISO 8601
  std::string version;   ///< mprof's
  std::string revision;  ///< mprof's
  MachineFacts machine{};
  std::vector<TrackedCase> cases;            ///< the cases that are ok, in run order
  std::map<Status, std::size_t> left_out{};  ///< how many of the others ended so
};

/// Some cases of a run. Throws Error(usage) where two times have one name.
[[nodiscard]] TrackedRun tracked_run(const Run& run, const std::string& name,
                                     const std::vector<const CaseResult*>& cases);

/// Bencher Metric Format: a benchmark for each time, whose measure is `latency`, in ns.
[[nodiscard]] std::string bmf_json(const TrackedRun& run);

/// What github-action-benchmark reads as customSmallerIsBetter: an entry for each time, in ns.
[[nodiscard]] std::string benchmark_action_json(const TrackedRun& run);

/// otava.yaml, a test for each case, and the CSV of each: a row for each run that has it, in the order in
/// which they started. Returns their paths. Throws Error(incomparable) for runs of different machines.
std::vector<std::filesystem::path> write_otava(std::vector<TrackedRun> runs,
                                               const std::filesystem::path& directory);

/// "2 wrong and 1 skipped": the cases that were left out, by how they ended; empty: none.
[[nodiscard]] std::string left_out_of(std::span<const TrackedRun> runs);

/// Throws Error(usage) with how the cases ended where no run has a time.
void require_times(std::span<const TrackedRun> runs);

}  // namespace mprof
