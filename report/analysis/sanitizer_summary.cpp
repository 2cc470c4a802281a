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

bool has_status(const CheckResult* result, CheckStatus status) {
  return result != nullptr && result->status == status;
}

std::string one_sentence(const std::string& text) {
  std::string line = format::elide(format::one_line(text), longest_report);
  if (!line.empty() && line.back() != '.') line += '.';
  return line;
}

bool is_for_gpu(const VariantInfo& info) {
  return info.device == "cuda";
}

std::string build_name(const Tool& tool) {
  return format::short_id(fmt::format("{} ({})", tool.version, tool.revision));
}

void count(const VariantCheck& variant, const std::string& id, CheckSummary& summary) {
  if (variant.checked()) ++summary.checked_variants;
  if (variant.wrong()) summary.wrong_variants.push_back(id);
  for (const CheckResult* result : variant.results) {
    if (result == nullptr || result->status == CheckStatus::skipped) continue;
    if (is_checked(*result)) {
      ++summary.checks;
    } else {
      ++summary.unfinished;
    }
    const std::string build = build_name(result->mprof);
    const bool known = build == summary.own_build || std::ranges::count(summary.other_builds, build) > 0;
    if (!known) summary.other_builds.push_back(build);
  }
}

/// "over 18 variants", or "over 3 of 18 variants" when the check left some out.
std::string over_variants(const CheckSummary& summary) {
  const std::string all = format::plural(summary.candidates, "variant");
  return summary.checked_variants == summary.candidates
             ? "over " + all
             : fmt::format("over {} of {}", summary.checked_variants, all);
}

/// "4 tools over 18 variants"; where a tool is missing for some of them, the checks are counted instead.
std::string extent(const CheckSummary& summary) {
  const std::size_t tools = summary.tools.size();
  const bool whole = summary.checks == tools * summary.checked_variants;
  return fmt::format("{} {}", format::plural(whole ? tools : summary.checks, whole ? "tool" : "check"),
                     over_variants(summary));
}

/// Why nothing was checked: the first reason in the record.
std::string first_reason(const CheckSummary& summary) {
  for (const VariantCheck& variant : summary.variants) {
    for (const CheckResult* result : variant.results) {
      if (result != nullptr && !result->reason.empty()) return result->reason;
    }
  }
  return "it gives no reason";
}

template <class Visit>
void for_each_result(const std::vector<FamilyResult>& families, Visit visit) {
  for (const FamilyResult& family : families) {
    for (const VariantCheck& variant : family.check.variants) {
      for (const CheckResult* result : variant.results) {
        if (result != nullptr) visit(*result);
      }
    }
  }
}

/// Many checks that came to nothing for the same reason are one finding.
void add_unfinished(const std::vector<FamilyResult>& families, std::vector<Finding>& findings) {
  std::map<std::string, std::vector<std::string>> by_reason;
  for_each_result(families, [&](const CheckResult& result) {
    if (result.status != CheckStatus::failed && result.status != CheckStatus::timeout) return;
    by_reason[result.reason].push_back(
        fmt::format("{} of {}", to_string(result.tool), format::short_id(result.variant)));
  });
  for (const auto& [reason, checks] : by_reason) {
    const std::string others =
        checks.size() > 1 ? " and " + format::plural(checks.size() - 1, "other check") : "";
    findings.push_back({Severity::broken, fmt::format("The {}{} came to nothing: {}", checks.front(), others,
                                                      one_sentence(reason))});
  }
}

}  // namespace

bool VariantCheck::checked() const {
  return std::any_of(results.begin(), results.end(),
                     [](const CheckResult* result) { return result != nullptr && is_checked(*result); });
}

bool VariantCheck::wrong() const {
  return std::any_of(results.begin(), results.end(),
                     [](const CheckResult* result) { return has_status(result, CheckStatus::errors); });
}

CheckSummary summarize_check(const Check* check, const FamilyResult& family, const Run& run) {
  CheckSummary summary;
  summary.own_build = build_name(run.tool);
  summary.recorded = check != nullptr;
  if (check == nullptr) {
    for (const VariantResult& variant : family.variants) summary.candidates += is_for_gpu(variant.info);
    return summary;
  }
  for (const CheckTool tool : check_tools()) {
    const bool used = std::any_of(
        family.variants.begin(), family.variants.end(),
        [&](const VariantResult& variant) { return find_result(*check, variant.info.id, tool) != nullptr; });
    if (used) summary.tools.push_back(tool);
  }
  for (const VariantResult& variant : family.variants) {
    VariantCheck& row = summary.variants.emplace_back();
    for (const CheckTool tool : summary.tools)
      row.results.push_back(find_result(*check, variant.info.id, tool));
    count(row, variant.info.id, summary);
    summary.candidates += is_for_gpu(variant.info) || row.checked();
  }
  return summary;
}

void add_check_findings(const std::vector<FamilyResult>& families, std::vector<Finding>& findings) {
  for_each_result(families, [&](const CheckResult& result) {
    const bool wrong = result.status == CheckStatus::errors;
    if (!wrong && (result.status != CheckStatus::clean || result.warnings == 0)) return;
    const std::string number = wrong ? format::count(result.errors) : format::count(result.warnings);
    const bool one = (wrong ? result.errors : result.warnings) == 1;
    const std::string first =
        result.first_report.empty()
            ? "."
            : fmt::format("{} {}", one ? ":" : "; the first:", one_sentence(result.first_report));
    findings.push_back(
        {wrong ? Severity::wrong : Severity::caution,
         fmt::format("compute-sanitizer ({}) {} {} {}{} in {} at batch {}{}", to_string(result.tool),
                     wrong ? "found" : "gave", number, wrong ? "error" : "warning", one ? "" : "s",
                     format::short_id(result.variant), result.batch, first)});
  });
  add_unfinished(families, findings);
}

std::string check_sentence(const CheckSummary& summary) {
  if (!summary.recorded) return {};
  if (summary.tools.empty()) return "The check run that is recorded has none of these variants.";
  if (summary.checks == 0) {
    return "No variant was checked by compute-sanitizer: " + one_sentence(first_reason(summary));
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
                        format::sentence_case(format::plural(summary.unfinished, "check")));
  return fmt::format("compute-sanitizer found {}: {}.{}", found, extent(summary), rest);
}

}  // namespace mprof
