// SPDX-License-Identifier: MIT
#include "report/analysis/program/next_gain.hpp"

#include <algorithm>

namespace mprof {

namespace {

/// ns that were not spent on recording.
double window_of(const ProgramPicture& picture) {
  const TimeBudget& budget = picture.budget;
  return static_cast<double>(budget.window - budget.of(BudgetPart::idle_tracing));
}

}  // namespace

bool may_gain_uncounted(const ProgramPicture& picture) {
  const double enough = (1 - 1 / least_advised_gain) * window_of(picture);
  return std::ranges::any_of(picture.functions, [&](const FunctionTime& function) {
    return !ProgramPicture::floor_of(function) && static_cast<double>(function.span) >= enough;
  });
}

std::vector<NextGain> next_gains(const ProgramPicture& picture) {
  std::vector<NextGain> gains;
  for (const Advice& advice : advice_for(readings_of(picture))) {
    if (advice.rule->id != whole_kernels_rule)  // the kernels have it, one by one
      gains.push_back({.rule = advice.rule, .gain = advice.gain});
  }
  const double window = window_of(picture);
  for (const FunctionTime& function : picture.functions) {
    const std::optional<double> floor = ProgramPicture::floor_of(function);
    if (!floor || !(window > 0)) continue;
    // At most what it runs for: others that run at once may go on without it, or may not.
    const double saved = static_cast<double>(function.span) / window * (1 - *floor);
    if (saved < 1 && 1 / (1 - saved) >= least_advised_gain)
      gains.push_back({.function = &function, .floor = *floor, .gain = 1 / (1 - saved)});
  }
  std::ranges::stable_sort(gains, std::ranges::greater{}, &NextGain::gain);
  return gains;
}

}  // namespace mprof
