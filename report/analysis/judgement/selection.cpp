// SPDX-License-Identifier: MIT
#include "report/analysis/judgement/selection.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "system/error.hpp"
#include "system/suggest.hpp"

namespace mprof {
namespace {

std::vector<std::string> variant_ids(const Run& run) {
  std::vector<std::string> ids;
  for (const Case& c : run.cases) {
    if (std::ranges::find(ids, c.key.variant) == ids.end()) ids.push_back(c.key.variant);
  }
  return ids;
}

void require_variant(const Run& run, const std::string& id, std::string_view option) {
  const std::vector<std::string> ids = variant_ids(run);
  if (std::ranges::find(ids, id) != ids.end()) return;
  throw Error(ExitCode::usage, fmt::format("--{} {}: the run has no such variant.{} It has {}.", option, id,
                                           did_you_mean(id, ids), fmt::join(ids, ", ")));
}

void compare_all_with(Run& run, const std::string& baseline) {
  for (VariantInfo& info : run.variants) {
    const VariantInfo* chosen = find_variant(run, baseline);
    if (chosen != nullptr && chosen->family != info.family) continue;
    if (info.baseline != baseline) info.expectations.clear();
    info.baseline = info.id == baseline ? "" : baseline;
  }
}

void keep_only(Run& run, const std::vector<std::string>& ids) {
  std::set<std::string> kept(ids.begin(), ids.end());
  for (const std::string& id : ids) {
    const VariantInfo* info = find_variant(run, id);
    if (info != nullptr && !info->baseline.empty()) kept.insert(info->baseline);
  }
  std::erase_if(run.cases, [&](const Case& c) { return !kept.contains(c.key.variant); });
  std::erase_if(run.variants, [&](const VariantInfo& info) { return !kept.contains(info.id); });
  // A baseline that nobody asked for is there to be compared with, not to be compared with what is left out.
  for (VariantInfo& info : run.variants) {
    if (std::ranges::find(ids, info.id) != ids.end()) continue;
    info.baseline.clear();
    info.expectations.clear();
  }
}

}  // namespace

Run selected(const Run& run, const Selection& selection) {
  Run result = run;
  if (!selection.baseline.empty()) {
    require_variant(run, selection.baseline, "baseline");
    compare_all_with(result, selection.baseline);
  }
  for (const std::string& id : selection.only) require_variant(run, id, "only");
  if (!selection.only.empty()) keep_only(result, selection.only);
  return result;
}

}  // namespace mprof
