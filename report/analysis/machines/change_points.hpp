// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "report/analysis/judgement/judgement.hpp"

/// Where a time changed over many runs of one machine.
///
/// All that is tested is differences of logarithms, where a percent is a percent of short and long times
/// alike. These places are tested:
///
/// - Steps that Pettitt's test of ranks finds, repeated before and after each (binary segmentation). It
///   assumes nothing of how runs vary, and one odd run is no step to it. A step is tested by the runs between
///   its neighbours, each run as one. Only many runs show how runs of different days differ; processes of one
///   run show only how they differ from each other. So a step can be smaller than what the two runs around it
///   alone would show.
/// - Neighbouring runs where ranks cannot decide: in series of fewer than 11 runs, and near the ends of
///   longer ones, where the newest change always is. They are tested as `mprof compare` tests them, by the
///   processes of the two runs.
/// - The first run and the last, of a time that drifts by little from run to run. A straight line that fits
///   better than the step makes a drift of a step as well, since ranks find one in the middle of every slope.
///
/// The tests of all series are judged together by judge_together(). By Holm's method, a change called
/// anywhere in a history is wrong at most once in twenty times. Every change must exceed the threshold of the
/// clock.
///
/// A. N. Pettitt, A non-parametric approach to the change-point problem, Applied Statistics 28 (1979),
/// 126-135. T. Kalibera and R. Jones, Rigorous benchmarking in reasonable time, ISMM 2013: repeat at the
/// highest level that varies.
namespace mprof {

/// What tells a change.
enum class ToldBy {
  neighbours,  ///< two runs, one after the other
  ranks,       ///< the runs before and those behind
  ends,        ///< the first run and the last, and no step between them
};

[[nodiscard]] std::string_view to_string(ToldBy told_by);

/// Two places of a series between which its time may have changed, and what must be judged of it.
struct PossibleChange {
  std::size_t before = 0;  ///< the last run of the old time
  std::size_t after = 0;   ///< the first of the new one
  ToldBy told_by = ToldBy::neighbours;
  TimePair times{};
};

/// All of a series in the order of its runs, ascending; `ends` last, where there are three runs or more.
/// Times must be above 0. Empty below two runs.
[[nodiscard]] std::vector<PossibleChange> possible_changes(std::span<const Estimate> runs);

/// Runs as one time: the geometric mean of theirs, each run a round.
[[nodiscard]] Estimate pooled_runs(std::span<const Estimate> runs);

}  // namespace mprof
