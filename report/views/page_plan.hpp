// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "report/analysis/advice/advice.hpp"
#include "report/materials/materials.hpp"

/// What a page turns out to hold while its views are built: its anchors, and the charts to draw.
namespace mprof {

/// Names for places on a page, or files, that differ from each other whatever they are made from.
class Anchors {
 public:
  [[nodiscard]] std::string make(std::string_view text);

 private:
  std::set<std::string> taken_;
};

/// Where a chart is drawn: files beside Markdown cannot be changed by their reader, a page can.
enum class DrawnOn { both, paper, screen };

struct PlannedChart {
  nlohmann::json chart;  ///< all that charts.js needs
  DrawnOn drawn_on = DrawnOn::both;
};

class PagePlan {
 public:
  Anchors anchors{};

  /// Keeps a chart for whoever draws it. Returns what a template says of it: { id, file, title, caption, alt
  /// }.
  [[nodiscard]] nlohmann::json place(nlohmann::json chart, DrawnOn drawn_on = DrawnOn::both);
  /// Keeps a file that the Markdown links. Returns its name below the report.
  [[nodiscard]] std::string keep(std::string_view name, std::string contents);
  [[nodiscard]] const std::map<std::string, std::string>& files() const { return files_; }
  /// In the order in which they were placed.
  [[nodiscard]] const std::vector<PlannedChart>& charts() const { return charts_; }
  [[nodiscard]] std::vector<PlannedChart> take_charts() { return std::move(charts_); }

 private:
  std::vector<PlannedChart> charts_;
  std::map<std::string, std::string> files_;  ///< contents by name
};

/// What the views of one page share.
struct PageContext {
  const Materials* materials = nullptr;
  std::map<std::string, std::string, std::less<>> variants{};  ///< the place of each variant's section, by id
  PagePlan* plan = nullptr;
  const RunAdvice* advice = nullptr;  ///< nullptr: none is shown

  [[nodiscard]] std::string anchor(std::string_view text) const { return plan->anchors.make(text); }
};

}  // namespace mprof
