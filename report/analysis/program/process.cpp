// SPDX-License-Identifier: MIT
#include "report/analysis/program/process.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "model/statistics/median.hpp"
#include "report/analysis/program/picture.hpp"

namespace mprof {
namespace {

std::optional<double> known_value(const CaseResult& result, std::string_view metric) {
  const Value value = value_of(*result.source, metric);
  return value ? std::optional(value->median) : std::nullopt;
}

std::vector<SystemCalls> system_calls_of(const trace::Trace& trace, trace::CaseIndex index) {
  std::map<trace::NameIndex, SystemCalls> calls;
  for (const trace::Call& call : trace::of_case(trace.system_calls, index)) {
    SystemCalls& one = calls[call.name];
    ++one.count;
    one.time += call.time.length();
  }
  std::vector<SystemCalls> sorted;
  for (auto& [name, one] : calls) {
    one.name = trace.names[name];
    sorted.push_back(std::move(one));
  }
  std::ranges::stable_sort(sorted, std::ranges::greater{}, &SystemCalls::time);
  return sorted;
}

/// Why the trace does not say what the program did on a GPU. Empty where it says so, or has nothing of a GPU.
Why why_untraced(const CaseResult& result, const Evidence& evidence) {
  const CaseBudget budget = budget_of(result, evidence);
  if (!budget.budget) return budget.absent.because == Because::case_without_activity ? Why() : budget.absent;
  const auto found = std::ranges::find(evidence.profile->cases, result.id, &trace::CaseInfo::id);
  const auto index = static_cast<trace::CaseIndex>(found - evidence.profile->cases.begin());
  const bool has_kernels = !trace::of_case(evidence.profile->kernels.rows(), index).empty();
  if (has_kernels || trace::of_case(evidence.profile->graphs, index).empty()) return {};
  return Why(Because::case_has_whole_graphs, {result.id});
}

}  // namespace

double ProcessPicture::median() const {
  return mprof::median(times);
}

double ProcessPicture::mean() const {
  return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
}

std::optional<double> ProcessPicture::deviation() const {
  if (times.size() < 2) return std::nullopt;
  const double middle = mean();
  double squares = 0;
  for (const double one : times) squares += (one - middle) * (one - middle);
  return std::sqrt(squares / static_cast<double>(times.size() - 1));
}

double ProcessPicture::least() const {
  return *std::ranges::min_element(times);
}

double ProcessPicture::most() const {
  return *std::ranges::max_element(times);
}

const CaseResult* only_process(const FamilyResult& family) {
  if (!is_of_one_program(family)) return nullptr;
  const VariantResult& variant = family.variants.front();
  if (!variant.info.is_program() || variant.cases.size() != 1) return nullptr;
  const CaseResult& result = variant.cases.front();
  const Measurement* const times = find_measurement(*result.source, "total_time", "");
  return result.ok() && times != nullptr && !times->samples.empty() ? &result : nullptr;
}

ProcessPicture process_of(const CaseResult& result, const Evidence* evidence) {
  ProcessPicture process{.times = find_measurement(*result.source, "total_time", "")->samples,
                         .user = known_value(result, "user_time"),
                         .system = known_value(result, "system_time"),
                         .peak_memory = known_value(result, "peak_memory")};
  if (result.cores_busy) process.cores_busy = result.cores_busy->median;
  if (evidence == nullptr) return process;
  process.untraced = why_untraced(result, *evidence);
  if (!evidence->profile) return process;
  const auto found = std::ranges::find(evidence->profile->cases, result.id, &trace::CaseInfo::id);
  if (found != evidence->profile->cases.end())
    process.calls = system_calls_of(*evidence->profile,
                                    static_cast<trace::CaseIndex>(found - evidence->profile->cases.begin()));
  return process;
}

}  // namespace mprof
