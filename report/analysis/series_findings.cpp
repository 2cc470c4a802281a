#include "report/analysis/series_findings.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "report/text/format.hpp"

namespace mprof {
namespace {

/// So many samples far out are worth a word; fewer are what any machine shows.
constexpr double many_far_out = 0.05;

/// A time that was sampled, and whose it is.
struct SampledTime {
  const FamilyResult* family = nullptr;
  const CaseResult* result = nullptr;
  const Measurement* row = nullptr;

  /// "map/tiled@1000 op time of map", "map/tiled@1000 total time".
  [[nodiscard]] std::string name() const {
    const std::string of = row->op.empty() ? "" : " of " + format::one_line(row->op);
    return fmt::format("{} {}{}", format::short_id(result->id), family->words.time(row->metric), of);
  }
};

std::vector<SampledTime> sampled_times(const std::vector<FamilyResult>& families) {
  std::vector<SampledTime> times;
  for (const FamilyResult& family : families) {
    for (const VariantResult& variant : family.variants) {
      for (const CaseResult& result : variant.cases) {
        const PassResult* timing = result.ok() ? find_pass(*result.source, Pass::timing) : nullptr;
        if (timing == nullptr) continue;
        for (const Measurement& row : timing->measurements) {
          if (row.clock != ClockSource::none && !row.samples.empty())
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
/// The median of fewer is their mean.
constexpr std::size_t fewest_for_a_median = 3;

/// Samples of its longest round.
std::size_t samples_of_a_round(const Measurement& row) {
  return row.rounds.empty() ? row.samples.size() : *std::ranges::max_element(row.rounds);
}

/// The times for which `measure` is more than 0, and the one for which it is the largest.
struct Found {
  std::size_t count = 0;
  std::size_t able = 0;  ///< times that have samples enough to show it, or that do
  double most = 0;
  SampledTime where{};
};

template <class Measure>
Found find(const std::vector<SampledTime>& times, std::size_t fewest, Measure measure) {
  Found found;
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

/// "14 of 312 times with enough samples"
std::string of_able(const Found& found) {
  return fmt::format("{} of {} with enough samples", found.count, format::plural(found.able, "time"));
}

double size_of(const SeriesStep& step) {
  return std::abs(std::log(step.after / step.before));
}

double largest_step(const Measurement& row) {
  double largest = 0;
  for (const SeriesStep& step : row.series.steps) largest = std::max(largest, size_of(step));
  return largest;
}

/// "176.0 ms for 25 samples, then 197.0 ms (round 2)"
std::string step_text(const Measurement& row) {
  const auto& steps = row.series.steps;
  const auto step = std::ranges::max_element(steps, {}, size_of);
  const bool follows = step != steps.begin() && (step - 1)->round == step->round;
  const std::size_t since = step->at - (follows ? (step - 1)->at : 0);
  return fmt::format("{} for {}, then {}{}", format::quantity(step->before, Unit::second),
                     format::plural(since, "sample"), format::quantity(step->after, Unit::second),
                     row.rounds.empty() ? "" : fmt::format(" (round {})", step->round + 1));
}

const char* has(const Found& found) {
  return found.count == 1 ? "has" : "have";
}

/// What is told of the samples, in a few words and in a sentence.
struct Trait {
  std::string brief;
  std::string sentence;
};

std::optional<Trait> steps_of(const std::vector<SampledTime>& times) {
  const Found found = find(times, fewest_for_a_step, largest_step);
  if (found.count == 0) return std::nullopt;
  const std::string head = found.count == 1
                               ? "A step within a round: "
                               : fmt::format("{} have a step within a round, the largest: ", of_able(found));
  return Trait{fmt::format("{} of {} {} a step", found.count, format::plural(found.able, "time"), has(found)),
               fmt::format("{}{} {}. Such a median depends on when the step came.", head, found.where.name(),
                           step_text(*found.where.row))};
}

std::optional<Trait> likeness_of(const std::vector<SampledTime>& times) {
  const Found found =
      find(times, fewest_for_likeness, [](const Measurement& row) { return row.series.autocorrelation; });
  if (found.count == 0) return std::nullopt;
  return Trait{
      fmt::format("{} of {} {}", found.count, found.able,
                  found.count == 1 ? "drifts or swings" : "drift or swing"),
      fmt::format("In {} a sample is much like the one before (the most: {}, correlation {}): something "
                  "drifts or swings, and more samples do not average it out.",
                  of_able(found), found.where.name(), format::fixed(found.most, 2))};
}

std::optional<Trait> far_out_of(const std::vector<SampledTime>& times) {
  const Found found = find(times, fewest_for_far_out, [](const Measurement& row) {
    const double share =
        static_cast<double>(row.series.far_out.size()) / static_cast<double>(row.samples.size());
    return share > many_far_out ? share : 0;
  });
  if (found.count == 0) return std::nullopt;
  const std::string many = format::whole_percent(100 * many_far_out);
  return Trait{
      fmt::format("{} of {} {} more than {} of the samples far out", found.count, found.able, has(found),
                  many),
      fmt::format("In {} more than {} of the samples lie beyond Tukey's outer fences (the most: {}, {}). "
                  "None was dropped.",
                  of_able(found), many, found.where.name(), format::whole_percent(100 * found.most))};
}

/// A round of one or two samples has no median to speak of.
std::optional<std::string> short_rounds_of(const std::vector<SampledTime>& times) {
  const auto is_few = [](std::size_t samples) { return samples > 0 && samples < fewest_for_a_median; };
  std::size_t in_rounds = 0, few = 0;
  for (const SampledTime& time : times) {
    // A round of a program is one execution, as is said of it elsewhere.
    if (time.row->rounds.size() < 2 || find_pass(*time.result->source, Pass::timing)->outcome) continue;
    ++in_rounds;
    if (std::ranges::any_of(time.row->rounds, is_few)) ++few;
  }
  if (few == 0) return std::nullopt;
  return fmt::format(
      "{} of {} have rounds of fewer than {} samples: the median of such a round is their mean.", few,
      format::plural(in_rounds, "time"), fewest_for_a_median);
}

}  // namespace

void add_series_findings(const std::vector<FamilyResult>& families, std::vector<Finding>& findings) {
  constexpr std::size_t most_sentences = 2;
  const std::vector<SampledTime> times = sampled_times(families);
  if (const auto few = short_rounds_of(times)) findings.push_back({Severity::caution, *few});
  std::vector<std::string> briefs, sentences;
  for (const auto& trait : {steps_of(times), likeness_of(times), far_out_of(times)}) {
    if (!trait) continue;
    briefs.push_back(trait->brief);
    sentences.push_back(trait->sentence);
  }
  if (sentences.size() > most_sentences) {
    findings.push_back(
        {Severity::caution,
         fmt::format("Samples of a round are not always alike; none was dropped: {}.", format::list(briefs)),
         false, sentences});
    return;
  }
  for (const std::string& text : sentences) findings.push_back({Severity::caution, text});
}

}  // namespace mprof
