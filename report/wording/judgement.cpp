// SPDX-License-Identifier: MIT
#include "report/wording/judgement.hpp"

#include <algorithm>
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
             : fmt::format("{} ({} by the host's clock)", device, threshold_text(thresholds.host));
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
