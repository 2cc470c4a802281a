// SPDX-License-Identifier: MIT
#include "report/analysis/judgement/compared_evidence.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "report/analysis/judgement/compare.hpp"
#include "report/analysis/kernels/kernels.hpp"
#include "report/analysis/kernels/speed_of_light.hpp"

namespace mprof {
namespace {

bool is_worth_a_look(const TimeComparison& time) {
  return time.ratio && time.speed_up.verdict != Verdict::same;
}

/// What makes one case more worth a look than another.
struct Weight {
  bool changed = false;
  double size = 0;  ///< of the largest change: the logarithm of the ratio
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the generated comparison with 0 for a pointer
  auto operator<=>(const Weight&) const = default;
};

Weight weight_of(const CaseComparison& c) {
  Weight weight;
  for (const TimeComparison& time : c.times) {
    if (!is_worth_a_look(time)) continue;
    weight = std::max(weight, Weight{is_change(time.speed_up.verdict), std::abs(std::log(*time.ratio))});
  }
  return weight;
}

/// Places of the cases that are worth a look, in the order in which they are.
std::vector<std::size_t> ranked(const std::vector<CaseComparison>& cases) {
  std::vector<std::pair<Weight, std::size_t>> weighed;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (std::ranges::any_of(cases[i].times, is_worth_a_look)) weighed.emplace_back(weight_of(cases[i]), i);
  }
  std::ranges::stable_sort(weighed, [](const auto& x, const auto& y) { return x.first > y.first; });
  std::vector<std::size_t> places;
  for (const auto& [weight, place] : weighed) places.push_back(place);
  return places;
}

CaseSamples samples_of(std::size_t place, const CaseComparison& c, const Case& a, const Case& b) {
  CaseSamples samples{place, {}};
  for (std::size_t i = 0; i < c.times.size(); ++i) {
    const TimeComparison& time = c.times[i];
    const Measurement* in_a = find_measurement(a, time.metric, time.op);
    const Measurement* in_b = find_measurement(b, time.metric, time.op);
    if (is_worth_a_look(time) && !is_traced(time) && in_a != nullptr && in_b != nullptr)
      samples.times.push_back({i, *in_a, *in_b});
  }
  return samples;
}

void add_throughputs(std::vector<ComparedThroughput>& throughputs, std::size_t place, const Case& a,
                     const Case& b) {
  for (const OpInfo& op : a.ops) {
    const auto of = [&](const Case& c, std::string_view metric) {
      return value_over_kernels(c, metric, op.name).value;
    };
    ComparedThroughput both{place,
                            op.name,
                            of(a, counted_sm_throughput),
                            of(b, counted_sm_throughput),
                            of(a, counted_memory_throughput),
                            of(b, counted_memory_throughput)};
    if ((both.sm_a && both.sm_b) || (both.memory_a && both.memory_b)) throughputs.push_back(std::move(both));
  }
}

}  // namespace

ComparedEvidence compared_evidence(const std::vector<CaseComparison>& cases,
                                   const std::vector<CasePair>& pairs, std::size_t most) {
  ComparedEvidence evidence;
  const std::vector<std::size_t> places = ranked(cases);
  for (const std::size_t place : places) {
    if (evidence.samples.size() == most) break;
    evidence.samples.push_back(samples_of(place, cases[place], *pairs[place].a, *pairs[place].b));
  }
  evidence.more_samples = places.size() - evidence.samples.size();
  for (std::size_t place = 0; place < cases.size(); ++place) {
    if (cases[place].status_a == Status::ok && cases[place].status_b == Status::ok)
      add_throughputs(evidence.throughputs, place, *pairs[place].a, *pairs[place].b);
  }
  return evidence;
}

}  // namespace mprof
