// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "report/page/render.hpp"

struct duk_hthread;

namespace mprof {

/// The scripts that define the charts, in the order in which they load: charts.js, then the scripts that add
/// kinds.
inline constexpr std::array chart_scripts{"charts.js",        "chart_roofline.js", "chart_timeline.js",
                                          "chart_sweeps.js",  "chart_samples.js",  "chart_comparison.js",
                                          "chart_history.js", "chart_fleet.js",    "chart_ranks.js",
                                          "chart_memory.js",  "chart_flame.js"};

/// What makes a page one file that needs nothing else. These are the style, ECharts and the charts'
/// definitions, `charts` to draw, and the scripts by name. "tables" is tables.js, and {{{tables_js}}} in the
/// template.
void add_page_parts(nlohmann::json& view, const Templates& templates, const nlohmann::json& charts,
                    std::initializer_list<std::string_view> scripts);

/// Draws chart views as static SVG: the scripts that also draw them live in the HTML, run by an embedded
/// JavaScript engine. Loading ECharts takes about half a second, so make one and keep it.
class ChartRenderer {
 public:
  /// Throws Error(usage) when one of the scripts does not load.
  explicit ChartRenderer(const Templates& templates);

  /// Throws Error(usage) with the JavaScript error when a script fails.
  [[nodiscard]] std::string svg(const nlohmann::json& chart) const;

 private:
  std::shared_ptr<duk_hthread> heap_;
};

/// Text as JavaScript strings hold it (surrogate pairs written as two 3-byte sequences) made UTF-8.
[[nodiscard]] std::string join_surrogates(std::string_view text);

}  // namespace mprof
