#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "report/analysis/facts.hpp"
#include "report/text/format.hpp"
#include "report/views/table.hpp"
#include "report/views/views.hpp"

/// The check run: what compute-sanitizer found in each variant.
namespace mprof {
namespace {

using nlohmann::json;

constexpr std::size_t longest_note = 600;  // characters

std::string_view what_it_finds(CheckTool tool) {
  switch (tool) {
    case CheckTool::memcheck:
      return "accesses out of bounds or misaligned, errors of CUDA calls";
    case CheckTool::racecheck:
      return "hazards between threads in shared memory";
    case CheckTool::initcheck:
      return "reads of global memory that was never written";
    case CheckTool::synccheck:
      return "invalid use of barriers";
  }
  return "";
}

/// "memcheck (accesses out of bounds ...), ... and synccheck (invalid use of barriers)"
std::string legend(const std::vector<CheckTool>& tools) {
  std::vector<std::string> parts;
  for (const CheckTool tool : tools)
    parts.push_back(fmt::format("{} ({})", to_string(tool), what_it_finds(tool)));
  return format::list(parts);
}

/// The different values of a field of the results that a tool came to, in order of appearance.
template <class Get>
std::vector<std::string> different(const CheckSummary& check, Get get) {
  std::vector<std::string> values;
  for (const VariantCheck& variant : check.variants) {
    for (const CheckResult* result : variant.results) {
      if (result == nullptr || result->status == CheckStatus::skipped) continue;
      const std::string value = format::short_id(get(*result));
      if (!value.empty() && std::find(values.begin(), values.end(), value) == values.end())
        values.push_back(value);
    }
  }
  return values;
}

/// What was run: the tool, where, when, and at which size.
std::string what_was_run(const CheckSummary& check) {
  const auto versions = different(check, [](const CheckResult& r) { return r.sanitizer; });
  const auto devices = different(check, [](const CheckResult& r) { return r.device; });
  const auto batches = different(check, [](const CheckResult& r) { return std::to_string(r.batch); });
  auto starts = different(check, [](const CheckResult& r) { return r.started; });
  std::sort(starts.begin(), starts.end());
  return fmt::format("compute-sanitizer {} ran each variant at batch{} {} on {} with {}, beginning at {}.",
                     format::list(versions), batches.size() == 1 ? "" : "es", format::list(batches),
                     format::list(devices), legend(check.tools),
                     starts.empty() ? "an unknown time" : moment(starts.front()));
}

/// Kernels that were checked need not be the kernels that were measured.
std::string of_another_build(const CheckSummary& check) {
  if (check.other_builds.empty()) return {};
  return fmt::format(
      "The check was made by mprof {} and the run by {}: where a kernel changed in between, what was checked "
      "is not what was measured.",
      format::list(check.other_builds), format::one_line(check.own_build));
}

std::string noted(std::string_view tool, const std::string& text) {
  return fmt::format("{}: {}", tool, format::elide(format::one_line(text), longest_note));
}

std::string first_of(std::uint32_t number, const std::string& noun, const std::string& report) {
  return fmt::format("{}{}{}", format::plural(number, noun), number == 1 ? ": " : ", the first: ",
                     report.empty() ? "the log does not say which" : report);
}

Cell outcome_cell(const CheckResult* result) {
  if (result == nullptr) return Cell::missing("not checked");
  const std::string_view tool = to_string(result->tool);
  switch (result->status) {
    case CheckStatus::clean:
      if (result->warnings == 0) return Cell::words("clean", Tone::good);
      return Cell::words("clean", Tone::good)
          .noted(noted(tool, first_of(result->warnings, "warning", result->first_report)));
    case CheckStatus::errors:
      return Cell::words(format::plural(result->errors, "error"), Tone::bad)
          .noted(noted(tool, first_of(result->errors, "error", result->first_report)));
    case CheckStatus::failed:
      return Cell::words("failed", Tone::bad).noted(noted(tool, result->reason));
    case CheckStatus::timeout:
      return Cell::words("time limit", Tone::bad).noted(noted(tool, result->reason));
    case CheckStatus::skipped:
      break;
  }
  return Cell::words("skipped", Tone::quiet)
      .noted(format::elide(format::one_line(result->reason), longest_note));
}

/// Whether every variant was skipped for one reason.
bool skipped_throughout(const CheckSummary& check) {
  std::set<std::string> reasons;
  for (const VariantCheck& variant : check.variants) {
    for (const CheckResult* result : variant.results) {
      if (result != nullptr && result->status != CheckStatus::skipped) return false;
      reasons.insert(result == nullptr ? "" : result->reason);
    }
  }
  return reasons.size() == 1;
}

Table check_table(const FamilyResult& family, const std::vector<std::string>& variant_anchors,
                  Anchors& anchors) {
  Table table(anchors.make(family.id + " sanitizer"), "What compute-sanitizer found, by tool");
  table.text("Variant");
  for (const CheckTool tool : family.check.tools) table.text(std::string(to_string(tool)));
  for (std::size_t v = 0; v < family.variants.size(); ++v) {
    std::vector<Cell> cells{Cell::words_to(family.variants[v].info.id, variant_anchors[v])};
    for (const CheckResult* result : family.check.variants[v].results) cells.push_back(outcome_cell(result));
    table.row(std::move(cells));
  }
  return table;
}

}  // namespace

json check_view(const FamilyResult& family, const std::vector<std::string>& variant_anchors,
                Anchors& anchors) {
  const CheckSummary& check = family.check;
  json sentences = json::array();
  json table = false;
  if (check.recorded) {
    if (check.checks + check.unfinished > 0) sentences.push_back(what_was_run(check));
    sentences.push_back(check_sentence(check));
    if (std::string text = of_another_build(check); !text.empty()) sentences.push_back(std::move(text));
    // A table that says the same everywhere says no more than the sentence.
    if (!check.tools.empty() && !skipped_throughout(check))
      table = check_table(family, variant_anchors, anchors).view();
  }
  return {{"sentences", sentences},
          {"table", table},
          {"missing", !check.recorded && check.candidates > 0},
          {"impossible", !check.recorded && check.candidates == 0}};
}

}  // namespace mprof
