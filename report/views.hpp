#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "report/analysis.hpp"
#include "report/compare.hpp"
#include "report/evidence.hpp"
#include "report/table.hpp"

/// Views: what a template lays out. Finished strings only; the numbers in "charts" are for charts.js alone.
namespace mprof {

/// Names for places on a page, or files, that differ from each other whatever they are made from.
class Anchors {
 public:
  [[nodiscard]] std::string make(std::string_view text);

 private:
  std::set<std::string> taken_;
};

/// The view of milestone.*.mustache.
[[nodiscard]] nlohmann::json milestone_view(const RunAnalysis& analysis, const Evidence& evidence);

/// The answer first: the best variant for each op and batch.
[[nodiscard]] nlohmann::json answer_view(const FamilyResult& family, Anchors& anchors);

/// Everything about one family, its variants and charts included.
[[nodiscard]] nlohmann::json family_view(const FamilyResult& family, Anchors& anchors);

/// One variant; `anchor` is its place on the page.
[[nodiscard]] nlohmann::json variant_view(const FamilyResult& family, const VariantResult& variant,
                                          const std::string& anchor, Anchors& anchors);

/// What the trace shows: the whole run, and each variant at its largest traced batch.
[[nodiscard]] nlohmann::json evidence_view(const RunAnalysis& analysis, const Evidence& evidence,
                                           Anchors& anchors);

/// What hardware counted of the family's kernels against their baselines', with the table of what is
/// modelled: { absent, uncounted, parts: [{ title, text, charts, tables, ... }] }.
[[nodiscard]] nlohmann::json speed_of_light_view(const FamilyResult& family,
                                                 const std::vector<std::string>& variant_anchors,
                                                 const Table& modelled, Anchors& anchors);

/// "memory 92 % -> balanced 74 / 71 %", with an arrow; the kernel's own alone where nothing was before.
[[nodiscard]] std::string bottleneck_change(const KernelResult& kernel);

/// The charts of a family: { id, kind, file, title, caption, alt, axis, rows, series, op, batch };
/// chart_parts.hpp says what the last two are.
[[nodiscard]] std::vector<nlohmann::json> family_charts(const FamilyResult& family, Anchors& anchors);

/// The view of compare.*.mustache.
[[nodiscard]] nlohmann::json comparison_view(const Comparison& comparison);

/// The comparison as data: the format of `mprof compare --format json`, explained in docs/compare-json.md.
[[nodiscard]] nlohmann::ordered_json comparison_json(const Comparison& comparison);

}  // namespace mprof
