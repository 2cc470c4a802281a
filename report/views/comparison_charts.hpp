// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "report/analysis/judgement/compare.hpp"

namespace mprof {

/// What a page says of a comparison's charts, and the charts themselves.
// NOLINTNEXTLINE(bugprone-exception-escape): clang-tidy 14 takes the generated move for one that throws
struct ComparisonCharts {
  /// { forest, throughputs: chart or false; samples: { reading, more, charts: [chart] } or false; filter_json
  /// }
  nlohmann::json view;
  std::vector<nlohmann::json> charts;
};

/// Ratios of all times as a forest plot, throughputs of kernels before and after, and the raw samples of the
/// times that changed. Rows and charts say by `tags` what a reader may filter them by: { verdict, text }.
[[nodiscard]] ComparisonCharts comparison_charts(const Comparison& comparison);

}  // namespace mprof
