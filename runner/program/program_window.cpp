// SPDX-License-Identifier: MIT
#include "runner/program/program_window.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/trace/op_name.hpp"
#include "system/error.hpp"
#include "system/glob.hpp"

namespace mprof {
namespace {

using trace::Window;

constexpr double nano = 1e-9;

/// The commonest names of a program's ranges, "step # (120), forward (120)".
std::string names_of(const trace::Trace& trace) {
  constexpr std::size_t most = 5;
  std::map<std::string, std::uint64_t> counts;
  for (const trace::Range& range : trace.ranges) {
    if (range.style != trace::RangeStyle::mark) ++counts[trace::without_numbers(trace.text_of(range))];
  }
  if (counts.empty()) return "it has no NVTX range";
  std::vector<std::pair<std::string, std::uint64_t>> ordered(counts.begin(), counts.end());
  std::ranges::stable_sort(ordered, std::ranges::greater{}, [](const auto& one) { return one.second; });
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(most, ordered.size()); ++i)
    names.push_back(fmt::format("{} ({})", ordered[i].first, ordered[i].second));
  return fmt::format("its NVTX ranges are {}{}", fmt::join(names, ", "),
                     ordered.size() > most ? fmt::format(" and {} more names", ordered.size() - most) : "");
}

std::uint64_t ranges_named(const trace::Trace& trace, const std::string& glob) {
  return static_cast<std::uint64_t>(std::ranges::count_if(trace.ranges, [&](const trace::Range& range) {
    return range.style != trace::RangeStyle::mark && matches(glob, std::string(trace.text_of(range)));
  }));
}

}  // namespace

Window require_window(std::string_view text) {
  std::string wrong;
  if (auto window = trace::parse_window(text, wrong)) return std::move(*window);
  throw Error(ExitCode::usage, fmt::format("--window {}: {}.", text, wrong));
}

std::optional<std::string> why_no_steps(const std::string& text, const FoundSteps& steps) {
  if (!steps.range.empty() && steps.ranges > steps.count)
    return fmt::format(
        "--window {}: the program has {} steps, and a process has {} NVTX ranges {}. So these do not number "
        "the steps, since some are nested or on another thread. Name ranges (range:NAME[3..5]) or seconds "
        "(seconds:1..3), or call cudaProfilerStart() (profiler-api)",
        text, steps.count, steps.ranges, steps.range);
  if (!steps.range.empty()) return std::nullopt;
  return fmt::format(
      "--window {}: the timing pass found no NVTX range that repeats as a step. Name a range "
      "(range:NAME[3..5]), "
      "seconds (seconds:1..3), or call cudaProfilerStart() (profiler-api)",
      text);
}

std::string why_never_opened(const std::string& text, const Window& window, const FoundSteps& steps,
                             const trace::Trace& trace, double seconds) {
  std::string what;
  switch (window.kind) {
    case Window::Kind::steps:
      what = fmt::format("the program has {} steps (range {})", steps.count, steps.range);
      break;
    case Window::Kind::ranges:
      if (const std::uint64_t count = ranges_named(trace, window.range); count > 0)
        what = fmt::format("the program has {} of these ranges", count);
      else
        what = fmt::format("the program has no such range; {}", names_of(trace));
      break;
    case Window::Kind::profiler_api:
      what = "the program did not call cudaProfilerStart()";
      break;
    case Window::Kind::seconds:
      what = fmt::format("the program ended after {:.3g} s, or called neither CUDA nor NVTX", seconds);
      break;
  }
  return fmt::format("--window {} never opened: {}", text, what);
}

std::string window_note(const std::string& text, const trace::Interval& part, double seconds) {
  return fmt::format(
      "The trace is of the part that --window {} names: {:.3g} s of the program's {:.3g} s. From before "
      "that it has captures of CUDA graphs, and from before and after it allocations of memory, alone.",
      text, nano * static_cast<double>(part.length()), seconds);
}

std::optional<std::string> ignored_profiler_calls(const trace::Trace& trace) {
  std::uint64_t starts = 0;
  std::map<trace::NameIndex, bool> known;
  for (const trace::Call& call : trace.calls) {
    const auto [entry, is_new] = known.try_emplace(call.name, false);
    if (is_new) entry->second = trace.names[call.name] == "cudaProfilerStart";
    starts += entry->second ? 1 : 0;
  }
  if (starts == 0) return std::nullopt;
  return fmt::format(
      "The program calls cudaProfilerStart() {}. mprof did not follow that: --window profiler-api limits the "
      "trace and the counters to what lies between the first of these calls and cudaProfilerStop().",
      starts == 1 ? "once" : fmt::format("{} times", starts));
}

}  // namespace mprof
