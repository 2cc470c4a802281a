#include "report/analysis/sanitizer_summary.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "report/analysis/analysis.hpp"
#include "report/text/format.hpp"

namespace mprof {
namespace {

constexpr std::size_t longest_report = 600;  // characters; mprof itself writes fewer

bool has_status(const SanitizerResult* result, SanitizerStatus status) {
  return result != nullptr && result->status == status;
}

std::string one_sentence(const std::string& text) {
  std::string line = format::elide(format::one_line(text), longest_report);
  if (!line.empty() && line.back() != '.') line += '.';
  return line;
}

bool is_for_gpu(const VariantInfo& info) {
  return info.device == "cuda" && !info.is_imported() && !info.is_program();
}

std::string build_name(const Tool& tool) {
  return format::short_id(fmt::format("{} ({})", tool.version, tool.revision));
}

void count(const SanitizedVariant& variant, const std::string& id, SanitizerSummary& summary) {
  if (variant.sanitized()) ++summary.sanitized_variants;
  if (variant.wrong()) summary.wrong_variants.push_back(id);
  for (const SanitizerResult* result : variant.results) {
    if (result == nullptr || result->status == SanitizerStatus::skipped) continue;
    if (is_conclusive(*result)) {
      ++summary.finished;
    } else {
      ++summary.unfinished;
    }
    const std::string build = build_name(result->mprof);
    const bool known = build == summary.own_build || std::ranges::count(summary.other_builds, build) > 0;
    if (!known) summary.other_builds.push_back(build);
  }
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

template <class Visit>
void for_each_result(const std::vector<FamilyResult>& families, Visit visit) {
  for (const FamilyResult& family : families) {
    for (const SanitizedVariant& variant : family.sanitizer.variants) {
      for (const SanitizerResult* result : variant.results) {
        if (result != nullptr) visit(family, *result);
      }
    }
  }
}

/// Many tool runs that came to nothing for the same reason are one finding.
void add_unfinished(const std::vector<FamilyResult>& families, std::vector<Finding>& findings) {
  std::map<std::string, std::vector<std::string>> by_reason;
  for_each_result(families, [&](const FamilyResult&, const SanitizerResult& result) {
    if (result.status != SanitizerStatus::failed && result.status != SanitizerStatus::timeout) return;
    by_reason[result.reason].push_back(
        fmt::format("{} of {}", to_string(result.tool), format::short_id(result.variant)));
  });
  for (const auto& [reason, tool_runs] : by_reason) {
    const std::string others =
        tool_runs.size() > 1 ? " and " + format::plural(tool_runs.size() - 1, "other tool run") : "";
    findings.push_back({Severity::broken, fmt::format("The {}{} came to nothing: {}", tool_runs.front(),
                                                      others, one_sentence(reason))});
  }
}

}  // namespace

bool SanitizedVariant::sanitized() const {
  return std::any_of(results.begin(), results.end(), [](const SanitizerResult* result) {
    return result != nullptr && is_conclusive(*result);
  });
}

bool SanitizedVariant::wrong() const {
  return std::any_of(results.begin(), results.end(), [](const SanitizerResult* result) {
    return has_status(result, SanitizerStatus::errors);
  });
}

SanitizerSummary summarize_sanitizer(const SanitizerRecord* record, const FamilyResult& family,
                                     const Run& run) {
  SanitizerSummary summary;
  summary.own_build = build_name(run.tool);
  summary.recorded = record != nullptr;
  if (record == nullptr) {
    for (const VariantResult& variant : family.variants) summary.candidates += is_for_gpu(variant.info);
    return summary;
  }
  for (const SanitizerTool tool : sanitizer_tools()) {
    const bool used = std::any_of(
        family.variants.begin(), family.variants.end(),
        [&](const VariantResult& variant) { return find_result(*record, variant.info.id, tool) != nullptr; });
    if (used) summary.tools.push_back(tool);
  }
  for (const VariantResult& variant : family.variants) {
    SanitizedVariant& row = summary.variants.emplace_back();
    for (const SanitizerTool tool : summary.tools)
      row.results.push_back(find_result(*record, variant.info.id, tool));
    count(row, variant.info.id, summary);
    summary.candidates += is_for_gpu(variant.info) || row.sanitized();
  }
  return summary;
}

void add_sanitizer_findings(const std::vector<FamilyResult>& families, std::vector<Finding>& findings) {
  for_each_result(families, [&](const FamilyResult& family, const SanitizerResult& result) {
    const bool wrong = result.status == SanitizerStatus::errors;
    if (!wrong && (result.status != SanitizerStatus::clean || result.warnings == 0)) return;
    const std::string number = wrong ? format::count(result.errors) : format::count(result.warnings);
    const bool one = (wrong ? result.errors : result.warnings) == 1;
    const std::string first =
        result.first_report.empty()
            ? "."
            : fmt::format("{} {}", one ? ":" : "; the first:", one_sentence(result.first_report));
    findings.push_back(
        {wrong ? Severity::wrong : Severity::caution,
         fmt::format("compute-sanitizer ({}) {} {} {}{} in {} at {}{}", to_string(result.tool),
                     wrong ? "found" : "gave", number, wrong ? "error" : "warning", one ? "" : "s",
                     format::short_id(result.variant), family.words.in_full(result.problem), first)});
  });
  add_unfinished(families, findings);
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
