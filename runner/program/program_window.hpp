// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "model/trace/trace.hpp"
#include "model/trace/window.hpp"

/// The part of a program that --window asks for: what is needed to find it, and what is said of it.
namespace mprof {

/// The steps that the timing pass found by NVTX ranges.
struct FoundSteps {
  std::string range{};  ///< that begins each, without numbers; empty: none was found
  std::uint64_t count = 0;
  std::uint64_t ranges = 0;  ///< of that name, in the process that has the most of them
};
/// Of each case that was timed, by its id.
using StepsOfCases = std::map<std::string, FoundSteps>;

/// Of --window. Throws Error(usage), with what is right, for anything else.
[[nodiscard]] trace::Window require_window(std::string_view text);

/// Why steps cannot be found in the other passes, a sentence without its full stop; nullopt: they can.
[[nodiscard]] std::optional<std::string> why_no_steps(const std::string& text, const FoundSteps& steps);

/// Why nothing was traced, with what the program has instead. The trace has its ranges.
[[nodiscard]] std::string why_never_opened(const std::string& text, const trace::Window& window,
                                           const FoundSteps& steps, const trace::Trace& trace,
                                           double seconds);

/// What the trace covers, and what not.
[[nodiscard]] std::string window_note(const std::string& text, const trace::Interval& part, double seconds);

/// That the program says by cudaProfilerStart() which part of it counts, and mprof did not follow; nullopt
/// where it says nothing.
[[nodiscard]] std::optional<std::string> ignored_profiler_calls(const trace::Trace& trace);

}  // namespace mprof
