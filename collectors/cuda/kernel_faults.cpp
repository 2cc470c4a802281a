// SPDX-License-Identifier: MIT
#include "collectors/cuda/kernel_faults.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/kernel_name.hpp"
#include "model/trace/nsys_schema.hpp"

namespace mprof {
namespace {

using launch_log::is_of_kernel;
using launch_log::Launch;

/// "invalid configuration argument (CUDA error 9)".
std::string error_text(std::uint32_t result) {
  return fmt::format("{} (CUDA error {})", cudaGetErrorString(static_cast<cudaError_t>(result)), result);
}

std::string size_text(const std::uint32_t (&size)[3]) {
  return fmt::format("{} × {} × {}", size[0], size[1], size[2]);
}

std::string ordinal(std::uint64_t number) {
  const std::uint64_t last = number % 10, tens = number / 10 % 10;
  const char* const ending = tens == 1 ? "th" : last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th";
  return fmt::format("{}{}", number, ending);
}

/// What is known of the launches of one process.
class LaunchesOfProcess {
 public:
  LaunchesOfProcess(const journal::Journal& journal, const trace::Trace& trace)
      : journal_(journal), trace_(trace) {
    for (const trace::KernelRow& row : trace.kernels.rows()) ++ended_[trace.kernels.correlation(row)];
    for (const trace::Call& call : trace.calls) calls_.emplace(call.correlation, &call);
    for (const Launch& launch : journal.launched) {
      if (ended_.contains(launch.correlation)) last_ended_[{launch.context, launch.stream}] = launch.number;
    }
    find_captures();
  }

  [[nodiscard]] std::string name_of(const Launch& launch) const {
    if (launch.symbol == 0) return "a CUDA graph";
    if (launch.symbol == launch_log::unnamed) return "a kernel without a name";
    const auto found = journal_.texts.find(launch.symbol);
    return found == journal_.texts.end() ? "a kernel without a name" : kernel_name(found->second).whole;
  }

  /// "scale(float*): its 3rd launch, grid 4 × 1 × 1, block 32 × 1 × 1, stream 7, in epoch / step".
  [[nodiscard]] std::string told(const Launch& launch) const {
    std::string text = name_of(launch);
    if (launch.symbol != 0)
      text += fmt::format(": its {} launch, grid {}, block {},", ordinal(launch.nth), size_text(launch.grid),
                          size_text(launch.block));
    else
      text += ":";
    if (launch.symbol == 0) {
      const auto ended = ended_.find(launch.correlation);
      text += fmt::format(" {} of its kernels had ended,", ended == ended_.end() ? 0 : ended->second);
    }
    text += fmt::format(" stream {}", launch.stream);
    const std::string path = path_of(launch);
    return path.empty() ? text : fmt::format("{}, in the NVTX range {}", text, path);
  }

  /// Of the last launches those that had begun, as far as is known, and not ended.
  [[nodiscard]] std::vector<const Launch*> in_flight() const {
    std::vector<const Launch*> launches;
    for (const Launch& launch : journal_.launched) {
      const auto last = last_ended_.find({launch.context, launch.stream});
      // The first kernel of a graph that has ended says nothing of the others.
      const bool has_ended = (launch.symbol != 0 && ended_.contains(launch.correlation)) ||
                             (last != last_ended_.end() && launch.number < last->second) ||
                             was_waited_for(launch);
      if (launch.result == 0 && !has_ended && !was_captured(launch)) launches.push_back(&launch);
    }
    return launches;
  }

  [[nodiscard]] std::string_view call_name(const trace::Call& call) const { return trace_.names[call.name]; }

 private:
  /// What is launched while a graph is captured runs later, or never. A capture without an end lasts on.
  void find_captures() {
    std::vector<std::pair<std::int64_t, bool>> moments;  // and whether a capture begins
    for (const trace::Call& call : trace_.calls) {
      const std::string_view name = call_name(call);
      if (name.find("StreamBeginCapture") != std::string_view::npos)
        moments.emplace_back(call.time.start, true);
      if (name.find("StreamEndCapture") != std::string_view::npos) moments.emplace_back(call.time.end, false);
    }
    std::ranges::sort(moments);
    constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
    std::int64_t begin = none;
    for (const auto& [time, begins] : moments) {
      if (begins) {
        begin = std::min(begin, time);
      } else if (begin != none) {
        captures_.push_back({std::exchange(begin, none), time});
      }
    }
    if (begin != none) captures_.push_back({begin, none});
  }

  [[nodiscard]] bool was_captured(const Launch& launch) const {
    return std::ranges::any_of(captures_, [&](const trace::Interval& time) {
      return time.start <= launch.time && launch.time <= time.end;
    });
  }

  /// Somebody has waited for all that was launched there until then, and it was well.
  [[nodiscard]] bool was_waited_for(const Launch& launch) const {
    return std::ranges::any_of(trace_.synchronizations, [&](const trace::Synchronization& wait) {
      if (wait.time.start < launch.time || wait.context != launch.context) return false;
      const bool is_of_stream =
          wait.kind == trace::SynchronizationKind::stream && wait.stream == launch.stream;
      if (!is_of_stream && wait.kind != trace::SynchronizationKind::context) return false;
      const auto call = calls_.find(wait.correlation);
      return call != calls_.end() && call->second->result.value_or(1) == 0;
    });
  }

  /// The ranges that its thread had open, the outermost first.
  [[nodiscard]] std::string path_of(const Launch& launch) const {
    const std::int64_t thread =
        trace::nsys::global_thread(trace::nsys::global_process(journal_.head.process), launch.thread);
    std::vector<const trace::Range*> open;
    for (const trace::Range& range : trace_.ranges) {
      if (range.thread == thread && range.style == trace::RangeStyle::push_pop &&
          range.time.start <= launch.time && launch.time <= range.time.end)
        open.push_back(&range);
    }
    std::ranges::stable_sort(
        open, {}, [](const trace::Range* range) { return std::pair(range->time.start, -range->time.end); });
    std::vector<std::string_view> names;
    for (const trace::Range* range : open) names.push_back(trace_.text_of(*range));
    return fmt::format("{}", fmt::join(names, " / "));
  }

  const journal::Journal& journal_;
  const trace::Trace& trace_;
  std::unordered_map<std::int64_t, std::size_t> ended_;  ///< kernels, by their correlation ids
  /// The last launch of each stream, by its context, that has ended: those before it have ended too.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> last_ended_;
  std::vector<trace::Interval> captures_;
  std::unordered_map<std::int64_t, const trace::Call*> calls_;
};

/// The limit that a launch does not keep, which the error itself does not tell; empty: none of the limits
/// that all GPUs have in common.
std::string broken_limit(const Launch& launch) {
  constexpr std::uint32_t most_in_y_and_z = 65'535, most_threads = 1024, most_threads_in_z = 64;
  constexpr std::uint32_t unasked_shared_memory = 48 << 10;  // B
  const bool is_empty = std::ranges::count(launch.grid, 0U) + std::ranges::count(launch.block, 0U) > 0;
  if (is_empty) return " No size of a grid or a block may be 0.";
  if (launch.grid[1] > most_in_y_and_z || launch.grid[2] > most_in_y_and_z)
    return " A grid has at most 65,535 blocks in y and in z.";
  if (std::uint64_t{launch.block[0]} * launch.block[1] * launch.block[2] > most_threads)
    return " A block has at most 1,024 threads.";
  if (launch.block[2] > most_threads_in_z) return " A block has at most 64 threads in z.";
  if (launch.dynamic_shared_memory > unasked_shared_memory)
    return " More than 48 KiB of shared memory must be asked for by cudaFuncSetAttribute().";
  return "";
}

/// The launches that CUDA refused itself, by kernel and error.
void add_refused(const journal::Journal& journal, const LaunchesOfProcess& launches,
                 std::vector<std::string>& sentences) {
  std::map<std::pair<std::string, std::uint32_t>, std::vector<const Launch*>> refused;
  for (const Launch& launch : journal.failed) {
    if (!is_of_kernel(launch.result)) refused[{launches.name_of(launch), launch.result}].push_back(&launch);
  }
  const char* const at_least = journal.failed.size() >= launch_log::most_failures ? "At least " : "";
  for (const auto& [what, failed] : refused) {
    const auto& [name, result] = what;
    const Launch& first = *failed.front();
    std::string shape;
    if (first.symbol != 0)
      shape = fmt::format(", {}with grid {}, block {} and {} B of dynamic shared memory",
                          failed.size() > 1 ? "the first " : "", size_text(first.grid),
                          size_text(first.block), first.dynamic_shared_memory);
    sentences.push_back(
        fmt::format("{} of {} failed: {}{}.{} Nothing ran on the GPU for {}.",
                    failed.size() == 1 ? "A launch" : fmt::format("{}{} launches", at_least, failed.size()),
                    name, error_text(result), shape, first.symbol != 0 ? broken_limit(first) : "",
                    failed.size() == 1 ? "it" : "them"));
  }
}

/// The first launch of each stream that had not ended: what comes after it has not begun.
std::vector<const Launch*> first_of_streams(const std::vector<const Launch*>& launches) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> streams;
  std::vector<const Launch*> first;
  for (const Launch* launch : launches) {
    const std::pair stream(launch->context, launch->stream);
    if (streams.contains(stream)) continue;
    first.push_back(launch);
    // A graph may have ended as a whole: nothing tells.
    if (launch->symbol != 0) streams.insert(stream);
  }
  return first;
}

void add_in_flight(const LaunchesOfProcess& launches, const std::vector<const Launch*>& all,
                   std::vector<std::string>& sentences) {
  constexpr std::size_t most_told = 4;
  const std::vector<const Launch*> first = first_of_streams(all);
  for (std::size_t i = 0; i < std::min(first.size(), most_told); ++i)
    sentences.push_back(fmt::format("{} {}.", first.size() == 1 ? "In flight was" : "Not ended was",
                                    launches.told(*first[i])));
  if (first.size() > most_told)
    sentences.push_back(fmt::format("Launches had not ended on {} more streams.", first.size() - most_told));
  if (const std::size_t behind = all.size() - first.size(); behind > 0)
    sentences.push_back(fmt::format("{} behind {} had not ended either.",
                                    behind == 1 ? "One launch" : fmt::format("{} launches", behind),
                                    first.size() == 1 ? "it" : "them"));
}

/// Of a process that was ended from outside. CUPTI hands over a buffer when all that is in it has ended, so
/// that a kernel which does not end keeps back the ends of those before it.
void add_unended(const LaunchesOfProcess& launches, std::vector<std::string>& sentences) {
  const std::vector<const Launch*> all = launches.in_flight();
  if (all.empty()) return;
  const std::string last = launches.told(*all.back());
  sentences.push_back(all.size() == 1
                          ? fmt::format("The trace has no end of its last launch, {}.", last)
                          : fmt::format("The trace has no ends of its last {} launches. The last one was {}.",
                                        all.size(), last));
}

/// The first call that told of a kernel's error.
const trace::Call* first_error(const trace::Trace& trace) {
  const trace::Call* first = nullptr;
  for (const trace::Call& call : trace.calls) {
    if (is_of_kernel(call.result.value_or(0)) && (first == nullptr || call.time.end < first->time.end))
      first = &call;
  }
  return first;
}

}  // namespace

std::vector<std::string> kernel_faults(const journal::Journal& journal, const trace::Trace& trace) {
  std::vector<std::string> sentences;
  const trace::Call* const error = first_error(trace);
  if (error == nullptr && journal.failed.empty() && journal.has_ended) return sentences;
  const LaunchesOfProcess launches(journal, trace);
  add_refused(journal, launches, sentences);
  const auto refused =
      std::ranges::find_if(journal.failed, [](const Launch& launch) { return is_of_kernel(launch.result); });
  if (error != nullptr) {
    sentences.push_back(fmt::format("A kernel failed: {}, as {} told.", error_text(*error->result),
                                    launches.call_name(*error)));
  } else if (refused != journal.failed.end()) {
    sentences.push_back(
        fmt::format("A kernel failed: {}, as a later launch told.", error_text(refused->result)));
  }
  const bool has_failed = error != nullptr || refused != journal.failed.end();
  if (has_failed)
    add_in_flight(launches, launches.in_flight(), sentences);
  else if (!journal.has_ended)
    add_unended(launches, sentences);
  if (has_failed)
    sentences.push_back(
        "The line in the source is found by `mprof sanitize -- PROGRAM`, or by `compute-sanitizer PROGRAM`; "
        "build it with nvcc -lineinfo.");
  return sentences;
}

}  // namespace mprof
