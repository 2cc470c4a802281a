// SPDX-License-Identifier: MIT
#include "report/analysis/findings/sample_series.hpp"

#include <span>

#include "model/rounds.hpp"
#include "model/statistics/median.hpp"

namespace mprof {

SampleSeries sample_series(const Measurement& measurement) {
  SampleSeries series;
  const auto rounds = samples_by_round(measurement);
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    const std::span<const double> samples = rounds[round];
    if (samples.empty()) continue;
    std::size_t from = 0;
    const auto add_until = [&](std::size_t end) {
      series.levels.push_back(
          {series.rounds.size(), from, end - from, median(samples.subspan(from, end - from))});
      from = end;
    };
    for (const SeriesStep& step : measurement.derived->series.steps) {
      if (step.round == round) add_until(step.at);
    }
    add_until(samples.size());
    series.rounds.push_back(samples.size());
  }
  series.far_out.resize(measurement.samples.size());
  for (const std::size_t place : measurement.derived->series.far_out) series.far_out[place] = true;
  return series;
}

}  // namespace mprof
