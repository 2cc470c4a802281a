// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/statistics/median.hpp"
#include "model/trace/trace.hpp"

/// What a program does over and over: the steps of a training, the requests of a server, the time steps of a
/// solver.
namespace mprof {

struct ProgramStep {
  trace::Interval host{};  ///< from its beginning on the host to the beginning of the next one
  std::int64_t done = 0;   ///< when the GPU was done with what it launched, or else the host was
  std::int64_t pace =
      0;  ///< ns, from the end of the step before to its own; of the first one from its beginning
  std::uint64_t launches = 0;  ///< of kernels, graphs, copies and memsets
};

/// How the steps were found.
enum class StepMark : std::uint8_t {
  ranges,    ///< by NVTX ranges that repeat
  launches,  ///< by kernels that repeat
};

struct Steps {
  StepMark mark = StepMark::ranges;
  /// The names of the ranges that make a step, in order; of the kernel with which a step begins.
  std::vector<std::string> names;
  std::vector<ProgramStep> all;
  std::size_t steady = 0;   ///< the first one that is not part of warming up
  bool has_ranges = false;  ///< the program has NVTX ranges, whether they make the steps or not

  [[nodiscard]] std::size_t steady_steps() const { return all.size() - steady; }
  /// From the end of warming up to the end of the last step.
  [[nodiscard]] trace::Interval steady_time() const;
  /// The steady step in which a moment lies, by its place among these; nullopt: none.
  [[nodiscard]] std::optional<std::size_t> place_in_steady(std::int64_t moment) const;
  /// ns, of the steady steps.
  [[nodiscard]] double median_pace() const;
  /// Steps a second, over the steady time: slow ones count as long as they took.
  [[nodiscard]] double rate() const;
  /// Of the median; nullopt for fewer than six steady steps.
  [[nodiscard]] std::optional<Interval> pace_interval() const;
  /// ns, of the host's part of the fastest step that launched as much as usual: what launching takes where
  /// nothing holds it up.
  [[nodiscard]] std::int64_t fastest_host() const;
  /// The steady ones whose pace is well above the median, the slowest first.
  [[nodiscard]] std::vector<std::size_t> slow() const;
};

/// Of one case of a trace; nullopt where nothing repeats often enough.
[[nodiscard]] std::optional<Steps> steps_of(const trace::Trace& trace, trace::CaseIndex index);

}  // namespace mprof
