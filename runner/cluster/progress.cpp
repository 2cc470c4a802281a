// SPDX-License-Identifier: MIT
#include "runner/cluster/progress.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "model/rounds.hpp"
#include "runner/plan.hpp"
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

void add_case(ShardProgress& progress, const Case& c, double cost, const Run& run) {
  Share share;
  for (const PassResult& result : c.passes) {
    const Share more = share_in(result, run.plan);
    share = {share.done + more.done, share.all + more.all};
    progress.seconds += result.seconds;
    if (has_failed(result))
      progress.failures.push_back(fmt::format("{} {}: {}: {}", c.id, to_string(result.pass),
                                              to_string(result.status), first_line(result.reason)));
  }
  // A complete run spares a case that failed its other rounds.
  if (share.done == share.all || run.state == RunState::complete)
    ++(std::ranges::any_of(c.passes, has_failed) ? progress.failed : progress.done);
  if (share.all == 0) return;
  progress.work_done += cost * share.done / share.all;
  progress.work_left += cost * (share.all - share.done) / share.all;
}

bool are_of_one_division(std::span<const Run> shards) {
  return !shards.empty() && std::ranges::all_of(shards, [&](const Run& run) {
    return run.shard && shards.front().shard && run.shard->count == shards.front().shard->count;
  });
}

std::set<std::uint32_t> indices_of(std::span<const Run> shards) {
  std::set<std::uint32_t> indices;
  for (const Run& run : shards) indices.insert(run.shard->index);
  return indices;
}

/// By case, the shard that has it.
std::map<CaseKey, std::uint32_t> owners_in(std::span<const Run> shards) {
  std::map<CaseKey, std::uint32_t> owners;
  for (const Run& run : shards) {
    for (const Case& c : run.cases) owners[c.key] = run.shard->index;
  }
  return owners;
}

/// How many of the plan's cases that none of the shards has are each one's by their work, by index, from 1;
/// and whether those have what is theirs by it.
struct SharesByWork {
  std::vector<std::size_t> missing{};
  bool holds = true;
};

SharesByWork shares_by_work(std::span<const Run> shards) {
  const Run& first = shards.front();
  const std::vector<Case> planned = planned_cases(first.plan, first.variants, first.families);
  const std::vector<std::uint32_t> by_work =
      assign_shards(expected_costs(planned, nullptr), first.shard->count);
  const std::map<CaseKey, std::uint32_t> owners = owners_in(shards);
  const std::set<std::uint32_t> present = indices_of(shards);
  SharesByWork shares{.missing = std::vector<std::size_t>(first.shard->count + std::size_t{1})};
  for (std::size_t i = 0; i < planned.size(); ++i) {
    const auto owner = owners.find(planned[i].key);
    const bool is_missing = owner == owners.end();
    if (is_missing) ++shares.missing[by_work[i]];
    if (is_missing ? present.contains(by_work[i]) : owner->second != by_work[i]) shares.holds = false;
  }
  return shares;
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
    case ShardState::unknown:
      return "unknown";
    case ShardState::not_begun:
      return "not begun";
  }
  return "";
}

ShardProgress progress_of(const Run& run, const std::filesystem::path& path) {
  ShardProgress progress{.shard = run.shard.value_or(Shard{}), .path = path, .cases = run.cases.size()};
  const std::vector<double> costs = expected_costs(run.cases, nullptr);
  for (std::size_t i = 0; i < run.cases.size(); ++i) add_case(progress, run.cases[i], costs[i], run);
  if (run.state == RunState::complete) {
    progress.state = ShardState::complete;
    progress.work_left = 0;  // a round that a failed case is spared
  }
  return progress;
}

AbsentShards absent_shards(std::span<const Run> shards) {
  if (!are_of_one_division(shards)) return {};
  const std::set<std::uint32_t> present = indices_of(shards);
  const std::uint32_t count = shards.front().shard->count;
  if (present.size() == count) return {};
  const SharesByWork shares = shares_by_work(shards);
  const std::size_t cases = std::accumulate(shares.missing.begin(), shares.missing.end(), std::size_t{0});
  if (cases == 0) return {};
  const bool is_alone = present.size() + 1 == count;
  const bool is_known = shares.holds || is_alone;
  AbsentShards absent{.unassigned = is_known ? 0 : cases};
  for (std::uint32_t i = 1; i <= count; ++i) {
    if (present.contains(i)) continue;
    const std::size_t own = is_alone ? cases : shares.missing[i];
    absent.shards.push_back({.shard = {i, count},
                             .state = ShardState::not_begun,
                             .has_known_cases = is_known,
                             .cases = is_known ? own : 0});
  }
  return absent;
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
