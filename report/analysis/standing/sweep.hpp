// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/analysis/analysis.hpp"

/// What a run says of a variant that ran with several values of its parameters. It says which point of the
/// sweep is best for each op and problem, and how the others compare with it.
namespace mprof {

/// How the values of a parameter lie on an axis.
enum class AxisScale { categories, linear, log2 };

/// A parameter that took more than one value.
struct SweepAxis {
  ParameterInfo parameter;
  AxisScale scale = AxisScale::categories;
  std::vector<std::string> values;           ///< the run's: numbers ascending, words in the declared order
  std::optional<std::size_t> default_index;  ///< absent when the default value was not run

  /// Where value number `index` lies: the number itself, its logarithm to base 2, or its place in the order.
  [[nodiscard]] double position(std::size_t index) const;
};

/// How a point stands against the best one of its op and problem.
enum class Standing {
  best,     ///< the lowest median of a verified output
  level,    ///< the best is not faster than it beyond doubt
  slower,   ///< the best is
  unclear,  ///< one of them has no interval
  none      ///< no verified time
};

/// A verified time against the best one, which is no longer: best, level, slower or unclear, and why.
struct StandingOfTime {
  Standing standing = Standing::unclear;
  Why reason{};  ///< why it is unclear
};

[[nodiscard]] StandingOfTime standing_against(const Value& time, const Value& best);

struct SweepPoint {
  std::vector<std::size_t> at;         ///< the index of a value on each axis
  const CaseResult* result = nullptr;  ///< nullptr: the run has no such case
  Value time;  ///< by which it is judged; the time of a wrong output is here too, and never judged
  SpeedUp over_default;
  Standing standing = Standing::none;
  Why reason;                     ///< why its standing is unclear or none
  std::optional<double> to_best;  ///< its time over the best's
  bool is_default = false;

  [[nodiscard]] bool verified() const { return standing != Standing::none; }
  [[nodiscard]] bool among_best() const { return standing == Standing::best || standing == Standing::level; }
};

/// One op (or the whole) at one problem.
struct SweepSeries {
  Problem problem;
  /// Every combination of the axes' values, the last axis fastest; where those are very many, only the cases
  /// of the run.
  std::vector<SweepPoint> points;
  std::optional<std::size_t> best;

  [[nodiscard]] const SweepPoint* best_point() const;
  /// Points that are tied with the best one.
  [[nodiscard]] std::size_t level() const;
  /// The slowest verified one; nullptr when no point is verified.
  [[nodiscard]] const SweepPoint* slowest() const;
  [[nodiscard]] const SweepPoint* default_point() const;
  [[nodiscard]] const SweepPoint* find(const std::vector<std::size_t>& at) const;
};

struct OpSweep {
  OpInfo op;                ///< without a name: the whole of a family that has no ops
  std::string compared_by;  ///< op_time; group_time when some point's op_time says little; or total_time
  std::vector<SweepSeries> series;  ///< problems ascending

  /// The largest problem at which some point gave a verified time; nullptr when none did.
  [[nodiscard]] const SweepSeries* largest() const;
};

struct Sweep {
  const VariantResult* variant = nullptr;
  const Words* words = nullptr;  ///< of its family
  std::vector<SweepAxis> axes;
  std::vector<std::pair<std::string, std::string>> fixed;  ///< other parameters, not at their default
  std::vector<OpSweep> ops;
  bool is_grid = false;  ///< whether every series holds every combination, so that it can be drawn

  /// "tile_width=16,unroll=4", as in the id of a case.
  [[nodiscard]] std::string name(const std::vector<std::size_t>& at) const;
};

/// The sweeps of a family's variants, in the order of the variants. They point into `family`.
[[nodiscard]] std::vector<Sweep> sweeps_of(const FamilyResult& family);

/// The point that is best, or tied with the best, in all of these series; if several are, the one that loses
/// least. It is the point of the last series. nullptr without such a point, or without series.
[[nodiscard]] const SweepPoint* best_in_all(const std::vector<const SweepSeries*>& series);

}  // namespace mprof
