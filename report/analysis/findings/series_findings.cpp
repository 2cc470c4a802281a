// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "report/analysis/analysis.hpp"
#include "report/analysis/findings/findings.hpp"

/// What the order of the samples tells of the times, each kind once: steps within a round, neighbours that
/// are alike, samples that lie far out.
namespace mprof {
namespace {

using namespace finding;  // NOLINT(google-build-using-namespace)

std::vector<SampledTime> sampled_times(const std::vector<FamilyResult>& families) {
  std::vector<SampledTime> times;
  for (const FamilyResult& family : families) {
    for (const VariantResult& variant : family.variants) {
      for (const CaseResult& result : variant.cases) {
        const PassResult* timing = result.ok() ? find_pass(*result.source, Pass::timing) : nullptr;
        if (timing == nullptr) continue;
        for (const Measurement& row : timing->measurements) {
          if (row.derived->clock != ClockSource::none && !row.samples.empty())
            times.push_back({&family, &result, &row});
        }
      }
    }
  }
  return times;
}

/// In so few samples of a round derive() finds nothing, whatever they are: Pettitt's test with its p for
/// short series; a correlation that must exceed 2/√n; fences beyond quartiles, which the sample itself moves.
constexpr std::size_t fewest_for_a_step = 17;
constexpr std::size_t fewest_for_likeness = 5;
constexpr std::size_t fewest_for_far_out = 5;

/// Samples of its longest round.
std::size_t samples_of_a_round(const Measurement& row) {
  return row.rounds.empty() ? row.samples.size() : *std::ranges::max_element(row.rounds);
}

/// The times for which `measure` is more than 0, and the one for which it is the largest.
template <class Measure>
UnlikeSamples find(Trait trait, const std::vector<SampledTime>& times, std::size_t fewest, Measure measure) {
  UnlikeSamples found{.trait = trait};
  for (const SampledTime& time : times) {
    const double value = measure(*time.row);
    if (value > 0 || samples_of_a_round(*time.row) >= fewest) ++found.able;
    if (!(value > 0)) continue;
    ++found.count;
    if (value > found.most) {
      found.most = value;
      found.where = time;
    }
  }
  return found;
}

double size_of(const SeriesStep& step) {
  return std::abs(std::log(step.after / step.before));
}

double largest_step(const Measurement& row) {
  double largest = 0;
  for (const SeriesStep& step : row.derived->series.steps) largest = std::max(largest, size_of(step));
  return largest;
}

double share_far_out(const Measurement& row) {
  const double share =
      static_cast<double>(row.derived->series.far_out.size()) / static_cast<double>(row.samples.size());
  return share > many_far_out ? share : 0;
}

/// Rounds of one or two samples, which have no median to speak of.
ShortRounds short_rounds_of(const std::vector<SampledTime>& times) {
  const auto is_few = [](std::size_t samples) { return samples > 0 && samples < fewest_for_a_median; };
  ShortRounds rounds;
  for (const SampledTime& time : times) {
    // A round of a program is one execution, as is said of it elsewhere.
    if (time.row->rounds.size() < 2 || find_pass(*time.result->source, Pass::timing)->outcome) continue;
    ++rounds.in_rounds;
    if (std::ranges::any_of(time.row->rounds, is_few)) ++rounds.few;
  }
  return rounds;
}

}  // namespace

void add_series_findings(const std::vector<FamilyResult>& families, std::vector<Finding>& findings) {
  constexpr std::size_t most_sentences = 2;
  const std::vector<SampledTime> times = sampled_times(families);
  if (const ShortRounds rounds = short_rounds_of(times); rounds.few > 0)
    findings.push_back({Severity::caution, rounds});
  std::vector<UnlikeSamples> traits{
      find(Trait::step, times, fewest_for_a_step, largest_step),
      find(Trait::likeness, times, fewest_for_likeness,
           [](const Measurement& row) { return row.derived->series.autocorrelation; }),
      find(Trait::far_out, times, fewest_for_far_out, share_far_out)};
  std::erase_if(traits, [](const UnlikeSamples& trait) { return trait.count == 0; });
  std::vector<Finding> one_by_one;
  for (const UnlikeSamples& trait : traits) one_by_one.push_back({Severity::caution, trait});
  if (traits.size() > most_sentences)
    findings.push_back(
        {Severity::caution, UnlikeSamplesOfAll{std::move(traits)}, {}, false, std::move(one_by_one)});
  else
    std::ranges::move(one_by_one, std::back_inserter(findings));
}

}  // namespace mprof
