// SPDX-License-Identifier: MIT
#include "report/analysis/judgement/judgement.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "model/statistics/next_run.hpp"

namespace mprof {
namespace {

constexpr double rounds_that_nobody_makes = 200;

/// An estimate of how many is no better than this.
double rounded_up(double rounds) {
  for (const double step : {1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150})
    if (rounds <= step) return step;
  return rounds_that_nobody_makes;
}

/// By how much of a time two runs may differ for no other reason than that the SM clock stood a step higher
/// in one of them. Nothing, where its own cycles say that it did not; more than a step is no chance of the
/// clock.
double step_between(const Estimate& before, const Estimate& after, Apart apart) {
  constexpr double of_a_step = 0.5;  // what was measured is sure to a hundredth of one
  const double step = std::max(before.sm_clock.step, after.sm_clock.step);
  const double in_a = before.sm_clock.measured, in_b = after.sm_clock.measured;
  if (apart == Apart::in_one_run) return 0;
  return in_a > 0 && in_b > 0 && std::abs(std::log(in_b / in_a)) < of_a_step * step ? 0 : step;
}

/// That so small a change may be one of the clock: with what its own cycles say, where both were counted.
Why step_of_clock(const Estimate& before, const Estimate& after, double step, double threshold) {
  const double in_a = before.sm_clock.measured, in_b = after.sm_clock.measured;
  if (in_a > 0 && in_b > 0) return {Because::clock_step_counted, {}, {step, threshold, in_a, in_b}};
  return {Because::clock_step, {}, {step, threshold}};
}

/// By what Holm's method multiplies each of the p.
std::vector<double> multipliers(const std::vector<double>& p) {
  std::vector<double> ordered = p;
  std::ranges::sort(ordered);
  std::vector<double> result;
  for (const double one : p)
    result.push_back(static_cast<double>(ordered.end() - std::ranges::lower_bound(ordered, one)));
  return result;
}

/// The change without what the machine, or what disturbed a time, may have moved it by.
double change_beyond_excuse(const RatioTest& test) {
  const double difference = std::log(test.ratio);
  return std::expm1(
      std::copysign(std::max(0.0, std::abs(difference) - test.excuse.of(difference)), difference));
}

/// Whether what disturbed a time can be all of such a difference: nothing bounds it on the side that is
/// longer.
bool may_be_all(const RatioTest& test) {
  return std::isinf(test.excuse.of(std::log(test.ratio)));
}

bool is_bounded(const RatioTest& test) {
  return !std::isinf(test.excuse.longer) && !std::isinf(test.excuse.shorter);
}

/// What disturbed them, and how much of the difference that can be.
Why why_open(const TimePair& pair, const RatioTest& test) {
  const double excuse = test.excuse.of(std::log(test.ratio)) - test.step;
  const Why why = why_disturbed(pair);
  return excuse > 0 ? Why(Because::disturbance_explains, {}, {std::exp(excuse)}, {why})
                    : Why(Because::disturbance_hides, {}, {}, {why});
}

/// Healthy GPUs of one model differ by so much on average (P. Sinha and others, SC 2022): a change of times
/// that different ones took counts by what exceeds it.
constexpr double between_gpus = 0.08;

bool are_of_other_gpus(const Estimate& before, const Estimate& after) {
  return before.gpu > 0 && after.gpu > 0 && before.gpu != after.gpu;
}

/// Whether the GPU has a small part in a time: one of the host, but for the steps of a program.
bool is_of_host_alone(const Estimate& time) {
  return time.clock == ClockSource::host && !(time.sm_clock.step > 0);
}

/// Of two runs, where the GPU matters to both times.
double between_gpus_of_runs(const Estimate& before, const Estimate& after, Apart apart) {
  const bool by_host = is_of_host_alone(before) || is_of_host_alone(after);
  return apart == Apart::in_two_runs && !by_host && are_of_other_gpus(before, after) ? between_gpus : 0;
}

/// The two times as they are tested.
std::pair<Rounds, Rounds> rounds_of(const TimePair& pair) {
  if (pair.in_turns) return {pair.in_turns->before(), pair.in_turns->after()};
  return {rounds_of(*pair.before), rounds_of(*pair.after)};
}

/// What is missing for a verdict: the interval of the change must become so narrow that it no longer holds
/// both a change worth telling and none. `together`: of Holm's method, which a change must pass and
/// sameness need not.
void say_what_is_missing(SpeedUp& result, const TimePair& pair, const RatioTest& test, double threshold,
                         Apart apart, double together) {
  const Estimate &before = *pair.before, &after = *pair.after;
  const double change = std::abs(test.ratio - 1), step = std::expm1(test.step);
  const bool is_seen = change > threshold;
  const double narrow = (is_seen ? change : threshold - change / 2) - step;
  if (step > 0 && (narrow <= 0 || (is_seen && std::abs(change_beyond_excuse(test)) <= threshold))) {
    result.reason = step_of_clock(before, after, step, threshold);
    return;
  }
  const auto more = [&](Apart of) {
    const auto [first, second] = rounds_of(pair);
    const auto wanted = static_cast<double>(rounds_for(first, second, narrow, of, is_seen ? together : 1));
    return rounded_up(wanted - std::min(first.count, second.count));
  };
  const double rounds = more(apart);
  if (rounds < rounds_that_nobody_makes) {
    result.more_rounds = rounds;
    result.reason = {Because::too_few_rounds, {}, {rounds}};
  } else if (apart == Apart::in_two_runs && more(Apart::in_one_run) < rounds_that_nobody_makes) {
    result.reason = Because::machine_varies;
  } else {
    result.reason = Because::processes_vary;
  }
}

/// The factor, and the tests that the verdict hangs on where there can be any.
struct Tested {
  SpeedUp result{};
  std::optional<RatioTest> test{};    ///< whether it is the same
  std::optional<RatioTest> change{};  ///< whether it changed by more than other GPUs do; mostly `test`
};

/// Sets the verdict and its reason on a ratio that was tested; `p` as adjusted, by Holm's `together`.
void decide(SpeedUp& result, const TimePair& pair, const Tested& tested, double p, double together,
            double threshold, Apart apart) {
  const RatioTest& test = *tested.test;
  const double change = change_beyond_excuse(*tested.change);
  result.p = p;
  if (is_bounded(test)) result.no_change_above = excluded_change(test.interval);
  if (is_within(test.interval, threshold)) {
    result.verdict = Verdict::same;
  } else if (p <= significance && std::abs(change) > threshold) {
    result.verdict = change < 0 ? Verdict::faster : Verdict::slower;
    result.no_change_above.reset();
  } else if (tested.change->step > test.step && std::abs(test.ratio - 1) > threshold) {
    result.reason = {Because::other_gpus_run_on_one, {}, {between_gpus}};
  } else if (!result.disturbed.empty()) {
    result.reason = why_open(pair, test);
  } else {
    say_what_is_missing(result, pair, test, threshold, apart, together);
  }
}

/// Of both times, each cause once.
std::vector<std::string> causes_of(const TimePair& pair) {
  std::vector<std::string> causes;
  for (const Value* time : {&pair.before, &pair.after}) {
    for (const Disturbance& one : (*time)->disturbed.by) {
      if (std::ranges::find(causes, one.cause) == causes.end()) causes.push_back(one.cause);
    }
  }
  return causes;
}

/// Where nothing bounds what disturbed the side that is shorter, only one end of the interval is known:
/// undisturbed it would be shorter still.
void set_interval(SpeedUp& result, const RatioTest& test) {
  if (is_bounded(test))
    result.interval = Interval{1 / test.interval.high, 1 / test.interval.low};
  else if (!may_be_all(test))
    result.least = test.ratio < 1 ? 1 / test.interval.high : test.interval.low;
}

/// Whether nothing bounds what disturbed one of them.
bool is_unbounded(const TimePair& pair) {
  return !pair.before->lengthened || !pair.after->lengthened;
}

Tested tested(const TimePair& pair, Apart apart) {
  const Value &before = pair.before, &after = pair.after;
  if (!before) return {no_speed_up(before.absent)};
  if (!after) return {no_speed_up(after.absent)};
  if (!(after->median > 0) || !(before->median > 0)) return {no_speed_up(Because::time_of_zero)};
  Tested one;
  one.result.factor = before->median / after->median;
  const auto [first, second] = rounds_of(pair);
  const double step = step_between(*before, *after, apart);
  if (pair.in_turns) one.result.factor = first.center / second.center;
  one.test = test_ratio(first, second, apart, step);
  one.change = test_ratio(first, second, apart, std::max(step, between_gpus_of_runs(*before, *after, apart)));
  if (one.test && !one.change) (one.change = one.test)->p = 1;  // so little is known that any may be theirs
  if (one.test)
    set_interval(one.result, *one.test);
  else
    one.result.reason = first.between.dof > 0 && second.between.dof > 0 ? Because::varies_without_bound
                                                                        : Because::variation_unknown;
  if (apart == Apart::in_one_run && are_of_other_gpus(*before, *after) &&
      std::abs(std::log(after->median / before->median)) <= std::log1p(between_gpus)) {
    one.test.reset();
    one.result.reason = {Because::other_gpus, {}, {between_gpus}};
  }
  if (!pair.in_turns) one.result.disturbed = causes_of(pair);
  if (!one.result.disturbed.empty() && (one.test ? may_be_all(*one.test) : is_unbounded(pair))) {
    one.test.reset();
    one.result.reason = {Because::disturbance_unbounded, {}, {}, {why_disturbed(pair)}};
  }
  return one;
}

bool is_disturbed(const Tested& one) {
  return !one.result.disturbed.empty();
}

std::vector<SpeedUp> judge_all(std::span<const TimePair> pairs, const Thresholds& thresholds, Apart apart) {
  std::vector<Tested> all;
  all.reserve(pairs.size());
  std::map<bool, std::vector<double>> p;  // of those that something disturbed, and of the others
  for (const TimePair& pair : pairs) {
    all.push_back(tested(pair, apart));
    if (all.back().test) p[is_disturbed(all.back())].push_back(all.back().change->p);
  }
  std::map<bool, std::vector<double>> adjusted, together;
  for (const auto& [disturbed, of_them] : p) {
    adjusted[disturbed] = holm(of_them);
    together[disturbed] = multipliers(of_them);
  }
  std::vector<SpeedUp> results;
  results.reserve(pairs.size());
  std::map<bool, std::size_t> next;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const bool disturbed = is_disturbed(all[i]);
    SpeedUp& result = results.emplace_back(std::move(all[i].result));
    if (!all[i].test) continue;
    const std::size_t at = next[disturbed]++;
    decide(result, pairs[i], all[i], adjusted[disturbed][at], together[disturbed][at],
           thresholds.of(*pairs[i].before, *pairs[i].after), apart);
  }
  return results;
}

/// Each cause once, and of how many rounds where it was not all.
Why causes_of(Because because, const Disturbed& disturbed) {
  Why why(because);
  for (const Disturbance& one : disturbed.by) {
    if (std::ranges::find(why.names, one.cause) == why.names.end()) why.names.push_back(one.cause);
  }
  if (disturbed.rounds < disturbed.of_rounds)
    why.numbers = {static_cast<double>(disturbed.rounds), static_cast<double>(disturbed.of_rounds)};
  return why;
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::faster:
      return "faster";
    case Verdict::slower:
      return "slower";
    case Verdict::same:
      return "same";
    case Verdict::inconclusive:
      break;
  }
  return "inconclusive";
}

bool is_change(Verdict verdict) {
  return verdict == Verdict::faster || verdict == Verdict::slower;
}

bool contradict(Verdict a, Verdict b) {
  return is_change(a) && is_change(b) && a != b;
}

double excluded_change(const Interval& ratio) {
  return std::max(ratio.high, 1 / ratio.low) - 1;
}

bool is_within(const Interval& ratio, double threshold) {
  return excluded_change(ratio) <= threshold;
}

std::optional<double> SpeedUp::at_least() const {
  if (!is_change(verdict)) return std::nullopt;
  if (!interval) return least;
  return verdict == Verdict::faster ? interval->low : 1 / interval->high;
}

std::optional<Interval> SpeedUp::ratio_interval() const {
  if (!interval) return std::nullopt;
  return Interval{1 / interval->high, 1 / interval->low};
}

SpeedUp no_speed_up(Why reason) {
  SpeedUp result;
  result.reason = result.absent = std::move(reason);
  return result;
}

SpeedUp judge(const Value& before, const Value& after, const Thresholds& thresholds) {
  const TimePair pair{before, after, {}};
  return judge_all(std::span(&pair, 1), thresholds, Apart::in_one_run).front();
}

std::vector<SpeedUp> judge_together(std::span<const TimePair> pairs, const Thresholds& thresholds,
                                    Apart apart) {
  return judge_all(pairs, thresholds, apart);
}

double Thresholds::of(const Estimate& before, const Estimate& after) const {
  const bool by_host = before.clock == ClockSource::host || after.clock == ClockSource::host;
  return by_host ? host : device;
}

Why why_disturbed(const TimePair& pair) {
  const bool first = pair.before && !pair.before->disturbed.empty();
  const bool second = pair.after && !pair.after->disturbed.empty();
  if (!first && !second) return {};
  if (!second) return causes_of(Because::first_disturbed, pair.before->disturbed);
  if (!first) return causes_of(Because::second_disturbed, pair.after->disturbed);
  Why before = causes_of(Because::disturbances, pair.before->disturbed);
  Why after = causes_of(Because::disturbances, pair.after->disturbed);
  if (before.names == after.names) return {Because::both_disturbed, before.names};
  return {Because::each_disturbed, {}, {}, {std::move(before), std::move(after)}};
}

bool is_level(const Value& time, const Value& best) {
  return time && best && time->interval && best->interval && time->disturbed.empty() &&
         best->disturbed.empty() && judge(time, best).verdict != Verdict::faster;
}

bool is_loss(const QualityInfo& quality, double change) {
  switch (quality.better) {
    case Better::higher:
      return change < -quality.tolerance;
    case Better::lower:
      return change > quality.tolerance;
    case Better::neither:
      break;
  }
  return std::abs(change) > quality.tolerance;
}

}  // namespace mprof
