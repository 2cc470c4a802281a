// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "report/analysis/ranks/meetings.hpp"
#include "report/analysis/ranks/rank_summary.hpp"

/// One time for the clocks of all ranks.
namespace mprof {

/// Each clock is laid on a common one by the moments at which collectives end that all their ranks finish
/// together (ends_together()), with a constant offset and a constant drift. What clocks say of the date is
/// not looked at. The common clock is the clock of the rank with the lowest number.
class RankClocks {
 public:
  RankClocks(std::span<const RankSummary> ranks, const Meetings& meetings);

  /// ns of the common clock, for a time of a rank.
  [[nodiscard]] double common(std::size_t rank, std::int64_t time) const;
  /// The other way round.
  [[nodiscard]] std::int64_t own(std::size_t rank, double time) const;
  /// Which part a rank belongs to, from 0.
  [[nodiscard]] std::size_t part_of(std::size_t rank) const { return *parts_[clock_of_[rank]]; }
  /// How many parts there are.
  [[nodiscard]] std::size_t parts() const { return parts_count_; }
  /// How many clocks there are.
  [[nodiscard]] std::size_t size() const { return lines_.size(); }
  /// ns: how far the ends of one collective lie from their median, in the median and in 95 of 100 cases; 0
  /// where nothing is shared.
  [[nodiscard]] double usual_distance() const { return usual_distance_; }
  [[nodiscard]] double rare_distance() const { return rare_distance_; }
  /// The largest drift against the common clock, as a ratio.
  [[nodiscard]] double largest_drift() const;
  /// Differences of times that are no larger say nothing, in ns.
  [[nodiscard]] double resolution() const;

 private:
  struct Moment {
    std::uint32_t clock = 0;
    double end = 0;
  };

  void number_clocks(std::span<const RankSummary> ranks);
  void collect(std::span<const RankSummary> ranks, const Meetings& meetings);
  bool fit_all();
  [[nodiscard]] bool is_reference(std::size_t clock) const;
  void measure_distances();

  std::vector<std::uint32_t> clock_of_;            ///< by rank
  std::vector<ClockLine> lines_;                   ///< by clock
  std::vector<std::optional<std::size_t>> parts_;  ///< by clock; nullopt: not laid on any yet
  std::size_t parts_count_ = 0;
  std::vector<std::vector<Moment>> moments_;  ///< of each shared collective
  double usual_distance_ = 0, rare_distance_ = 0;
};

}  // namespace mprof
