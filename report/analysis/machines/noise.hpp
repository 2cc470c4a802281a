// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "report/analysis/analysis.hpp"

/// How far the samples of a time lie from each other, and what the GPU's clock did meanwhile.
namespace mprof {

/// All samples of a time, all rounds together.
struct Spreading {
  std::size_t samples = 0;
  double deviation = 0;     ///< s, their standard deviation
  double coefficient = 0;   ///< the same over their mean
  std::size_t far_out = 0;  ///< beyond Tukey's outer fences of their round; none was dropped
};

/// Of a time of a case, or of one of its ops; nullopt below two samples.
[[nodiscard]] std::optional<Spreading> spreading_of(const CaseResult& result, std::string_view metric,
                                                    std::string_view op);

/// Hz, over all readings before and after the samples of a case.
struct ClockReadings {
  std::size_t readings = 0;
  double median = 0;
  double lowest = 0;
  double highest = 0;
};

/// nullopt with the reason in `absent` where none was read.
[[nodiscard]] std::optional<ClockReadings> sm_clock_of(const CaseResult& result, Why& absent);

}  // namespace mprof
