// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/trace/steps.hpp"
#include "model/trace/trace.hpp"
#include "report/analysis/program/kernel_kinds.hpp"
#include "report/analysis/standing/time_budget.hpp"

/// One step as lanes of blocks on an axis of time: what threads did, what ran on the GPU, and why it was
/// idle.
namespace mprof {

/// What a block stands for, as it is coloured: a kind of kernel, one of these, or a cause of idle time.
using Paint = std::uint8_t;
inline constexpr std::size_t kernel_paints = static_cast<std::size_t>(KernelKind::other) + 1;
enum class OtherPaint : std::uint8_t {
  graph,  ///< one that was traced as a whole
  copy_in,
  copy_out,
  copy_other,
  memset,
  range,
  launch,  ///< calls, by what they are for, as the next
  wait,
  allocation,
  copy_call,
  other_call,
};
inline constexpr std::size_t other_paints = static_cast<std::size_t>(OtherPaint::other_call) + 1;
inline constexpr std::size_t all_paints = kernel_paints + other_paints + budget_parts;

[[nodiscard]] constexpr Paint paint_of(KernelKind kind) {
  return static_cast<Paint>(kind);
}
[[nodiscard]] constexpr Paint paint_of(OtherPaint what) {
  return static_cast<Paint>(kernel_paints + static_cast<std::size_t>(what));
}
[[nodiscard]] constexpr Paint paint_of(BudgetPart cause) {
  return static_cast<Paint>(kernel_paints + other_paints + static_cast<std::size_t>(cause));
}

/// One thing that happened, or several short ones that follow each other. Times in ns from the window's
/// start.
struct DrawnBlock {
  trace::Interval time{};
  Paint paint = 0;         ///< of several: the paint that takes the most of it
  std::uint32_t name = 0;  ///< index into DrawnStep::names; 0: none, or several
  std::uint64_t count = 1;
  std::int64_t busy = 0;     ///< less than its length where there are gaps between several
  std::uint32_t launch = 0;  ///< which call launched it, or the first of it: the number of a call's block
                             ///< from 1 on, over all lanes of calls; 0: none that is drawn
};

enum class LaneOf : std::uint8_t { ranges, calls, stream, idle };

struct DrawnLane {
  LaneOf what = LaneOf::stream;
  std::int64_t thread = 0;    ///< as the operating system knows it
  std::string thread_name{};  ///< empty: not known
  std::size_t depth = 0;      ///< of ranges: in how many others they lie
  trace::Queue queue{};
  std::vector<DrawnBlock> blocks{};  ///< by their starts
};

struct DrawnStep {
  std::size_t step = 0;      ///< its place in Steps::all
  trace::Interval window{};  ///< all that is there, as the trace has it
  trace::Interval view{};    ///< what is shown first, from the window's start, as the next
  trace::Interval own{};     ///< the step: from the end of the one before to its own
  std::vector<std::string> names{std::string()};
  std::vector<DrawnLane> lanes{};  ///< lanes of a thread follow each other, its ranges before its calls
  std::int64_t merged = 0;  ///< ns; what is shorter may stand in a block with its neighbours. 0: nothing is
  std::size_t blocks = 0;
  std::uint64_t work = 0;             ///< kernels, graphs, copies and memsets that run in the view
  std::uint64_t launched_before = 0;  ///< of these: by calls before the view
  std::int64_t lead = 0;              ///< ns; how long before the view the first of these calls was
  std::size_t more_threads = 0;       ///< that are not drawn
  std::size_t more_streams = 0;
  std::uint64_t deeper = 0;  ///< ranges that lie too deep to be drawn
  bool several_gpus = false;
};

struct DrawnLimits {
  std::size_t blocks = 20'000;  ///< more are merged, shorter ones first
  std::int64_t parts = 0;   ///< merges what is shorter than such a part of the window; 0: only where it must
  bool view_alone = false;  ///< the window is no longer than the view
};

/// The steady step whose pace is nearest to the median; of several, the one in the middle. The view begins
/// when the step before was done, or with the step on the host where that is at most a step earlier. The
/// window also holds the time before it in which the host launched this step, up to eight steps. nullopt
/// where nothing happened.
[[nodiscard]] std::optional<DrawnStep> drawn_step_of(const trace::Trace& trace, trace::CaseIndex index,
                                                     const Steps& steps, const DrawnLimits& limits = {});

}  // namespace mprof
