// SPDX-License-Identifier: MIT
#include "report/wording/judgement.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "report/text/format.hpp"

namespace mprof {
namespace {

/// " (in 1 of 3 rounds)"; nothing where it was all of them.
std::string in_rounds(const Disturbed& disturbed) {
  if (disturbed.empty() || disturbed.rounds == disturbed.of_rounds) return {};
  return fmt::format(" (in {} of {} rounds)", disturbed.rounds, disturbed.of_rounds);
}

}  // namespace

std::string threshold_text(double threshold) {
  return format::about(100 * threshold, Unit::percent);
}

std::string thresholds_text(const Thresholds& thresholds) {
  const std::string device = threshold_text(thresholds.device);
  return thresholds.host <= thresholds.device
             ? device
             : fmt::format("{} ({} for host times)", device, threshold_text(thresholds.host));
}

std::string excluded_text(double change) {
  constexpr double as_factor = 1;  // from a doubling on
  const double value = change < as_factor ? 100 * change : 1 + change;
  const double step = std::pow(10, std::floor(std::log10(std::max(value, 0.1))) - 1);
  const double up = std::ceil(value / step - 1e-9) * step;
  return change < as_factor ? format::about(up, Unit::percent) : format::plain_times(up);
}

std::string no_change_text(const SpeedUp& speed_up) {
  return speed_up.no_change_above ? "no change above " + excluded_text(*speed_up.no_change_above)
                                  : std::string();
}

std::string verdict_text(const SpeedUp& speed_up) {
  const std::string verdict(to_string(speed_up.verdict));
  return speed_up.no_change_above ? fmt::format("{}, ≤ {}", verdict, excluded_text(*speed_up.no_change_above))
                                  : verdict;
}

std::string despite_text(const SpeedUp& speed_up) {
  const std::optional<double> least = speed_up.at_least();
  if (!least || speed_up.disturbed.empty()) return {};
  std::vector<std::string> causes;
  for (const std::string& cause : speed_up.disturbed) causes.push_back(format::one_line(cause));
  return fmt::format("at least {} as {}, although {}", format::times(*least),
                     speed_up.verdict == Verdict::faster ? "fast" : "long", format::list(causes));
}

std::string no_interval(const Estimate& estimate) {
  if (estimate.clock != ClockSource::none && estimate.between.dof > 0)
    return "it varies by so much that no interval says anything";
  if (estimate.samples == 0) return "it follows from single readings, which have no interval";
  return fmt::format("{}: too few for a 95 % interval (6 do)", format::plural(estimate.samples, "sample"));
}

std::string_view one_round(bool borrowed) {
  if (borrowed) return "one round: by how much the next process will differ is as the other run's rounds say";
  return "one round: by how much the next process will differ is assumed, not measured (--rounds)";
}

std::string causes_text(const Disturbed& disturbed) {
  std::vector<std::string> causes;
  for (const Disturbance& one : disturbed.by) {
    std::string cause = format::one_line(one.cause);
    if (std::ranges::find(causes, cause) == causes.end()) causes.push_back(std::move(cause));
  }
  return format::list(causes) + in_rounds(disturbed);
}

std::string disturbed_text(const Disturbed& disturbed) {
  return to_text(disturbed.by) + in_rounds(disturbed);
}

}  // namespace mprof
