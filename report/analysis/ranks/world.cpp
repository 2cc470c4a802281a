// SPDX-License-Identifier: MIT
#include "report/analysis/ranks/world.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "model/statistics/median.hpp"
#include "report/analysis/ranks/critical_path.hpp"
#include "report/analysis/ranks/late_ranks.hpp"

namespace mprof {
namespace {

using Time = trace::Interval;

double median_or_0(const std::vector<double>& values) {
  return values.empty() ? 0 : median(values);
}

/// Which of its own steps a moment of a rank lies in.
std::optional<std::size_t> step_at(const RankSummary& rank, std::int64_t time) {
  const auto step =
      std::ranges::lower_bound(rank.steps, time, {}, [](const RankStep& one) { return one.time.end; });
  if (step == rank.steps.end() || time <= step->time.start) return std::nullopt;
  return static_cast<std::size_t>(step - rank.steps.begin());
}

/// Ranks may have begun to trace at different steps: a step of one is that step of another in which the same
/// collectives end. Ranks whose clocks cannot be compared are taken to have begun with the same step.
class StepMatcher {
 public:
  explicit StepMatcher(World& world)
      : world_(world), references_(world.clocks.parts()), votes_(world.ranks.size()) {
    for (std::size_t r = 0; r < world.ranks.size(); ++r) {
      std::optional<std::size_t>& reference = references_[world.clocks.part_of(r)];
      if (!reference || world.ranks[r].steps.size() > world.ranks[*reference].steps.size()) reference = r;
    }
  }

  void match() {
    for (const Meeting& meeting : world_.meetings.all) vote(meeting);
    std::vector<std::ptrdiff_t> later(world_.ranks.size());  // than the reference
    std::ptrdiff_t first = std::numeric_limits<std::ptrdiff_t>::min();
    std::ptrdiff_t end = std::numeric_limits<std::ptrdiff_t>::max();
    for (std::size_t r = 0; r < later.size(); ++r) {
      if (r != reference_of(r) && !votes_[r].empty())
        later[r] = std::ranges::max_element(votes_[r], {}, [](const auto& one) { return one.second; })->first;
      if (world_.is_left_out[r]) continue;
      first = std::max(first, later[r]);
      end = std::min(end, later[r] + static_cast<std::ptrdiff_t>(world_.ranks[r].steps.size()));
    }
    for (const std::ptrdiff_t own : later) world_.first.push_back(first - own);
    world_.steps = end > first ? static_cast<std::size_t>(end - first) : 0;
  }

 private:
  /// The rank with the most steps of those that it can be compared with.
  [[nodiscard]] std::size_t reference_of(std::size_t rank) const {
    return *references_[world_.clocks.part_of(rank)];
  }

  /// Where the reference takes no part, its time on the common clock says which step it was in.
  void vote(const Meeting& meeting) {
    const std::size_t reference = reference_of(meeting.parts.front().rank);
    std::vector<double> ends;
    for (const MeetingPart& part : meeting.parts)
      ends.push_back(world_.clocks.common(part.rank, end_of(part)));
    const auto there = step_at(world_.ranks[reference], world_.clocks.own(reference, median(ends)));
    if (!there) return;
    for (const MeetingPart& part : meeting.parts) {
      const auto here = step_at(world_.ranks[part.rank], end_of(part));
      if (here) ++votes_[part.rank][static_cast<std::ptrdiff_t>(*there) - static_cast<std::ptrdiff_t>(*here)];
    }
  }

  [[nodiscard]] std::int64_t end_of(const MeetingPart& part) const {
    return world_.ranks[part.rank].collectives[part.collective].time.end;
  }

  World& world_;
  std::vector<std::optional<std::size_t>> references_;        ///< of each part of the clocks
  std::vector<std::map<std::ptrdiff_t, std::size_t>> votes_;  ///< by rank: for so many steps
};

/// One trace that was cut off must not shorten all others to its few steps.
void leave_out_odd_traces(World& world) {
  std::vector<double> steps;
  for (const RankSummary& rank : world.ranks) steps.push_back(static_cast<double>(rank.steps.size()));
  const double usual = median_or_0(steps);
  for (const double own : steps) world.is_left_out.push_back(2 * own < usual);
}

void fill_cells(World& world) {
  world.cells.resize(world.ranks.size() * world.steps);
  for (std::size_t r = 0; r < world.ranks.size(); ++r) {
    for (std::size_t s = 0; s < world.steps; ++s) {
      const RankStep* step = world.step_of(r, s);
      if (step == nullptr) continue;
      world.cells[r * world.steps + s] = {.length = step->time.length(),
                                          .computing = step->of(RankActivity::computing),
                                          .communication = step->communication,
                                          .exposed = step->of(RankActivity::communicating),
                                          .copying = step->of(RankActivity::copying),
                                          .idle = step->of(RankActivity::idle)};
    }
  }
}

void add_waiting(World& world) {
  for (const Meeting& meeting : world.meetings.all) {
    const Arrival arrival = last_arrival(world, meeting);
    for (const MeetingPart& part : meeting.parts) {
      const RankCollective& one = world.ranks[part.rank].collectives[part.collective];
      if (const auto step = world_step_at(world, part.rank, one.time.end))
        world.cells[part.rank * world.steps + *step].waiting += exposed_wait(world, part, arrival);
    }
  }
  for (RankCell& cell : world.cells) cell.waiting = std::min(cell.waiting, cell.exposed);
}

constexpr std::array cell_members{&RankCell::length,  &RankCell::computing, &RankCell::communication,
                                  &RankCell::exposed, &RankCell::waiting,   &RankCell::copying,
                                  &RankCell::idle};

UsualRank usual_of(const World& world, std::size_t rank) {
  UsualRank usual;
  std::vector<double> values;
  const auto middle = [&](const auto& value) {
    values.clear();
    for (std::size_t s = 0; s < world.steps; ++s) {
      if (const RankStep* step = world.step_of(rank, s))
        values.push_back(static_cast<double>(value(*step, s)));
    }
    return median_or_0(values);
  };
  for (const auto& member : cell_members)
    usual.cell.*member = std::llround(
        middle([&](const RankStep& /*step*/, std::size_t s) { return world.cell(rank, s).*member; }));
  for (std::size_t cause = 0; cause < budget_parts; ++cause)
    usual.idle.at(cause) =
        middle([&](const RankStep& step, std::size_t /*s*/) { return step.idle.at(cause); });
  usual.launches = middle([](const RankStep& step, std::size_t /*s*/) { return step.launches; });
  return usual;
}

void find_usual(World& world) {
  for (std::size_t r = 0; r < world.ranks.size(); ++r) world.usual.push_back(usual_of(world, r));
  for (const auto& member : cell_members) {
    std::vector<double> values;
    for (std::size_t r = 0; r < world.ranks.size(); ++r) {
      if (!world.is_left_out[r]) values.push_back(static_cast<double>(world.usual[r].cell.*member));
    }
    world.all.*member = std::llround(median_or_0(values));
  }
  std::vector<double> lengths, of_step;
  double longest = 0;
  for (std::size_t s = 0; s < world.steps; ++s) {
    of_step.clear();
    for (std::size_t r = 0; r < world.ranks.size(); ++r) {
      if (world.cell(r, s).length > 0) of_step.push_back(static_cast<double>(world.cell(r, s).length));
    }
    lengths.push_back(median_or_0(of_step));
    if (lengths.back() > longest) {
      longest = lengths.back();
      world.slowest = s;
    }
  }
  world.step = median_or_0(lengths);
}

/// The shortest of its ranks' parts: what it takes where nobody is waited for.
double transfer_time(const World& world, const Meeting& meeting) {
  double shortest = std::numeric_limits<double>::infinity();
  for (const MeetingPart& part : meeting.parts)
    shortest = std::min(
        shortest, static_cast<double>(world.ranks[part.rank].collectives[part.collective].time.length()));
  return shortest;
}

double usual_waiting(const World& world, const Meeting& meeting) {
  std::vector<double> waits;
  const Arrival arrival = last_arrival(world, meeting);
  for (const MeetingPart& part : meeting.parts)
    waits.push_back(static_cast<double>(waiting_in(world, part, arrival).length()));
  return median(waits);
}

void mark_sizes(std::vector<LinkRate>& rates) {
  constexpr double hardly = 1.5, clearly = 4;
  for (LinkRate& rate : rates) {
    double shortest = rate.transfer, longest = rate.transfer;
    for (const LinkRate& other : rates) {
      if (other.kind != rate.kind || other.group != rate.group) continue;
      shortest = std::min(shortest, other.transfer);
      longest = std::max(longest, other.transfer);
    }
    rate.is_small = rate.transfer <= hardly * shortest && longest >= clearly * shortest;
    rate.is_large = rate.bytes > 0 && rate.transfer >= clearly * shortest;
  }
}

void find_rates(World& world) {
  struct Times {
    std::vector<double> transfers{}, waits{};
  };
  std::map<std::tuple<trace::CollectiveKind, std::uint32_t, std::uint64_t>, Times> times;  // of a group
  for (const Meeting& meeting : world.meetings.all) {
    Times& of_kind = times[{meeting.kind, meeting.group, meeting.bytes}];
    of_kind.transfers.push_back(transfer_time(world, meeting));
    of_kind.waits.push_back(usual_waiting(world, meeting));
  }
  constexpr double ns_in_s = 1e9;
  for (auto& [key, of_kind] : times) {
    const auto& [kind, group, bytes] = key;
    const std::uint32_t ranks = world.meetings.groups[group].size;
    LinkRate rate{.kind = kind,
                  .group = group,
                  .ranks = ranks,
                  .bytes = bytes,
                  .count = of_kind.transfers.size(),
                  .transfer = median(of_kind.transfers),
                  .waiting = median(of_kind.waits)};
    if (bytes > 0 && rate.transfer > 0) {
      const double on_bus = ns_in_s * static_cast<double>(bytes) * trace::bus_factor(kind, ranks);
      rate.rate = on_bus / rate.transfer;
      rate.best = on_bus / std::max(*std::ranges::min_element(of_kind.transfers), 1.0);
    }
    world.rates.push_back(rate);
  }
  mark_sizes(world.rates);
  std::ranges::stable_sort(world.rates, std::ranges::greater{}, [](const LinkRate& rate) {
    return static_cast<double>(rate.count) * rate.transfer;
  });
}

}  // namespace

const RankStep* World::step_of(std::size_t rank, std::size_t step_number) const {
  if (is_left_out[rank]) return nullptr;
  const std::ptrdiff_t own = first[rank] + static_cast<std::ptrdiff_t>(step_number);
  if (own < 0 || own >= static_cast<std::ptrdiff_t>(ranks[rank].steps.size())) return nullptr;
  return &ranks[rank].steps[static_cast<std::size_t>(own)];
}

std::string World::label(std::size_t rank) const {
  const RankSummary& summary = ranks[rank];
  if (summary.rank) return std::to_string(*summary.rank);
  const std::size_t folder = summary.name.find_last_of('/');
  return folder == std::string::npos ? summary.name : summary.name.substr(folder + 1);
}

Arrival last_arrival(const World& world, const Meeting& meeting) {
  constexpr double never = -std::numeric_limits<double>::infinity();
  Arrival arrival{never, never, 0};
  for (std::size_t i = 0; i < meeting.parts.size(); ++i) {
    const MeetingPart& part = meeting.parts[i];
    const double start =
        world.clocks.common(part.rank, world.ranks[part.rank].collectives[part.collective].time.start);
    if (start > arrival.last) {
      arrival.before = arrival.last;
      arrival.last = start;
      arrival.part = i;
    } else {
      arrival.before = std::max(arrival.before, start);
    }
  }
  return arrival;
}

trace::Interval waiting_in(const World& world, const MeetingPart& part, const Arrival& arrival) {
  const Time& time = world.ranks[part.rank].collectives[part.collective].time;
  const double resolution = world.clocks.resolution();
  const Time none{time.start, time.start};
  if (arrival.last > world.clocks.common(part.rank, time.end) + resolution) return none;
  const Time waiting{time.start, std::min(world.clocks.own(part.rank, arrival.last), time.end)};
  return static_cast<double>(waiting.length()) > resolution ? waiting : none;
}

std::int64_t exposed_wait(const World& world, const MeetingPart& part, const Arrival& arrival) {
  const RankSummary& rank = world.ranks[part.rank];
  return length_within(rank.exposed_of(rank.collectives[part.collective]), waiting_in(world, part, arrival));
}

std::optional<std::size_t> world_step_at(const World& world, std::size_t rank, std::int64_t time) {
  if (world.is_left_out[rank]) return std::nullopt;
  const auto own = step_at(world.ranks[rank], time);
  if (!own) return std::nullopt;
  const std::ptrdiff_t step = static_cast<std::ptrdiff_t>(*own) - world.first[rank];
  if (step < 0 || step >= static_cast<std::ptrdiff_t>(world.steps)) return std::nullopt;
  return static_cast<std::size_t>(step);
}

World world_of(std::span<const RankSummary> ranks) {
  Meetings meetings = meetings_of(ranks);
  const RankClocks clocks(ranks, meetings);
  World world{.ranks = ranks, .meetings = std::move(meetings), .clocks = clocks};
  world.uses = uses_of_groups(ranks, world.meetings);
  leave_out_odd_traces(world);
  StepMatcher(world).match();
  fill_cells(world);
  add_waiting(world);
  find_usual(world);
  find_rates(world);
  find_late_ranks(world);
  world.path = critical_path(world);
  return world;
}

}  // namespace mprof
