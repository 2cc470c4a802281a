// SPDX-License-Identifier: MIT
#include "report/wording/drawn_step.hpp"

#include <fmt/format.h>

#include "report/text/format.hpp"
#include "report/wording/program.hpp"
#include "report/wording/time_budget.hpp"

namespace mprof {
namespace {

std::string_view other_paint_name(OtherPaint paint) {
  switch (paint) {
    case OtherPaint::graph:
      return "CUDA graph";
    case OtherPaint::copy_in:
      return "copy to the GPU";
    case OtherPaint::copy_out:
      return "copy to the host";
    case OtherPaint::copy_other:
      return "other copy";
    case OtherPaint::memset:
      return "memset";
    case OtherPaint::range:
      return "NVTX range";
    case OtherPaint::launch:
      return "call: launch";
    case OtherPaint::wait:
      return "call: wait";
    case OtherPaint::allocation:
      return "call: allocate, free";
    case OtherPaint::copy_call:
      return "call: copy, set";
    case OtherPaint::other_call:
      return "other call";
  }
  return "";
}

}  // namespace

std::string_view paint_name(Paint paint) {
  if (paint == paint_of(KernelKind::other)) return "kernels of no known kind";
  if (paint < kernel_paints) return kind_name(static_cast<KernelKind>(paint));
  if (paint < kernel_paints + other_paints)
    return other_paint_name(static_cast<OtherPaint>(paint - kernel_paints));
  return part_name(static_cast<BudgetPart>(paint - kernel_paints - other_paints));
}

std::string thread_name(const DrawnLane& lane) {
  const std::string name = format::one_line(lane.thread_name);
  return name.empty() ? fmt::format("Thread {}", lane.thread)
                      : fmt::format("Thread {} ({})", lane.thread, format::elide(name, 20));
}

std::string lane_name(const DrawnLane& lane, bool several_gpus) {
  switch (lane.what) {
    case LaneOf::ranges:
      return lane.depth == 0 ? "NVTX ranges" : "";
    case LaneOf::calls:
      return "CUDA calls";
    case LaneOf::stream:
      return several_gpus ? fmt::format("GPU {}, stream {}", lane.queue.device, lane.queue.stream)
                          : fmt::format("Stream {}", lane.queue.stream);
    case LaneOf::idle:
      return "GPU idle";
  }
  return "";
}

std::string drawn_step_title(const DrawnStep& drawn, const Steps& steps) {
  return fmt::format("Step {} of {}, which took {}", drawn.step + 1, steps.all.size(),
                     format::nanoseconds(drawn.own.length()));
}

std::vector<std::string> drawn_step_remarks(const DrawnStep& drawn) {
  std::vector<std::string> remarks;
  if (drawn.launched_before > 0) {
    const std::string work =
        drawn.launched_before == drawn.work
            ? "all work that runs here was"
            : fmt::format("{} of the {} pieces of work that run here were",
                          format::count(drawn.launched_before), format::count(drawn.work));
    remarks.push_back(
        fmt::format("The host is ahead of the GPU: {} launched before the picture begins, up to {} before.",
                    work, format::nanoseconds(drawn.lead)));
  }
  if (drawn.merged > 0)
    remarks.push_back(
        fmt::format("Neighbours that are shorter than {} stand in one block of at most this length, in "
                    "the colour of what takes the most of it.",
                    format::nanoseconds(drawn.merged)));
  if (drawn.more_threads > 0)
    remarks.push_back(fmt::format("Not drawn: {} with fewer calls and ranges.",
                                  format::plural(drawn.more_threads, "thread")));
  if (drawn.more_streams > 0)
    remarks.push_back(
        fmt::format("Not drawn: {} with less work.", format::plural(drawn.more_streams, "stream")));
  if (drawn.deeper > 0)
    remarks.push_back(
        fmt::format("Not drawn: {} that lie in eight others.", format::plural(drawn.deeper, "NVTX range")));
  return remarks;
}

}  // namespace mprof
