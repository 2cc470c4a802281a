// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/trace/trace.hpp"

/// When a traced case did what: lanes of blocks on an axis of time, and how much of its work on the GPU went
/// on side by side.
namespace mprof {

/// What a block stands for. The first ones happen on the host, the others on the GPU.
enum class Activity : std::uint8_t {
  op,          ///< an op of the family, with its stages
  stage,       ///< a part of an op: prepare, op, finish
  range,       ///< an NVTX range of the variant's own
  allocation,  ///< an API call that allocates or frees memory
  copy_call,   ///< an API call that copies or sets memory
  launch,      ///< an API call that launches kernels
  wait,        ///< an API call that waits for the GPU
  other_call,
  kernel,
  copy_in,     ///< host to device
  copy_out,    ///< device to host
  copy_other,  ///< within a device, or between two
  memset,
  both,  ///< a kernel and a copy at the same time
};
inline constexpr std::size_t activities = static_cast<std::size_t>(Activity::both) + 1;

/// One interval, or several short ones that stand close together. Times in ns, from the start of the window.
struct TimelineBlock {
  std::int64_t start = 0;
  std::int64_t length = 0;
  std::int64_t busy = 0;  ///< less than the length where there are gaps between merged intervals
  std::uint64_t count = 1;
  std::uint64_t bytes = 0;
  std::uint32_t name = 0;  ///< index into Timeline::names; 0: none, or several

  [[nodiscard]] std::int64_t end() const { return start + length; }
  bool operator==(const TimelineBlock&) const = default;
};

/// The blocks of one kind in a lane, by start.
struct TimelineStrip {
  Activity kind = Activity::kernel;
  std::vector<TimelineBlock> blocks{};
};

struct TimelineLane {
  std::string name{};
  std::vector<TimelineStrip> strips{};
};

/// How much of a case's work on the GPU went on side by side. Times in ns; each moment counts once, however
/// many kernels or copies were under way in it.
struct OverlapFigures {
  std::int64_t window = 0;        ///< from the first activity of the case to the last, on host and GPU
  std::int64_t kernels = 0;       ///< a kernel ran
  std::int64_t copies = 0;        ///< a copy ran; memsets are no copies
  std::int64_t both = 0;          ///< a kernel and a copy ran
  std::int64_t copying_only = 0;  ///< a copy or a memset ran and no kernel
  std::int64_t several = 0;       ///< two streams or more had work that ran
  std::size_t streams = 0;        ///< that had any work
  std::uint64_t kernel_count = 0;
  std::uint64_t copy_count = 0;
  std::uint64_t unseen_launches = 0;  ///< of a case whose kernels were launched, and none recorded

  [[nodiscard]] std::int64_t busy() const { return kernels + copying_only; }
  /// `both` over the shorter of `kernels` and `copies`: 1 when all of it ran beside the other. nullopt
  /// without kernels or without copies, since there is nothing to overlap.
  [[nodiscard]] std::optional<double> overlap() const;
};

struct Timeline {
  trace::Interval window{};  ///< as the trace has it
  std::vector<std::string> names{std::string()};
  std::vector<TimelineLane> lanes{};
  OverlapFigures figures{};  ///< of the whole trace, not of merged blocks
};

struct TimelineLimits {
  /// More blocks than these are merged, shorter ones first.
  std::size_t blocks = 1500;
  /// The streams with the most work have lanes of their own; the rest share one.
  std::size_t streams = 16;
};

/// A chart as wide as a page cannot show a smaller share of the window.
inline constexpr std::int64_t parts_of_window = 1500;

/// The timelines of some cases, in the order of `cases`, which are different ones. A case without any record
/// has no lanes. The time it takes grows with the number of records as sorting does, not with the number of
/// cases.
[[nodiscard]] std::vector<Timeline> timelines(const trace::Trace& trace,
                                              std::span<const trace::CaseIndex> cases,
                                              const TimelineLimits& limits = {});

/// Merges neighbours that are shorter than `parts_of_window` of the window, which a chart without a zoom
/// cannot show. Then merges as many more as it takes to leave no more than `blocks`, or one for each strip.
void shorten(Timeline& timeline, std::size_t blocks);

[[nodiscard]] std::size_t blocks_in(const Timeline& timeline);

/// Blocks of one strip, by start, after merging: neighbours become one when both are shorter than `shortest`
/// and less than that apart.
[[nodiscard]] std::vector<TimelineBlock> merged(const std::vector<TimelineBlock>& blocks,
                                                std::int64_t shortest);

}  // namespace mprof
