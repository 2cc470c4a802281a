// SPDX-License-Identifier: MIT
#pragma once

#include "report/views/page_plan.hpp"

namespace mprof::samples {

/// The chart of a plan by its anchor; an empty object for an unknown anchor.
inline nlohmann::json planned(const PagePlan& plan, const nlohmann::json& id) {
  for (const PlannedChart& one : plan.charts()) {
    if (one.chart["id"] == id) return one.chart;
  }
  return nlohmann::json::object();
}

/// A view whose charts are whole again, as whoever draws them sees them.
inline nlohmann::json with_charts(nlohmann::json view, const PagePlan& plan) {
  if (view.contains("charts")) {
    for (nlohmann::json& chart : view["charts"]) chart = planned(plan, chart["id"]);
  }
  if (view.contains("live")) view["live"] = planned(plan, view["live"]["id"]);
  return view;
}

}  // namespace mprof::samples
