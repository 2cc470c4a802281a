#include "runner/cluster/progress.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "model/rounds.hpp"
#include "runner/shards.hpp"

namespace mprof {
namespace {

/// How much of a pass is done, and how much there is, in rounds. What is skipped takes no time.
struct Share {
  double done = 0;
  double all = 0;
};

Share share_in(const PassResult& result, const Plan& plan) {
  if (result.status == Status::skipped) return {};
  const double all = result.pass == Pass::timing ? std::max(1U, plan.rounds) : 1;
  if (result.status == Status::pending || result.status == Status::interrupted) return {0, all};
  if (result.status != Status::ok || result.pass != Pass::timing) return {all, all};
  return {std::min(all, static_cast<double>(rounds_of(result))), all};
}

bool has_failed(const PassResult& result) {
  switch (result.status) {
    case Status::ok:
    case Status::skipped:
    case Status::pending:
    case Status::interrupted:
      return false;
    default:
      return true;
  }
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

void add_case(ShardProgress& progress, const Case& c, double cost, const Plan& plan) {
  Share share;
  for (const PassResult& result : c.passes) {
    const Share more = share_in(result, plan);
    share = {share.done + more.done, share.all + more.all};
    progress.seconds += result.seconds;
    if (has_failed(result))
      progress.failures.push_back(fmt::format("{} {}: {}: {}", c.id, to_string(result.pass),
                                              to_string(result.status), first_line(result.reason)));
  }
  if (share.done == share.all) ++progress.done;
  if (share.all == 0) return;
  progress.work_done += cost * share.done / share.all;
  progress.work_left += cost * (share.all - share.done) / share.all;
}

}  // namespace

std::string_view to_string(ShardState state) {
  switch (state) {
    case ShardState::complete:
      return "complete";
    case ShardState::running:
      return "running";
    case ShardState::waiting:
      return "waiting";
    case ShardState::stopped:
      return "stopped";
  }
  return "";
}

ShardProgress progress_of(const Run& run, const std::filesystem::path& path) {
  ShardProgress progress{.shard = run.shard.value_or(Shard{}), .path = path, .cases = run.cases.size()};
  const std::vector<double> costs = expected_costs(run.cases, nullptr);
  for (std::size_t i = 0; i < run.cases.size(); ++i) add_case(progress, run.cases[i], costs[i], run.plan);
  if (run.state == RunState::complete) {
    progress.state = ShardState::complete;
    progress.work_left = 0;  // a round that a failed case is spared
    progress.done = progress.cases;
  }
  return progress;
}

std::optional<double> seconds_left(std::span<const ShardProgress> shards) {
  double seconds = 0, work = 0;
  for (const ShardProgress& shard : shards) {
    seconds += shard.seconds;
    work += shard.work_done;
  }
  std::vector<double> ends;
  for (const ShardProgress& shard : shards) {
    if (shard.state == ShardState::running) ends.push_back(shard.work_left);
  }
  if (ends.empty() || work <= 0) return std::nullopt;
  for (const ShardProgress& shard : shards) {
    if (shard.state == ShardState::waiting) *std::ranges::min_element(ends) += shard.work_left;
  }
  return std::ranges::max(ends) * seconds / work;
}

}  // namespace mprof
