// SPDX-License-Identifier: MIT
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "report/analysis/machines/environment.hpp"
#include "report/text/format.hpp"
#include "report/views/table.hpp"
#include "report/views/views.hpp"
#include "report/wording/sanitizer.hpp"

/// What compute-sanitizer found in each variant.
namespace mprof {
namespace {

using nlohmann::json;

constexpr std::size_t longest_note = 600;  // characters

std::string_view what_it_finds(SanitizerTool tool) {
  switch (tool) {
    case SanitizerTool::memcheck:
      return "accesses out of bounds or misaligned, errors of CUDA calls";
    case SanitizerTool::racecheck:
      return "hazards between threads in shared memory";
    case SanitizerTool::initcheck:
      return "reads of global memory that was never written";
    case SanitizerTool::synccheck:
      return "invalid use of barriers";
  }
  return "";
}

/// "memcheck (accesses out of bounds ...), ... and synccheck (invalid use of barriers)"
std::string legend(const std::vector<SanitizerTool>& tools) {
  std::vector<std::string> parts;
  for (const SanitizerTool tool : tools)
    parts.push_back(fmt::format("{} ({})", to_string(tool), what_it_finds(tool)));
  return format::list(parts);
}

/// The different values of a field of the results that a tool came to, in order of appearance.
template <class Get>
std::vector<std::string> different(const SanitizerSummary& sanitizer, Get get) {
  std::vector<std::string> values;
  for (const SanitizedVariant& variant : sanitizer.variants) {
    for (const SanitizerResult* result : variant.results) {
      if (result == nullptr || result->status == SanitizerStatus::skipped) continue;
      const std::string value = format::short_id(get(*result));
      if (!value.empty() && std::find(values.begin(), values.end(), value) == values.end())
        values.push_back(value);
    }
  }
  return values;
}

/// What was run: the tool, where, when, and at which size.
std::string what_was_run(const Words& words, const SanitizerSummary& sanitizer) {
  const auto versions = different(sanitizer, [](const SanitizerResult& r) { return r.sanitizer; });
  const auto devices = different(sanitizer, [](const SanitizerResult& r) { return r.device; });
  const auto problems =
      different(sanitizer, [&](const SanitizerResult& r) { return words.in_full(r.problem); });
  auto starts = different(sanitizer, [](const SanitizerResult& r) { return r.started; });
  std::sort(starts.begin(), starts.end());
  return fmt::format("compute-sanitizer {} ran each variant at {} on {} with {}, beginning at {}.",
                     format::list(versions), format::list(problems), format::list(devices),
                     legend(sanitizer.tools), starts.empty() ? "an unknown time" : moment(starts.front()));
}

/// Kernels that were sanitized need not be the kernels that were measured.
std::string of_another_build(const SanitizerSummary& sanitizer) {
  if (sanitizer.other_builds.empty()) return {};
  std::vector<std::string> others;
  for (const Tool& build : sanitizer.other_builds) others.push_back(build_name(build));
  return fmt::format(
      "It was started by mprof {}, and the run by {}: where a kernel changed in between, what was sanitized "
      "is not what was measured.",
      format::list(others), build_name(sanitizer.own_build));
}

std::string noted(std::string_view tool, const std::string& text) {
  return fmt::format("{}: {}", tool, format::elide(format::one_line(text), longest_note));
}

std::string first_of(std::uint32_t number, const std::string& noun, const std::string& report) {
  return fmt::format("{}{}{}", format::plural(number, noun), number == 1 ? ": " : ", the first: ",
                     report.empty() ? "the log does not say which" : report);
}

Cell outcome_cell(const SanitizerResult* result) {
  if (result == nullptr) return Cell::missing("not run");
  const std::string_view tool = to_string(result->tool);
  switch (result->status) {
    case SanitizerStatus::clean:
      if (result->warnings == 0) return Cell::words("clean", Tone::good);
      return Cell::words("clean", Tone::good)
          .noted(noted(tool, first_of(result->warnings, "warning", result->first_report)));
    case SanitizerStatus::errors:
      return Cell::words(format::plural(result->errors, "error"), Tone::bad)
          .noted(noted(tool, first_of(result->errors, "error", result->first_report)));
    case SanitizerStatus::failed:
      return Cell::words("failed", Tone::bad).noted(noted(tool, result->reason));
    case SanitizerStatus::timeout:
      return Cell::words("time limit", Tone::bad).noted(noted(tool, result->reason));
    case SanitizerStatus::skipped:
      break;
  }
  return Cell::words("skipped", Tone::quiet)
      .noted(format::elide(format::one_line(result->reason), longest_note));
}

/// Whether every variant was skipped for one reason.
bool skipped_throughout(const SanitizerSummary& sanitizer) {
  std::set<std::string> reasons;
  for (const SanitizedVariant& variant : sanitizer.variants) {
    for (const SanitizerResult* result : variant.results) {
      if (result != nullptr && result->status != SanitizerStatus::skipped) return false;
      reasons.insert(result == nullptr ? "" : result->reason);
    }
  }
  return reasons.size() == 1;
}

Table outcome_table(const FamilyResult& family, const std::vector<std::string>& variant_anchors,
                    Anchors& anchors) {
  Table table(anchors.make(family.id + " sanitizer"), "What compute-sanitizer found, by tool");
  table.variants();
  for (const SanitizerTool tool : family.sanitizer.tools) table.text(std::string(to_string(tool)));
  for (std::size_t v = 0; v < family.variants.size(); ++v) {
    std::vector<Cell> cells{Cell::words_to(family.variants[v].info.id, variant_anchors[v])};
    for (const SanitizerResult* result : family.sanitizer.variants[v].results)
      cells.push_back(outcome_cell(result));
    table.row(std::move(cells));
  }
  return table;
}

}  // namespace

json sanitizer_view(const FamilyResult& family, const std::vector<std::string>& variant_anchors,
                    Anchors& anchors) {
  const SanitizerSummary& sanitizer = family.sanitizer;
  json sentences = json::array();
  json table = false;
  const bool imported = family.all_are(&VariantInfo::is_imported);
  if (!sanitizer.recorded && imported)
    sentences.push_back(
        "Nothing was run under compute-sanitizer: mprof has files of these programs, and not the programs.");
  const bool programs = family.all_are(&VariantInfo::is_program);
  if (!sanitizer.recorded && programs)
    sentences.push_back(
        "Nothing was run under compute-sanitizer: mprof sanitize is for variants. Of a program, "
        "compute-sanitizer "
        "itself tells: `compute-sanitizer PROGRAM`.");
  if (sanitizer.recorded) {
    if (sanitizer.finished + sanitizer.unfinished > 0)
      sentences.push_back(what_was_run(family.words, sanitizer));
    sentences.push_back(sanitizer_sentence(sanitizer));
    if (std::string text = of_another_build(sanitizer); !text.empty()) sentences.push_back(std::move(text));
    // A table that says the same everywhere says no more than the sentence.
    if (!sanitizer.tools.empty() && !skipped_throughout(sanitizer))
      table = outcome_table(family, variant_anchors, anchors).view();
  }
  return {{"sentences", sentences},
          {"table", table},
          {"missing", !sanitizer.recorded && sanitizer.candidates > 0},
          {"impossible", !sanitizer.recorded && sanitizer.candidates == 0 && !imported && !programs}};
}

}  // namespace mprof
