// SPDX-License-Identifier: MIT
#include "report/analysis/ranks/critical_path.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace mprof {
namespace {

class Walker {
 public:
  explicit Walker(const World& world) : world_(world), meeting_of_(world.ranks.size()) {
    path_.by_rank.resize(world.ranks.size());
    for (std::size_t r = 0; r < world.ranks.size(); ++r)
      meeting_of_[r].assign(world.ranks[r].collectives.size(), no_meeting);
    for (std::uint32_t i = 0; i < world.meetings.all.size(); ++i) {
      for (const MeetingPart& part : world.meetings.all[i].parts) meeting_of_[part.rank][part.collective] = i;
    }
  }

  CriticalPath walk() {
    constexpr std::size_t most = 200;
    const std::size_t walked = std::min(world_.steps, most);
    for (std::size_t i = 0; i < walked; ++i) walk_step(i * world_.steps / walked);
    double all = 0;
    for (const double part : path_.parts) all += part;
    if (all <= 0) return path_;
    for (double& part : path_.parts) part /= all;
    for (double& rank : path_.by_rank) rank /= all;
    path_.steps = walked;
    return path_;
  }

 private:
  void walk_step(std::size_t step) {
    std::optional<std::size_t> rank;
    double time = 0;
    for (std::size_t r = 0; r < world_.ranks.size(); ++r) {
      const RankStep* own = world_.step_of(r, step);
      if (own == nullptr) continue;
      const double end = world_.clocks.common(r, own->time.end);
      if (rank && end <= time) continue;
      rank = r;
      time = end;
    }
    if (!rank) return;
    const double begin = world_.clocks.common(*rank, world_.step_of(*rank, step)->time.start);
    // Each piece ends where the one after it begins; a limit only where clocks contradict each other.
    for (int pieces = 0; time > begin && pieces < 100'000; ++pieces) {
      const std::optional<double> next = step_back(*rank, time, begin);
      if (!next) return;
      time = *next;
    }
  }

  /// The path's last piece before a moment is counted; returns when it began.
  std::optional<double> step_back(std::size_t& rank, double time, double begin) {
    const RankStretches& stretches = world_.ranks[rank].stretches;
    if (stretches.size() == 0) return std::nullopt;
    const std::int64_t own = world_.clocks.own(rank, time);
    std::size_t at = std::min(stretches.at(own), stretches.size() - 1);
    if (stretches[at].time.start >= own && at > 0) --at;
    const RankStretch stretch = stretches[at];
    const double start = std::max(world_.clocks.common(rank, stretch.time.start), begin);
    if (start >= time) return std::nullopt;
    if (stretch.what == RankActivity::communicating) {
      if (const Meeting* meeting = meeting_at(rank, own)) {
        const Arrival arrival = last_arrival(world_, *meeting);
        if (arrival.last < time) {
          count(stretch.what, std::nullopt, time - std::max(arrival.last, begin));
          rank = meeting->parts[arrival.part].rank;
          return std::max(arrival.last, begin);
        }
      }
    }
    count(stretch.what, stretch.what == RankActivity::communicating ? std::nullopt : std::optional(rank),
          time - start);
    return start;
  }

  /// The collective that a rank is in just before a moment; of several the one that began last.
  [[nodiscard]] const Meeting* meeting_at(std::size_t rank, std::int64_t own) const {
    const std::vector<RankCollective>& all = world_.ranks[rank].collectives;
    auto one = std::ranges::lower_bound(all, own, {}, [](const RankCollective& c) { return c.time.start; });
    constexpr int looked_at = 8;
    for (int i = 0; i < looked_at && one != all.begin(); ++i) {
      --one;
      if (one->time.end < own) continue;
      const std::uint32_t number = meeting_of_[rank][static_cast<std::size_t>(one - all.begin())];
      return number == no_meeting ? nullptr : &world_.meetings.all[number];
    }
    return nullptr;
  }

  void count(RankActivity what, std::optional<std::size_t> rank, double time) {
    path_.parts.at(static_cast<std::size_t>(what)) += time;
    if (rank) path_.by_rank[*rank] += time;
  }

  const World& world_;
  static constexpr std::uint32_t no_meeting = ~std::uint32_t{0};

  std::vector<std::vector<std::uint32_t>> meeting_of_;  ///< by rank and collective
  CriticalPath path_;
};

}  // namespace

CriticalPath critical_path(const World& world) {
  return Walker(world).walk();
}

}  // namespace mprof
