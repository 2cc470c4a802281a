// SPDX-License-Identifier: MIT
#include "report/analysis/machines/noise.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/statistics/median.hpp"
#include "report/analysis/judgement/estimate.hpp"

namespace mprof {
namespace {

const Measurement* measurement_of(const CaseResult& result, std::string_view metric, std::string_view op) {
  const PassResult* timing = find_pass(*result.source, Pass::timing);
  if (timing == nullptr) return nullptr;
  const auto found = std::ranges::find_if(timing->measurements, [&](const Measurement& row) {
    return row.metric == metric && row.op == op && row.kernel.empty();
  });
  return found == timing->measurements.end() ? nullptr : &*found;
}

}  // namespace

std::optional<Spreading> spreading_of(const CaseResult& result, std::string_view metric,
                                      std::string_view op) {
  const Measurement* row = measurement_of(result, metric, op);
  if (row == nullptr || row->samples.size() < 2) return std::nullopt;
  const auto count = static_cast<double>(row->samples.size());
  const double mean = std::accumulate(row->samples.begin(), row->samples.end(), 0.0) / count;
  double squares = 0;
  for (const double sample : row->samples) squares += (sample - mean) * (sample - mean);
  if (!(mean > 0)) return std::nullopt;
  const double deviation = std::sqrt(squares / (count - 1));
  return Spreading{row->samples.size(), deviation, deviation / mean, row->derived->series.far_out.size()};
}

std::optional<ClockReadings> sm_clock_of(const CaseResult& result, Why& absent) {
  const Measurement* row = measurement_of(result, sm_clock_metric(*result.source), "");
  if (row == nullptr || row->samples.empty()) {
    absent = row == nullptr || row->absent.empty() ? Because::not_recorded : said(row->absent);
    return std::nullopt;
  }
  const auto [lowest, highest] = std::ranges::minmax_element(row->samples);
  return ClockReadings{row->samples.size(), median(row->samples), *lowest, *highest};
}

}  // namespace mprof
