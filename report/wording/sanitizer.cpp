// SPDX-License-Identifier: MIT
#include "report/wording/sanitizer.hpp"

#include <vector>

#include <fmt/format.h>

#include "report/analysis/analysis.hpp"
#include "report/text/format.hpp"

namespace mprof {
namespace {

constexpr std::size_t longest_report = 600;  // characters; mprof itself writes fewer

std::string one_sentence(const std::string& text) {
  std::string line = format::elide(format::one_line(text), longest_report);
  if (!line.empty() && line.back() != '.') line += '.';
  return line;
}

/// "over 18 variants", or "over 3 of 18 variants" when some were left out.
std::string over_variants(const SanitizerSummary& summary) {
  const std::string all = format::plural(summary.candidates, "variant");
  return summary.sanitized_variants == summary.candidates
             ? "over " + all
             : fmt::format("over {} of {}", summary.sanitized_variants, all);
}

/// "4 tools over 18 variants"; where a tool is missing for some of them, what each did is counted instead.
std::string extent(const SanitizerSummary& summary) {
  const std::size_t tools = summary.tools.size();
  const bool whole = summary.finished == tools * summary.sanitized_variants;
  return fmt::format("{} {}", format::plural(whole ? tools : summary.finished, whole ? "tool" : "tool run"),
                     over_variants(summary));
}

/// Why nothing was sanitized: the first reason in the record.
std::string first_reason(const SanitizerSummary& summary) {
  for (const SanitizedVariant& variant : summary.variants) {
    for (const SanitizerResult* result : variant.results) {
      if (result != nullptr && !result->reason.empty()) return result->reason;
    }
  }
  return "it gives no reason";
}

}  // namespace

std::string build_name(const Tool& tool) {
  return format::short_id(fmt::format("{} ({})", tool.version, tool.revision));
}

std::string text_of(const finding::Sanitized& sanitized) {
  const SanitizerResult& result = *sanitized.result;
  const bool wrong = result.status == SanitizerStatus::errors;
  const auto number = wrong ? result.errors : result.warnings;
  const bool one = number == 1;
  const std::string first =
      result.first_report.empty()
          ? "."
          : fmt::format("{} {}", one ? ":" : "; the first:", one_sentence(result.first_report));
  return fmt::format("compute-sanitizer ({}) {} {} {}{} in {} at {}{}", to_string(result.tool),
                     wrong ? "found" : "gave", format::count(number), wrong ? "error" : "warning",
                     one ? "" : "s", format::short_id(result.variant),
                     sanitized.family->words.in_full(result.problem), first);
}

std::string text_of(const finding::SanitizerCameToNothing& nothing) {
  const SanitizerResult& first = *nothing.results.front();
  const std::size_t others = nothing.results.size() - 1;
  return fmt::format(
      "The {} of {}{} came to nothing: {}", to_string(first.tool), format::short_id(first.variant),
      others > 0 ? " and " + format::plural(others, "other tool run") : "", one_sentence(first.reason));
}

std::string sanitizer_sentence(const SanitizerSummary& summary) {
  if (!summary.recorded) return {};
  if (summary.tools.empty()) return "What is recorded of compute-sanitizer has none of these variants.";
  if (summary.finished == 0) {
    return "No variant was run under compute-sanitizer: " + one_sentence(first_reason(summary));
  }
  std::string found = "no error";
  if (!summary.wrong_variants.empty()) {
    std::vector<std::string> names;
    for (const std::string& id : summary.wrong_variants) names.push_back(format::short_id(id));
    found = "errors in " + format::list(names);
  }
  const std::string rest =
      summary.unfinished == 0
          ? ""
          : fmt::format(" {} came to nothing.",
                        format::sentence_case(format::plural(summary.unfinished, "tool run")));
  return fmt::format("compute-sanitizer found {}: {}.{}", found, extent(summary), rest);
}

}  // namespace mprof
