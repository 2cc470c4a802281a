// SPDX-License-Identifier: MIT
#include "runner/cluster/overview.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "model/run_file.hpp"
#include "runner/cluster/slurm.hpp"
#include "runner/devices.hpp"
#include "runner/result_directory.hpp"
#include "system/folder_lock.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

/// Of a run that is not spread over devices, or that of which the record tells all, none.
std::vector<ShardProgress> read_shares(const Run& run, const fs::path& directory) {
  std::vector<ShardProgress> shares;
  if (run.state == RunState::complete) return shares;
  for (const std::string& id : devices_of(run, directory)) {
    const fs::path path = directory / devices_folder / id;
    shares.push_back(progress_of(read_record(path), path));
    shares.back().note = id;
  }
  return shares;
}

/// Returns the shards' records, without results.
std::vector<Run> read_shards(RunOverview& overview, const fs::path& directory) {
  std::vector<ShardProgress>& shards = overview.shards;
  std::vector<Run> records;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(shards_of(directory), error)) {
    if (!holds_a_run(entry.path())) continue;
    records.push_back(read_record(entry.path()));
    shards.push_back(progress_of(records.back(), entry.path()));
    for (Case& c : records.back().cases) c.passes.clear();
  }
  if (shards.empty()) {
    const Run run = read_record(directory);
    shards = read_shares(run, directory);
    overview.are_of_devices = !shards.empty();
    if (shards.empty()) shards.push_back(progress_of(run, directory));
  }
  for (ShardProgress& shard : shards) {
    if (shard.state == ShardState::stopped && FolderLock::is_held(shard.path))
      shard.state = ShardState::running;
  }
  return records;
}

void add_absent(RunOverview& overview, const std::vector<Run>& shards) {
  AbsentShards absent = absent_shards(shards);
  overview.unassigned = absent.unassigned;
  std::ranges::move(absent.shards, std::back_inserter(overview.shards));
}

/// What Slurm says of shards that are not complete.
void ask_slurm(RunOverview& overview) {
  slurm::Queue queue = slurm::queued_jobs(*overview.submission);
  overview.silence = std::move(queue.failure);
  for (const slurm::QueuedJob& job : queue.jobs) {
    if (job.shard == 0) overview.merge_is_queued = true;
    for (ShardProgress& shard : overview.shards) {
      if (shard.shard.index != job.shard || shard.state == ShardState::complete) continue;
      const bool waits = job.state == "PENDING" || job.state == "REQUEUED" || job.state == "SUSPENDED";
      shard.state = waits ? ShardState::waiting : ShardState::running;
      shard.note = waits ? job.reason : job.nodes;
    }
  }
}

/// What a scheduler was given may be at work where only that sees it.
void ask_scheduler(RunOverview& overview) {
  if (slurm::is_here())
    ask_slurm(overview);
  else
    overview.silence = "sbatch and squeue are not on PATH here";
  if (overview.silence.empty()) return;
  for (ShardProgress& shard : overview.shards) {
    if (shard.state == ShardState::stopped) shard.state = ShardState::unknown;
  }
}

bool all_are(const RunOverview& overview, ShardState state) {
  return std::ranges::all_of(overview.shards, [&](const ShardProgress& s) { return s.state == state; });
}

bool any_is(const RunOverview& overview, ShardState state) {
  return std::ranges::any_of(overview.shards, [&](const ShardProgress& s) { return s.state == state; });
}

}  // namespace

RunOverview overview_of(const fs::path& directory) {
  RunOverview overview{.submission = read_submission(directory)};
  const std::vector<Run> shards = read_shards(overview, directory);
  const bool has_shards = overview.shards.front().path != directory;
  if (has_shards && holds_a_run(directory)) overview.merged = read_record(directory).state;
  if (overview.merged != RunState::complete) {  // of one that is, nobody needs the shards any more
    add_absent(overview, shards);
    if (overview.submission) ask_scheduler(overview);
  }
  std::ranges::sort(overview.shards, {}, [](const ShardProgress& shard) {
    return std::pair(shard.shard.index, shard.path.string());
  });
  return overview;
}

ShardProgress sum_of(const RunOverview& overview) {
  ShardProgress sum{.cases = overview.unassigned};
  for (const ShardProgress& shard : overview.shards) {
    sum.cases += shard.cases;
    sum.done += shard.done;
    sum.failed += shard.failed;
  }
  return sum;
}

std::string next_step(const RunOverview& overview, const std::string& directory) {
  const bool has_shards = overview.shards.front().path.string() != directory;
  if (!has_shards || overview.merged == RunState::complete)
    return any_is(overview, ShardState::stopped)
               ? fmt::format("Go on with it: mprof run --resume --out {}", directory)
           : any_is(overview, ShardState::running)
               ? ""
               : fmt::format("Complete. Next: mprof report {}", directory);
  using enum ShardState;
  for (const ShardState state : {running, waiting, unknown}) {
    if (any_is(overview, state)) return "";
  }
  if (overview.are_of_devices) return fmt::format("Go on with it: mprof run --resume --out {}", directory);
  if (overview.merge_is_queued && !any_is(overview, not_begun))
    return "All shards are through; the job that merges them waits or runs.";
  if (all_are(overview, complete))
    return fmt::format("Complete, not merged yet: mprof merge {}/shards/[0-9]* --out {} --overwrite",
                       directory, directory);
  if (!any_is(overview, stopped)) return "";
  if (overview.submission)
    return fmt::format("Go on with what stopped: mprof submit {} --out {} (what the jobs printed is in {})",
                       overview.submission->scheduler, directory, (shards_of(directory) / "log").string());
  return fmt::format("Go on with what stopped: mprof run --resume --out {}/shards/I", directory);
}

std::string how_to_begin(const RunOverview& overview, const std::string& directory) {
  const auto absent = std::ranges::count(overview.shards, ShardState::not_begun, &ShardProgress::state);
  if (absent == 0) return "";
  const std::uint32_t count = overview.shards.front().shard.count;
  const std::string which =
      fmt::format("{} of {} shards {} not begun", absent, count, absent == 1 ? "has" : "have");
  if (overview.submission)
    return fmt::format("{}: submit again, with the options of the plan: mprof submit {} --out {}", which,
                       overview.submission->scheduler, directory);
  return fmt::format(
      "{}: begin each, with the options of the others: mprof run --shard I/{} --out {}/shards/I", which,
      count, directory);
}

}  // namespace mprof
