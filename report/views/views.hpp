// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "report/analysis/analysis.hpp"
#include "report/analysis/judgement/compare.hpp"
#include "report/analysis/machines/fleet.hpp"
#include "report/analysis/machines/history.hpp"
#include "report/analysis/reasons/explanations.hpp"
#include "report/analysis/standing/brief.hpp"
#include "report/views/page_plan.hpp"
#include "report/views/table.hpp"

/// Views: what a template lays out. Finished strings only; the numbers in "charts" are for charts.js alone.
namespace mprof {

/// What a user may say of a report.
struct ReportText {
  std::string title{};   ///< empty: made from the run
  std::string author{};  ///< empty: none is named
};

/// A page, and what to draw on it.
struct Page {
  nlohmann::json view;
  std::vector<PlannedChart> charts;
  std::map<std::string, std::string> files{};  ///< of the Markdown, by name: what is there as it is
};

/// The view of milestone.*.mustache; docs/formats/view.md explains it.
[[nodiscard]] Page milestone_page(const RunAnalysis& analysis, const Materials& materials,
                                  const ReportText& text = {});

/// The answer first: the best variant for each op and problem.
[[nodiscard]] nlohmann::json answer_view(const FamilyResult& family, const Brief& brief, Anchors& anchors);

/// The brief of a family: { at, best, outlook, right, details: [{ lead, text }], notes: [text], table,
/// chart or false, lines: [{ id, anchor, text, cause }] }; false where nothing was measured.
[[nodiscard]] nlohmann::json brief_view(const FamilyResult& family, const Brief& brief,
                                        const PageContext& page);

/// What the owner of a program asks first: { cards, lines: [{ lead, text }], table, and the parts of
/// program_parts.hpp }; false for a family that is not one program with a trace.
[[nodiscard]] nlohmann::json program_view(const FamilyResult& family, const PageContext& page);

/// Several imports, side by side: { table, has_changes, changes: [{ lead, text }] of the others against the
/// first one, screens: [{ name, figure, and what program_view() says }], more }; false for any other family,
/// and without a trace.
[[nodiscard]] nlohmann::json programs_view(const FamilyResult& family, const PageContext& page);

/// What is said of a program of a suite beside its times: { at, lines: [{ lead, text }] } of its largest
/// problem that was traced; false for what is no program of a suite.
[[nodiscard]] nlohmann::json as_program_view(const FamilyResult& family, const VariantResult& variant,
                                             const PageContext& page);

/// Programs of a comparison that were traced on both sides, a step beside a step: [{ name, rest, tables,
/// lines: [{ lead, text }] }]. `all`: also what hardly differs.
[[nodiscard]] nlohmann::json program_changes_view(const Comparison& comparison, bool all);
[[nodiscard]] nlohmann::ordered_json program_change_json(const ProgramChange& change);

/// Everything about one family, its variants and charts included; of one that is shown as a program without
/// what is of variants alone.
[[nodiscard]] nlohmann::json family_view(const FamilyResult& family, PageContext page, bool is_program);

/// What compute-sanitizer found in the family's variants: { sentences, table, missing, impossible }.
[[nodiscard]] nlohmann::json sanitizer_view(const FamilyResult& family,
                                            const std::vector<std::string>& variant_anchors,
                                            Anchors& anchors);

/// One variant.
[[nodiscard]] nlohmann::json variant_view(const FamilyResult& family, const VariantResult& variant,
                                          const PageContext& page);

/// A user's note in both forms, its highest headings at this level: { html, markdown }; false when it is
/// empty.
[[nodiscard]] nlohmann::json note_text(const Note& note, const PageContext& page, int heading_level);

/// The notes that belong to the page as a whole: { introduction, conclusion: text or false, others: [{
/// anchor, title, text }] }.
[[nodiscard]] nlohmann::json notes_view(const RunAnalysis& analysis, const PageContext& page);

/// Why a variant is faster or slower than its baseline, by rules: { anchor, shown, baseline, absent, items:
/// [{ op, at, verdict, times, silence, lists: [{ head, reasons: [{ text, kernel, rule }], more }], missing
/// }], lines: [text] }. `lines` are the items at the largest problem with their strongest reasons. `shown` is
/// false for a baseline.
[[nodiscard]] nlohmann::json explanation_view(const FamilyResult& family, const VariantResult& variant,
                                              Anchors& anchors);

/// One of these items.
[[nodiscard]] nlohmann::json explained_view(const Words& words, const Explanation& explanation);

/// What the trace shows: the whole run, and each variant at its largest traced problem.
[[nodiscard]] nlohmann::json evidence_view(const RunAnalysis& analysis, const Evidence& evidence,
                                           Anchors& anchors);

/// Copies and kernels by stream: { absent, sentences: [{lead, text}], charts: [one for each default pair],
/// live: the chart whose cases the reader chooses, choices: [{index, text, shown, against}], table }.
[[nodiscard]] nlohmann::json timeline_view(const RunAnalysis& analysis, const Evidence& evidence,
                                           PagePlan& plan);

/// What hardware counted of the family's kernels against their baselines', with the table of what is
/// modelled: { absent, uncounted, parts: [{ title, text, charts, tables, ... }] }.
[[nodiscard]] nlohmann::json speed_of_light_view(const FamilyResult& family,
                                                 const std::vector<std::string>& variant_anchors,
                                                 const Table& modelled, PagePlan& plan);

/// "memory 92 % -> balanced 74 / 71 %", with an arrow; the kernel's own alone where nothing was before.
[[nodiscard]] std::string bottleneck_change(const KernelResult& kernel);

/// The parameter sweeps of the family's variants: { anchor, variants: [{ anchor, title, axes, sentences,
/// troubles, charts, tables, ... }] }; false when nothing was swept.
[[nodiscard]] nlohmann::json sweep_view(const FamilyResult& family, PagePlan& plan);

/// Places the charts of a family and returns what the page says of them.
[[nodiscard]] nlohmann::json family_charts(const FamilyResult& family, PagePlan& plan);

/// What a table calls a pair of cases: one name where both runs have one.
[[nodiscard]] std::string compared_name(const CaseComparison& c);

/// How much of a comparison a reader is shown; what is left out is counted.
struct ComparisonScope {
  Importance least = Importance::inconclusive;                       ///< of the cases in tables
  std::size_t most_cases = std::numeric_limits<std::size_t>::max();  ///< in tables and lists
  std::size_t most_told = 10;                                        ///< cases whose reasons are shown
};

/// The view of compare.*.mustache and compare_summary.md.mustache.
[[nodiscard]] nlohmann::json comparison_view(const Comparison& comparison, const ComparisonScope& scope);

/// The comparison as JUnit XML, for what shows test results: a suite is a variant of A, a test one of its
/// cases, failed with what fails the comparison, skipped where nothing can be said.
[[nodiscard]] std::string comparison_junit(const Comparison& comparison);

/// What changed with the times: [{ name, ops: [{ op, items (as of explanation_view()), figures, kernels:
/// [text]
/// }] }] of the first `most` changed cases, the most important first.
[[nodiscard]] nlohmann::json changes_view(const Comparison& comparison, std::size_t most);

/// One of these as monospaced text, at most `width` columns wide (0: as wide as it is).
[[nodiscard]] std::string change_text(const nlohmann::json& change, std::size_t width);

/// The comparison as data: the format of `mprof compare --format json`, explained in
/// docs/formats/compare-json.md.
[[nodiscard]] nlohmann::ordered_json comparison_json(const Comparison& comparison);

/// The view of history.*.mustache, with its charts. `all`: also the series that did not change.
[[nodiscard]] Page history_page(const History& history, bool all);

/// The history as data: the format of `mprof history --format json`, explained in
/// docs/formats/history-json.md.
[[nodiscard]] nlohmann::ordered_json history_json(const History& history);

/// The view of fleet.html.mustache, with a heat map of each model.
[[nodiscard]] Page fleet_page(const Fleet& fleet);

/// The fleet as data: the format of `mprof fleet --json`, explained in docs/formats/fleet-json.md.
[[nodiscard]] nlohmann::ordered_json fleet_json(const Fleet& fleet);

}  // namespace mprof
