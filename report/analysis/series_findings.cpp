#include "report/analysis/series_findings.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "model/statistics/series.hpp"
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

bool shows_anything(const SeriesNotes& series) {
  return !series.steps.empty() || series.autocorrelation > 0 || !series.far_out.empty();
}

/// The most samples that a round took.
std::size_t longest_round(const Measurement& row) {
  return row.rounds.empty() ? row.samples.size() : *std::ranges::max_element(row.rounds);
}

/// Those with so many samples in a round that they could show something.
struct SampledTimes {
  std::size_t fewest = 0;
  std::vector<SampledTime> times{};

  /// "26 times with 8 samples a round"
  [[nodiscard]] std::string text() const {
    return fmt::format("{} with {} samples a round", format::plural(times.size(), "time"), fewest);
  }
};

SampledTimes sampled_times(const std::vector<FamilyResult>& families, std::size_t fewest) {
  SampledTimes sampled{.fewest = fewest};
  for (const FamilyResult& family : families) {
    for (const VariantResult& variant : family.variants) {
      for (const CaseResult& result : variant.cases) {
        const PassResult* timing = result.ok() ? find_pass(*result.source, Pass::timing) : nullptr;
        if (timing == nullptr) continue;
        for (const Measurement& row : timing->measurements) {
          if (row.clock != ClockSource::none && (longest_round(row) >= fewest || shows_anything(row.series)))
            sampled.times.push_back({&family, &result, &row});
        }
      }
    }
  }
  return sampled;
}

/// The times for which `measure` is more than 0, and the one for which it is the largest.
struct Found {
  std::size_t count = 0;
  double most = 0;
  SampledTime where{};
};

template <class Measure>
Found find(const std::vector<SampledTime>& times, Measure measure) {
  Found found;
  for (const SampledTime& time : times) {
    const double value = measure(*time.row);
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

void add_steps(const SampledTimes& sampled, std::vector<Finding>& findings) {
  const Found found = find(sampled.times, largest_step);
  if (found.count == 0) return;
  const std::string head =
      found.count == 1
          ? "A step within a round: "
          : fmt::format("{} of {} have a step within a round, the largest: ", found.count, sampled.text());
  findings.push_back({Severity::caution, fmt::format("{}{} {}. Such a median depends on when the step came.",
                                                     head, found.where.name(), step_text(*found.where.row))});
}

void add_alike(const SampledTimes& sampled, std::vector<Finding>& findings) {
  const Found found = find(sampled.times, [](const Measurement& row) { return row.series.autocorrelation; });
  if (found.count == 0) return;
  findings.push_back(
      {Severity::caution,
       fmt::format("In {} of {} a sample is much like the one before (the most: {}, correlation {}): "
                   "something drifts "
                   "or swings for longer than a sample takes, and more samples do not average it out.",
                   found.count, sampled.text(), found.where.name(), format::fixed(found.most, 2))});
}

void add_far_out(const SampledTimes& sampled, std::vector<Finding>& findings) {
  const Found found = find(sampled.times, [](const Measurement& row) {
    const double share =
        static_cast<double>(row.series.far_out.size()) / static_cast<double>(row.samples.size());
    return share > many_far_out ? share : 0;
  });
  if (found.count == 0) return;
  findings.push_back(
      {Severity::caution,
       fmt::format(
           "In {} of {} more than {} of the samples lie far out, beyond Tukey's outer fences (the most: {}, "
           "{}). None was dropped.",
           found.count, sampled.text(), format::whole_percent(100 * many_far_out), found.where.name(),
           format::whole_percent(100 * found.most))});
}

}  // namespace

void add_series_findings(const std::vector<FamilyResult>& families, std::vector<Finding>& findings) {
  const SampledTimes ordered = sampled_times(families, fewest_for_a_step);
  add_steps(ordered, findings);
  add_alike(ordered, findings);
  add_far_out(sampled_times(families, fewest_for_quartiles), findings);
}

}  // namespace mprof
