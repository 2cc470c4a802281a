// SPDX-License-Identifier: MIT
#include "report/analysis/ranks/late_ranks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "model/statistics/median.hpp"
#include "report/analysis/kernels/slower_kernels.hpp"

namespace mprof {
namespace {

using What = LateCause::What;

/// What is known of the collectives of a rank.
struct Lateness {
  std::size_t last = 0;
  std::size_t waited = 0;  ///< in which anybody was waited for
  double expected = 0;     ///< times that it would be the last of these by chance
  double variance = 0;
  double cost = 0;                          ///< ns in all
  std::map<std::size_t, double> by_step{};  ///< ns
};

/// ns: what those who wait for the last of a meeting have nothing else to do in, in the median.
double usual_exposed_wait(const World& world, const Meeting& meeting, const Arrival& arrival) {
  std::vector<double> waits;
  for (std::size_t i = 0; i < meeting.parts.size(); ++i) {
    if (i != arrival.part)
      waits.push_back(static_cast<double>(exposed_wait(world, meeting.parts[i], arrival)));
  }
  return median(waits);
}

std::vector<Lateness> lateness_of(World& world) {
  std::vector<Lateness> all(world.ranks.size());
  for (const Meeting& meeting : world.meetings.all) {
    const Arrival arrival = last_arrival(world, meeting);
    const double alone = arrival.last - arrival.before;
    const double cost = std::min(alone, usual_exposed_wait(world, meeting, arrival));
    const MeetingPart& part = meeting.parts[arrival.part];
    const auto step =
        world_step_at(world, part.rank, world.ranks[part.rank].collectives[part.collective].time.end);
    if (!step || cost <= world.clocks.resolution()) continue;
    ++world.waited;
    world.waiting_cost += cost;
    const double chance = 1.0 / static_cast<double>(meeting.parts.size());
    for (const MeetingPart& other : meeting.parts) {
      Lateness& lateness = all[other.rank];
      ++lateness.waited;
      lateness.expected += chance;
      lateness.variance += chance * (1 - chance);
    }
    Lateness& last = all[part.rank];
    ++last.last;
    last.cost += cost;
    last.by_step[*step] += cost;
  }
  if (world.steps > 0) world.waiting_cost /= static_cast<double>(world.steps);
  return all;
}

/// More often than one time in a thousand by chance, for the most conspicuous of so many ranks.
bool is_more_than_chance(const Lateness& lateness, std::size_t ranks) {
  const double deviations = 3.1 + 0.3 * std::log(static_cast<double>(ranks));
  return static_cast<double>(lateness.last) >
         lateness.expected + deviations * std::sqrt(lateness.variance) + 1;
}

/// Pettitt's test: the step from which on values are others than before; nullopt where chance explains it.
std::optional<std::size_t> step_of_change(const std::vector<double>& values) {
  constexpr double level = 0.001;
  constexpr std::size_t fewest = 20;
  if (values.size() < fewest) return std::nullopt;
  std::vector<std::pair<double, std::size_t>> sorted;
  for (std::size_t i = 0; i < values.size(); ++i) sorted.emplace_back(values[i], i);
  std::ranges::sort(sorted);
  std::vector<double> ranks(values.size());
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t end = i;
    while (end < sorted.size() && sorted[end].first == sorted[i].first) ++end;
    for (std::size_t k = i; k < end; ++k)
      ranks[sorted[k].second] = (static_cast<double>(i) + static_cast<double>(end - 1)) / 2 + 1;
    i = end;
  }
  const auto n = static_cast<double>(values.size());
  double sum = 0, largest = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i + 1 < ranks.size(); ++i) {
    sum += 2 * ranks[i] - (n + 1);
    if (std::abs(sum) > largest) {
      largest = std::abs(sum);
      at = i + 1;
    }
  }
  const double chance = 2 * std::exp(-6 * largest * largest / (n * n * n + n * n));
  return chance < level ? std::optional(at) : std::nullopt;
}

/// Only what becomes clearly more is worth a word.
std::optional<std::size_t> since_of(const World& world, const Lateness& lateness) {
  std::vector<double> costs(world.steps);
  for (const auto& [step, cost] : lateness.by_step) costs[step] = cost;
  const auto at = step_of_change(costs);
  if (!at) return std::nullopt;
  const auto middle = costs.begin() + static_cast<std::ptrdiff_t>(*at);
  const double before = median({costs.data(), *at}), after = median({&*middle, costs.size() - *at});
  return after > 2 * before ? at : std::nullopt;
}

// --- Causes

/// The median over the other ranks.
template <class Value>
double typical(const World& world, std::size_t but, const Value& value) {
  std::vector<double> values;
  for (std::size_t r = 0; r < world.usual.size(); ++r) {
    if (r != but && !world.is_left_out[r]) values.push_back(static_cast<double>(value(world.usual[r])));
  }
  return values.empty() ? 0 : median(values);
}

/// ns, in the mean: a GPU that is shared lets a part of the launches wait.
double mean_of(const RankKernel& kernel) {
  return static_cast<double>(kernel.time) / static_cast<double>(std::max<std::uint64_t>(kernel.launches, 1));
}

double excess_of(const RankKernel& kernel) {
  return excess_of_mean(mean_of(kernel), static_cast<double>(kernel.median));
}

/// Kernels of a rank against the median of the same ones on the others.
std::vector<SlowerKernel> compared_kernels(const World& world, std::size_t rank) {
  struct Others {
    std::vector<double> means{}, excesses{};
  };
  std::map<std::string_view, Others> others;
  for (std::size_t r = 0; r < world.ranks.size(); ++r) {
    if (r == rank || world.is_left_out[r]) continue;
    for (const RankKernel& kernel : world.ranks[r].kernels) {
      others[kernel.name].means.push_back(mean_of(kernel));
      others[kernel.name].excesses.push_back(excess_of(kernel));
    }
  }
  std::vector<SlowerKernel> compared;
  for (const RankKernel& kernel : world.ranks[rank].kernels) {
    const auto found = others.find(kernel.name);
    if (found == others.end()) continue;
    const double usual = median(found->second.means), own = mean_of(kernel);
    const double excess = excess_of(kernel) - median(found->second.excesses);
    if (usual <= 0) continue;
    compared.push_back({kernel.name, own / usual, static_cast<double>(kernel.time),
                        static_cast<double>(kernel.launches) * (own - usual),
                        static_cast<double>(kernel.launches) * excess});
  }
  return compared;
}

What what_of(Slowness::Of slowness) {
  switch (slowness) {
    case Slowness::Of::some_launches:
      return What::some_launches;
    case Slowness::Of::all_kernels:
      return What::all_kernels;
    case Slowness::Of::one_kernel:
      break;
  }
  return What::some_kernel;
}

/// The clock of its GPU, if a lower one than the others' explains half of what its kernels take longer.
void add_clock(const World& world, std::size_t rank, LateCause& cause) {
  const std::optional<double> own = world.ranks[rank].sm_clock;
  std::vector<double> others;
  for (std::size_t r = 0; r < world.ranks.size(); ++r) {
    if (r != rank && world.ranks[r].sm_clock) others.push_back(*world.ranks[r].sm_clock);
  }
  if (!own || *own <= 0 || others.empty()) return;
  const double usual = median(others);
  if (usual / *own - 1 < (cause.factor - 1) / 2) return;
  cause.sm_clock = *own;
  cause.usual_sm_clock = usual;
}

LateCause cause_of_computing(const World& world, std::size_t rank, double more) {
  LateCause cause{.what = What::unknown, .more = more};
  const auto steps = static_cast<double>(std::max<std::size_t>(world.ranks[rank].steps.size(), 1));
  if (const auto slowness = slowness_of(compared_kernels(world, rank), more * steps)) {
    cause.what = what_of(slowness->of);
    cause.factor = slowness->factor;
    cause.kernel = slowness->kernel;
    if (cause.what == What::all_kernels) add_clock(world, rank, cause);
    return cause;
  }
  const double own = world.usual[rank].launches;
  const double usual = typical(world, rank, [](const UsualRank& one) { return one.launches; });
  if (usual > 0 && own > usual) {
    cause.what = What::more_kernels;
    cause.factor = own / usual;
  }
  return cause;
}

/// ns a step, of the same place and cause.
double time_at(const RankSummary& rank, const RankPlace& place) {
  for (const RankPlace& own : rank.places) {
    if (own.part == place.part && own.is_line == place.is_line && own.name == place.name)
      return static_cast<double>(own.time) / static_cast<double>(std::max<std::size_t>(rank.steps.size(), 1));
  }
  return 0;
}

/// The place of its host that explains half of its idle time, a line before a range.
void place_idle_time(const World& world, std::size_t rank, LateCause& cause) {
  for (const bool is_line : {true, false}) {
    const RankPlace* most = nullptr;
    double most_more = cause.more / 2;
    for (const RankPlace& place : world.ranks[rank].places) {
      if (place.part != cause.part || place.is_line != is_line) continue;
      std::vector<double> others;
      for (std::size_t r = 0; r < world.ranks.size(); ++r) {
        if (r != rank && !world.is_left_out[r]) others.push_back(time_at(world.ranks[r], place));
      }
      const double more = time_at(world.ranks[rank], place) - (others.empty() ? 0 : median(others));
      if (more < most_more) continue;
      most_more = more;
      most = &place;
    }
    if (most == nullptr) continue;
    cause.place = most->name;
    cause.place_is_line = is_line;
    return;
  }
}

/// What it has more of than the others, if that explains a quarter of what it costs.
LateCause cause_of(const World& world, const LateRank& late) {
  constexpr double telling = 0.25;
  const UsualRank& own = world.usual[late.rank];
  const auto more = [&](const auto& value) {
    return static_cast<double>(value(own)) - typical(world, late.rank, value);
  };
  std::vector<LateCause> causes{
      {.what = What::all_kernels, .more = more([](const UsualRank& one) { return one.cell.computing; })},
      {.what = What::copies, .more = more([](const UsualRank& one) { return one.cell.copying; })}};
  for (std::size_t part = 0; part < budget_parts; ++part)
    causes.push_back({.what = What::idle,
                      .more = more([part](const UsualRank& one) { return one.idle.at(part); }),
                      .part = static_cast<BudgetPart>(part)});
  LateCause& most = *std::ranges::max_element(causes, {}, &LateCause::more);
  if (most.more < telling * late.cost) return {};
  if (most.what == What::idle) place_idle_time(world, late.rank, most);
  return most.what == What::all_kernels ? cause_of_computing(world, late.rank, most.more) : most;
}

}  // namespace

void find_late_ranks(World& world) {
  constexpr double least_share = 0.01;
  const std::vector<Lateness> all = lateness_of(world);
  if (world.steps == 0) return;
  const auto steps = static_cast<double>(world.steps);
  for (std::uint32_t r = 0; r < all.size(); ++r) {
    const Lateness& lateness = all[r];
    LateRank late{.rank = r, .last = lateness.last, .of = lateness.waited, .cost = lateness.cost / steps};
    if (late.cost < least_share * world.step || !is_more_than_chance(lateness, world.ranks.size())) continue;
    late.since = since_of(world, lateness);
    late.cause = cause_of(world, late);
    world.late.push_back(std::move(late));
  }
  std::ranges::stable_sort(world.late, std::ranges::greater{}, &LateRank::cost);
}

}  // namespace mprof
