// SPDX-License-Identifier: MIT
#include "report/analysis/findings/sanitizer_summary.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "report/analysis/analysis.hpp"
#include "report/analysis/findings/findings.hpp"

namespace mprof {
namespace {

using namespace finding;  // NOLINT(google-build-using-namespace)

bool has_status(const SanitizerResult* result, SanitizerStatus status) {
  return result != nullptr && result->status == status;
}

bool is_for_gpu(const VariantInfo& info) {
  return info.device == "cuda" && !info.is_imported() && !info.is_program();
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
    const Tool& build = result->mprof;
    const bool known = build == summary.own_build || std::ranges::count(summary.other_builds, build) > 0;
    if (!known) summary.other_builds.push_back(build);
  }
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
  std::map<std::string, SanitizerCameToNothing> by_reason;
  for_each_result(families, [&](const FamilyResult&, const SanitizerResult& result) {
    if (result.status == SanitizerStatus::failed || result.status == SanitizerStatus::timeout)
      by_reason[result.reason].results.push_back(&result);
  });
  for (auto& [reason, alike] : by_reason) findings.push_back({Severity::broken, std::move(alike)});
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
  summary.own_build = run.tool;
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
    findings.push_back({wrong ? Severity::wrong : Severity::caution, Sanitized{&family, &result}});
  });
  add_unfinished(families, findings);
}

}  // namespace mprof
