// SPDX-License-Identifier: MIT
#include "report/analysis/evidence.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "report/text/format.hpp"
#include "report/trace/profile_cells.hpp"
#include "report/trace/range_kernels.hpp"

namespace mprof {
namespace {

/// As many different reasons as a reader takes in.
constexpr std::size_t most_reasons = 3;

template <class Row>
std::optional<Spread> spread_in(const std::vector<Row>& rows, const ProfileScope& scope) {
  const std::span<const Row> of_scope = scope.of(rows);
  if (of_scope.empty()) return std::nullopt;
  std::vector<std::int64_t> times;
  times.reserve(of_scope.size());
  for (const Row& row : of_scope) times.push_back(row.time.length());
  return spread_of(times);
}

void add_launching(const trace::Trace& profile, const ProfileScope& scope, KernelsAndCalls& numbers) {
  const std::span<const trace::Call> calls = scope.of(profile.calls);
  const std::uint32_t first = scope.first_of(profile.calls);
  std::vector<bool> launched(calls.size());  // each once, however many kernels of a graph it launched
  for (const Launch& launch : launches(profile, scope)) launched[launch.call - first] = true;
  std::vector<std::int64_t> times;
  std::set<trace::NameIndex> called;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (!launched[i]) continue;
    times.push_back(calls[i].time.length());
    called.insert(calls[i].name);
  }
  if (times.empty()) return;
  std::set<std::string> names;
  for (const trace::NameIndex name : called) names.insert(profile.names[name]);
  numbers.launching = spread_of(times);
  numbers.launchers.assign(names.begin(), names.end());
}

}  // namespace

Evidence read_evidence(const Run& run, const std::filesystem::path& trace) {
  std::error_code error;
  if (trace.empty() || !std::filesystem::exists(trace, error)) return {std::nullopt, why_not_traced(run)};
  return evidence_of(trace::read_trace(trace, {.parts = evidence_parts}));
}

Evidence evidence_of(trace::Trace trace) {
  if (trace.cases.empty()) return {std::nullopt, "trace.sqlite holds no case of this run"};
  return {std::move(trace), ""};
}

std::string why_not_traced(const Run& run) {
  if (std::ranges::find(run.plan.passes, Pass::trace) == run.plan.passes.end()) {
    return "the run was made without the trace pass";
  }
  std::vector<std::string> reasons;
  bool traced = false;
  for (const Case& c : run.cases) {
    const PassResult* pass = find_pass(c, Pass::trace);
    if (pass == nullptr) continue;
    traced = traced || pass->status == Status::ok;
    const std::string reason = pass->reason.empty() ? std::string(to_string(pass->status)) : pass->reason;
    const bool is_new = std::ranges::find(reasons, reason) == reasons.end();
    if (pass->status != Status::ok && is_new) reasons.push_back(reason);
  }
  if (traced) return "the run was traced, but its trace.sqlite is not beside run.json";
  if (reasons.empty()) return "no case of the run was traced";
  const std::size_t shown = std::min(reasons.size(), most_reasons);
  std::string text =
      "no case was traced: " +
      format::one_line(fmt::format(
          "{}", fmt::join(reasons.begin(), reasons.begin() + static_cast<std::ptrdiff_t>(shown), "; ")));
  if (shown < reasons.size())
    text += fmt::format("; and {}", format::plural(reasons.size() - shown, "other reason"));
  while (text.ends_with('.')) text.pop_back();
  std::erase(text, '`');  // a page marks code in its own way
  return text;
}

std::optional<TracedCase> largest_traced(const VariantResult& variant, const TracedCases& traced) {
  std::optional<TracedCase> largest;
  for (const CaseResult& result : variant.cases) {
    const auto found = traced.find(result.id);
    if (found == traced.end()) continue;
    if (!largest || largest->result->key.problem < result.key.problem)
      largest = TracedCase{&result, found->second};
  }
  if (!largest) return std::nullopt;
  const CaseResult* chosen = variant.representative(largest->result->key.problem);
  const auto found = chosen == nullptr ? traced.end() : traced.find(chosen->id);
  return found == traced.end() ? largest : TracedCase{chosen, found->second};
}

KernelsAndCalls kernels_and_calls(const trace::Trace& profile, const ProfileScope& scope) {
  KernelsAndCalls numbers;
  numbers.kernels = spread_in(profile.kernels.rows(), scope);
  numbers.calls = spread_in(profile.calls, scope);
  if (const auto transfers = spread_in(profile.transfers, scope)) numbers.transferring = transfers->total;
  add_launching(profile, scope, numbers);
  const ProfileTable calls = profile_report("cuda_api_sum").table(profile, scope);
  if (calls.rows > 0) {
    const ProfileRow longest = calls.row(0);
    numbers.longest_share = std::get<double>(cell_below(calls, "Time", longest)) / 100;
    numbers.longest = std::get<std::string>(cell_below(calls, "Name", longest));
  }
  return numbers;
}

}  // namespace mprof
