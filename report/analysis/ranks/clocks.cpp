// SPDX-License-Identifier: MIT
#include "report/analysis/ranks/clocks.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "model/statistics/median.hpp"

namespace mprof {
namespace {

/// Fewer shared collectives do not lay one clock on another.
constexpr std::size_t fewest_shared = 3;

}  // namespace

RankClocks::RankClocks(std::span<const RankSummary> ranks, const Meetings& meetings) {
  number_clocks(ranks);
  collect(ranks, meetings);
  for (std::optional<std::size_t>& part : parts_) {
    if (part) continue;
    part = parts_count_++;
    while (fit_all()) {
    }
  }
  // All are laid on the first: now each also counts for the others.
  constexpr int refinements = 3;
  for (int i = 0; i < refinements; ++i) fit_all();
  measure_distances();
  moments_ = {};
}

/// From the rank with the lowest number on.
void RankClocks::number_clocks(std::span<const RankSummary> ranks) {
  std::map<std::string, std::uint32_t> numbers;
  for (const RankSummary& rank : ranks)
    clock_of_.push_back(
        numbers.try_emplace(rank.clock, static_cast<std::uint32_t>(numbers.size())).first->second);
  lines_.resize(numbers.size());
  parts_.resize(numbers.size());
}

/// Of many collectives of a group, some at equal distances: medians of two thousand are exact enough.
void RankClocks::collect(std::span<const RankSummary> ranks, const Meetings& meetings) {
  constexpr std::size_t most_of_group = 2000;
  std::vector<std::size_t> counts(meetings.groups.size()), seen(meetings.groups.size());
  for (const Meeting& meeting : meetings.all)
    counts[meeting.group] += trace::ends_together(meeting.kind) ? 1 : 0;
  for (const Meeting& meeting : meetings.all) {
    if (!trace::ends_together(meeting.kind)) continue;
    const std::size_t gap = (counts[meeting.group] + most_of_group - 1) / most_of_group;
    if (seen[meeting.group]++ % gap != 0) continue;
    std::vector<Moment>& moments = moments_.emplace_back();
    for (const MeetingPart& part : meeting.parts)
      moments.push_back({clock_of_[part.rank],
                         static_cast<double>(ranks[part.rank].collectives[part.collective].time.end)});
  }
}

/// Lays each clock on those of its part that are laid already. True when it laid a new one.
bool RankClocks::fit_all() {
  struct Pair {
    double own = 0, common = 0;
  };
  std::vector<std::vector<Pair>> shared(lines_.size());
  std::vector<std::size_t> part_shared(lines_.size());
  for (const std::vector<Moment>& moments : moments_) {
    std::optional<std::size_t> part;
    std::vector<double> ends;
    for (const Moment& moment : moments) {
      if (!parts_[moment.clock]) continue;
      part = parts_[moment.clock];
      ends.push_back(lines_[moment.clock](moment.end));
    }
    if (!part) continue;
    const double common = median(ends);
    for (const Moment& moment : moments) {
      shared[moment.clock].push_back({moment.end, common});
      part_shared[moment.clock] = *part;
    }
  }
  bool is_new = false;
  for (std::size_t clock = 0; clock < lines_.size(); ++clock) {
    if (is_reference(clock) || shared[clock].size() < fewest_shared) continue;
    std::ranges::sort(shared[clock], {}, &Pair::own);
    std::vector<double> own, common;
    for (const Pair& pair : shared[clock]) {
      own.push_back(pair.own);
      common.push_back(pair.common);
    }
    lines_[clock] = fit_clocks(own, common);
    is_new = is_new || !parts_[clock];
    if (!parts_[clock]) parts_[clock] = part_shared[clock];
  }
  return is_new;
}

/// The first clock of a part is the common one.
bool RankClocks::is_reference(std::size_t clock) const {
  return parts_[clock] &&
         std::ranges::find(parts_, parts_[clock]) - parts_.begin() == static_cast<std::ptrdiff_t>(clock);
}

void RankClocks::measure_distances() {
  constexpr double rare = 0.95;
  std::vector<double> distances;
  for (const std::vector<Moment>& moments : moments_) {
    std::vector<double> ends;
    for (const Moment& moment : moments) {
      ends.push_back(lines_[moment.clock](moment.end));
    }
    if (ends.size() < 2) continue;
    const double common = median(ends);
    for (const double end : ends) distances.push_back(std::abs(end - common));
  }
  if (distances.empty()) return;
  usual_distance_ = median(distances);
  const auto place = static_cast<std::ptrdiff_t>(rare * static_cast<double>(distances.size() - 1));
  std::ranges::nth_element(distances, distances.begin() + place);
  rare_distance_ = distances[static_cast<std::size_t>(place)];
}

double RankClocks::common(std::size_t rank, std::int64_t time) const {
  return lines_[clock_of_[rank]](static_cast<double>(time));
}

std::int64_t RankClocks::own(std::size_t rank, double time) const {
  const ClockLine& line = lines_[clock_of_[rank]];
  return std::llround((time - line.offset) / (1 + line.drift));
}

double RankClocks::largest_drift() const {
  double largest = 0;
  for (const ClockLine& line : lines_) largest = std::max(largest, std::abs(line.drift));
  return largest;
}

double RankClocks::resolution() const {
  constexpr double least = 1000;
  return std::max(least, 2 * usual_distance_);
}

}  // namespace mprof
