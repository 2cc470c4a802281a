// SPDX-License-Identifier: MIT
#include "report/analysis/judgement/judgement.hpp"

#include <set>

#include <gtest/gtest.h>

#include "model/derive/derive.hpp"
#include "model/statistics/next_run.hpp"
#include "report/analysis/analysis.hpp"
#include "report/analysis/judgement/compare.hpp"
#include "report/wording/why.hpp"
#include "tests/report/sample_runs.hpp"

/// The one judgement, and that all who ask it agree.
namespace mprof {
namespace {

/// A time of five rounds whose logarithms vary by `deviation` from one process to the next.
Estimate estimate(double time, double deviation, ClockSource clock = ClockSource::device) {
  Estimate made{
      .median = time, .samples = 35, .rounds = 5, .between = {deviation * deviation, 40}, .clock = clock};
  made.interval = next_run_interval(rounds_of(made));
  return made;
}

struct VerdictCase {
  const char* what;
  Estimate before, after;
  Verdict verdict;
};

// GoogleTest gives the name. NOLINTNEXTLINE(readability-identifier-naming)
void PrintTo(const VerdictCase& c, std::ostream* stream) {
  *stream << c.what;
}

class Verdicts : public testing::TestWithParam<VerdictCase> {};

TEST_P(Verdicts, FollowTheRule) {
  const SpeedUp judgement =
      judge({GetParam().before, {}}, {GetParam().after, {}}, {.device = 0.05, .host = 0.05});
  EXPECT_EQ(judgement.verdict, GetParam().verdict) << GetParam().what << ": " << say(judgement.reason);
  EXPECT_EQ(judgement.reason.empty(), GetParam().verdict != Verdict::inconclusive) << GetParam().what;
}

const Estimate of_unknown_spread{.median = 1, .samples = 3};

INSTANTIATE_TEST_SUITE_P(
    Rule, Verdicts,
    testing::Values(
        VerdictCase{"10 % less", estimate(1, 0.01), estimate(0.9, 0.01), Verdict::faster},
        VerdictCase{"10 % more", estimate(1, 0.01), estimate(1.1, 0.01), Verdict::slower},
        VerdictCase{"sure, but 4 % only", estimate(1, 0.003), estimate(1.04, 0.003), Verdict::same},
        VerdictCase{"sure, but perhaps no more than 5 %", estimate(1, 0.01), estimate(1.045, 0.01),
                    Verdict::inconclusive},
        VerdictCase{"20 % more, and no surer than that", estimate(1, 0.2), estimate(1.2, 0.2),
                    Verdict::inconclusive},
        VerdictCase{"equal", estimate(1, 0.01), estimate(1, 0.01), Verdict::same},
        VerdictCase{"equal to the last bit, without any spread", estimate(1, 0), estimate(1, 0),
                    Verdict::same},
        VerdictCase{"equal, but noisy", estimate(1, 0.1), estimate(1, 0.1), Verdict::inconclusive},
        VerdictCase{"one side noisy", estimate(1, 0.01), estimate(1, 0.1), Verdict::inconclusive},
        VerdictCase{"no spread known before", of_unknown_spread, estimate(0.5, 0.01), Verdict::inconclusive},
        VerdictCase{"no spread known after", estimate(1, 0.01), of_unknown_spread, Verdict::inconclusive},
        VerdictCase{"zero before", estimate(0, 0), estimate(1, 0), Verdict::inconclusive}));

TEST(Judge, TheHostsClockHasAThresholdOfItsOwn) {
  for (const auto clock : {ClockSource::device, ClockSource::host}) {
    const Value before{estimate(1, 0.001, clock), {}}, after{estimate(1.02, 0.001, clock), {}};
    EXPECT_EQ(judge(before, after).verdict, clock == ClockSource::device ? Verdict::slower : Verdict::same);
    EXPECT_EQ(judge(before, after, {.device = 0.05, .host = 0.01}).verdict,
              clock == ClockSource::device ? Verdict::same : Verdict::slower);
  }
}

TEST(Judge, SaysHowManyMoreRoundsWouldTell) {
  const Value before{estimate(1, 0.02), {}}, after{estimate(1.02, 0.02), {}};
  const SpeedUp open = judge(before, after);
  EXPECT_EQ(open.verdict, Verdict::inconclusive);
  EXPECT_EQ(open.reason, Why(Because::too_few_rounds, {}, {*open.more_rounds}));
  // With so many the interval is as narrow as the change.
  const std::size_t enough = rounds_for(rounds_of(*before), rounds_of(*after), 0.02);
  const auto test = test_ratio({1, static_cast<double>(enough), {4e-4, 40}},
                               {1.02, static_cast<double>(enough), {4e-4, 40}});
  EXPECT_GE(test->interval.low, 1);
}

Value disturbed_time(double time, std::string cause, std::string detail = {}) {
  Value value{estimate(time, 0.001), {}};
  value.estimate->disturbed.by = {{std::move(cause), std::move(detail)}};
  value.estimate->lengthened.reset();
  return value;
}

/// At most `most` times as long as undisturbed.
Value lengthened_time(double time, double most) {
  Value value = disturbed_time(time, "other processes used the CPUs");
  value.estimate->lengthened = most;
  return value;
}

TEST(Judge, OfADisturbedTimeCountsWhatTheDisturbanceCannotHaveMade) {
  const Value quiet{estimate(1, 0.001), {}};
  const SpeedUp slower = judge(quiet, lengthened_time(4, 3));
  EXPECT_EQ(slower.verdict, Verdict::slower);
  EXPECT_NEAR(*slower.at_least(), 4.0 / 3, 0.01);
  EXPECT_EQ(slower.disturbed, std::vector<std::string>{"other processes used the CPUs"});
  EXPECT_NEAR(slower.interval->high, 3.0 / 4, 0.01) << "undisturbed it may be shorter";
  EXPECT_NEAR(slower.interval->low, 1.0 / 4, 0.01) << "and is not longer";
  const SpeedUp faster = judge(lengthened_time(102, 3), quiet);
  EXPECT_EQ(faster.verdict, Verdict::faster);
  EXPECT_NEAR(*faster.at_least(), 34, 0.5);
  const SpeedUp open = judge(quiet, lengthened_time(2.5, 3));
  EXPECT_EQ(open.verdict, Verdict::inconclusive);
  EXPECT_EQ(open.reason.because, Because::disturbance_explains);
  EXPECT_NEAR(*open.no_change_above, 1.5, 0.02);
  EXPECT_FALSE(open.more_rounds) << "which would be disturbed as well";
  EXPECT_EQ(judge(quiet, lengthened_time(0.9, 3)).verdict, Verdict::faster)
      << "the disturbed side is shorter in spite of it";
  EXPECT_EQ(judge(quiet, lengthened_time(1, 3)).verdict, Verdict::inconclusive) << "it can hide a change";
  EXPECT_EQ(judge(quiet, lengthened_time(1, 3)).reason.because, Because::disturbance_hides);
  EXPECT_EQ(judge(lengthened_time(1, 3), lengthened_time(4, 2)).verdict, Verdict::slower)
      << "that of the longer side counts";
}

TEST(Judge, ALongerTimeWhoseDisturbanceNothingBoundsHasNoVerdict) {
  const Value quiet{estimate(1, 0.001), {}}, loud = disturbed_time(2, "the GPU throttled");
  for (const auto& [before, after, reason] : {std::tuple(quiet, loud, Because::second_disturbed),
                                              {loud, quiet, Because::first_disturbed},
                                              {loud, loud, Because::both_disturbed}}) {
    const SpeedUp open = judge(before, after);
    EXPECT_EQ(open.verdict, Verdict::inconclusive);
    EXPECT_EQ(open.reason, Why(Because::disturbance_unbounded, {}, {}, {Why(reason, {"the GPU throttled"})}));
    EXPECT_TRUE(open.is_open_by_disturbance());
    EXPECT_FALSE(open.no_change_above);
    EXPECT_EQ(open.factor, before->median / after->median) << "it is shown all the same";
    EXPECT_FALSE(open.interval) << "which would be one of what was disturbed";
    EXPECT_FALSE(open.p);
  }
  EXPECT_EQ(judge(quiet, {estimate(2, 0.001), {}}).verdict, Verdict::slower);
}

TEST(Judge, AShorterTimeIsShorterWhateverDisturbedIt) {
  const Value quiet{estimate(1, 0.001), {}}, loud = disturbed_time(0.5, "the GPU throttled");
  const SpeedUp faster = judge(quiet, loud), slower = judge(loud, quiet);
  EXPECT_EQ(faster.verdict, Verdict::faster);
  EXPECT_EQ(slower.verdict, Verdict::slower);
  for (const SpeedUp& one : {faster, slower}) {
    EXPECT_NEAR(one.at_least().value_or(0), 2, 0.01);
    EXPECT_FALSE(one.interval) << "undisturbed it may be as short as any";
    EXPECT_TRUE(one.reason.empty());
  }
  const SpeedUp level = judge(quiet, disturbed_time(0.999, "the GPU throttled"));
  EXPECT_EQ(level.verdict, Verdict::inconclusive) << "a change may be hidden";
  EXPECT_EQ(level.reason.because, Because::disturbance_hides);
  EXPECT_FALSE(level.no_change_above);
  // The longer side's own disturbance counts as it does anywhere.
  EXPECT_EQ(judge(loud, lengthened_time(2, 3)).verdict, Verdict::slower);
  EXPECT_EQ(judge(loud, lengthened_time(1.2, 3)).verdict, Verdict::inconclusive);
  EXPECT_EQ(judge(loud, disturbed_time(5, "the GPU throttled")).verdict, Verdict::inconclusive);
}

TEST(Judge, TheSameCauseOnBothSidesIsOneHoweverMuchItWas) {
  Value before = disturbed_time(1, "another process used the GPU", "pid 1"),
        after = disturbed_time(2, "another process used the GPU", "pid 2");
  before.estimate->disturbed.rounds = 2;
  after.estimate->disturbed.rounds = 3;
  before.estimate->disturbed.of_rounds = after.estimate->disturbed.of_rounds = 5;
  EXPECT_EQ(why_disturbed({before, after}), Why(Because::both_disturbed, {"another process used the GPU"}));
  const Value throttled = disturbed_time(2, "the GPU throttled");
  EXPECT_EQ(why_disturbed({before, throttled}).because, Because::each_disturbed);
}

TEST(JudgeTogether, ADisturbedTimeMakesTheOthersNoLessSure) {
  const TimePair close{{estimate(1, 0.01), {}}, {estimate(1.0145, 0.01), {}}};
  std::vector<TimePair> pairs(9, {close.before, disturbed_time(1, "the GPU throttled")});
  pairs.push_back(close);
  const std::vector<SpeedUp> judged = judge_together(pairs);
  EXPECT_EQ(judged.front().verdict, Verdict::inconclusive);
  EXPECT_EQ(judged.back().verdict, Verdict::slower);
}

constexpr double step_of_the_clock = 15.0 / 1980;

Value at_clock(double time, double measured_clock) {
  Estimate made = estimate(time, 0.0005);
  made.sm_clock = {step_of_the_clock, measured_clock};
  return {made, {}};
}

Verdict of_two_runs(const Value& before, const Value& after) {
  const TimePair pair{before, after};
  return judge_together(std::span(&pair, 1)).front().verdict;
}

TEST(StepOfTheClock, IsNoVerdictWhereItMayHaveMadeTheChange) {
  const Value before = at_clock(1, 1.98e9);
  EXPECT_EQ(of_two_runs(before, at_clock(1.015, 1.98e9)), Verdict::slower) << "its cycles say it stood still";
  const TimePair stepped{before, at_clock(1.015, 1.9649e9)}, unknown{before, at_clock(1.015, 0)};
  const SpeedUp judged = judge_together(std::span(&stepped, 1)).front();
  EXPECT_EQ(judged.verdict, Verdict::inconclusive);
  EXPECT_EQ(judged.reason.because, Because::clock_step_counted);
  EXPECT_EQ(say(judged.reason),
            "without a step of the SM clock (0.8\u00a0%) it would be within 1.0\u00a0%: by its own cycles it "
            "ran at 1.980\u00a0GHz before and at 1.965\u00a0GHz after");
  EXPECT_FALSE(judged.more_rounds) << "of which each would have the same clock";
  EXPECT_EQ(judge_together(std::span(&unknown, 1)).front().reason.because, Because::clock_step);
  EXPECT_EQ(judge(stepped.before, stepped.after).verdict, Verdict::slower) << "in one run it hits both";
}

TEST(StepOfTheClock, HidesNoLargerChange) {
  const Value before = at_clock(1, 1.98e9);
  for (const double clock : {1.9649e9, 1.98e9, 1.5e9, 0.0}) {
    EXPECT_EQ(of_two_runs(before, at_clock(1.02, clock)), Verdict::slower) << clock;
    EXPECT_EQ(of_two_runs(at_clock(1.02, clock), before), Verdict::faster) << clock;
  }
}

TEST(StepOfTheClock, LeavesTheSameTheSame) {
  EXPECT_EQ(of_two_runs(at_clock(1, 1.98e9), at_clock(1.001, 1.9795e9)), Verdict::same);
  EXPECT_EQ(of_two_runs(at_clock(1, 1.98e9), at_clock(1 / 1.0076, 1.995e9)), Verdict::inconclusive)
      << "a change of up to 1.5 % could hide behind it";
}

TEST(Judge, SaysTheSmallestChangeThatTheDataExclude) {
  const Value before{estimate(1, 0.01), {}};
  EXPECT_FALSE(judge(before, {estimate(1.1, 0.01), {}}).no_change_above) << "it is a change";
  for (const double time : {0.99, 1.0, 1.01}) {
    const SpeedUp judged = judge(before, {estimate(time, 0.01), {}});
    const RatioTest test = test_ratio(rounds_of(*before), rounds_of(estimate(time, 0.01))).value();
    EXPECT_DOUBLE_EQ(*judged.no_change_above, std::max(test.interval.high, 1 / test.interval.low) - 1);
    EXPECT_EQ(judged.verdict == Verdict::same, *judged.no_change_above <= Thresholds{}.device) << time;
  }
}

/// What is sure alone need not be among many.
TEST(JudgeTogether, AdjustsForThemAll) {
  const TimePair close{{estimate(1, 0.01), {}}, {estimate(1.0145, 0.01), {}}},
      same{{estimate(1, 0.01), {}}, {estimate(1, 0.01), {}}};
  EXPECT_EQ(judge(close.before, close.after).verdict, Verdict::slower);
  std::vector<TimePair> many(9, same);
  many.push_back(close);
  const std::vector<SpeedUp> judged = judge_together(many);
  EXPECT_EQ(judged.back().verdict, Verdict::inconclusive);
  EXPECT_NEAR(*judged.back().p, 10 * *judge(close.before, close.after).p, 1e-12);
  EXPECT_EQ(judged.front().factor, judge(same.before, same.after).factor);
}

TEST(SpeedUp, HasTheIntervalOfTheTest) {
  const Estimate before = estimate(100, 0.02), after = estimate(50, 0.03);
  const SpeedUp gain = judge({before, {}}, {after, {}});
  const RatioTest test = test_ratio(rounds_of(before), rounds_of(after)).value();
  ASSERT_TRUE(gain);
  EXPECT_DOUBLE_EQ(*gain.factor, 2);
  ASSERT_TRUE(gain.interval);
  EXPECT_DOUBLE_EQ(gain.interval->low, 1 / test.interval.high);
  EXPECT_DOUBLE_EQ(gain.interval->high, 1 / test.interval.low);
  EXPECT_EQ(gain.p, test.p);
}

TEST(SpeedUp, IsAbsentWithAReason) {
  const Value one{estimate(1, 0), {}}, zero{estimate(0, 0), {}};
  EXPECT_EQ(judge(absent_value(said("no clock")), one).absent, said("no clock"));
  EXPECT_EQ(judge(one, absent_value(said("no clock"))).absent, said("no clock"));
  EXPECT_FALSE(judge(one, zero).absent.empty());
  EXPECT_FALSE(judge(zero, one).absent.empty());
  EXPECT_FALSE(judge(one, derived_value(0.5)).interval) << "an interval needs both";
}

TEST(IsLevel, NeedsIntervalsAndNothingBeyondDoubt) {
  const Value best{estimate(1, 0.01), {}};
  EXPECT_TRUE(is_level({estimate(1.008, 0.001), {}}, best)) << "less than the threshold";
  EXPECT_TRUE(is_level({estimate(1.2, 0.3), {}}, best)) << "they cannot be told apart";
  EXPECT_FALSE(is_level({estimate(1.1, 0.01), {}}, best));
  EXPECT_FALSE(is_level({of_unknown_spread, {}}, best)) << "nobody knows";
  EXPECT_FALSE(is_level(disturbed_time(1, "the GPU throttled"), best));
  EXPECT_FALSE(is_level({estimate(1, 0.01), {}}, disturbed_time(1, "the GPU throttled")));
}

TEST(IsLoss, FollowsTheQualitysOwnDirectionAndTolerance) {
  QualityInfo quality;
  quality.tolerance = 0.002;
  quality.better = Better::higher;
  EXPECT_TRUE(is_loss(quality, -0.003));
  EXPECT_FALSE(is_loss(quality, -0.001));
  EXPECT_FALSE(is_loss(quality, 0.5));
  quality.better = Better::lower;
  EXPECT_TRUE(is_loss(quality, 0.003));
  EXPECT_FALSE(is_loss(quality, -0.5));
  quality.better = Better::neither;
  EXPECT_TRUE(is_loss(quality, -0.003));
}

/// A run of one variant whose op times are these, under the id `id`.
Run run_of(const std::string& id, double time, double spread) {
  Run run = samples::empty_run();
  const VariantInfo info = samples::variant(id);
  run.variants = {info};
  run.cases = {samples::timed_case(info, 1000, 0.1, 0.1)};
  samples::set_samples(run.cases[0], "op_time", "layer1", samples::around(time, spread));
  samples::set_samples(run.cases[0], "group_time", "layer1", samples::around(time, spread));
  return run;
}

/// The verdict of a report in which the second of the two is a variant over the first.
SpeedUp reported(Run before, Run after) {
  after.variants[0].id = "conv/after";
  after.variants[0].baseline = before.variants[0].id;
  after.cases[0].key.variant = "conv/after";
  after.cases[0].id = "conv/after@1000";
  before.variants.push_back(after.variants[0]);
  before.cases.push_back(after.cases[0]);
  return analyse(before).families.at(0).variants.at(1).cases.at(0).ops.at(0).speed_up;
}

/// From far faster through level and noisy to far slower.
TEST(OneJudgement, AReportAndAComparisonOfAPairAgree) {
  std::set<Verdict> seen;
  for (const double factor : {0.5, 0.93, 0.96, 0.99, 1.0, 1.02, 1.049, 1.051, 1.07, 2.0}) {
    for (const double spread : {0.001, 0.02, 0.08}) {
      const mprof::Run before = run_of("conv/a", 0.1, spread), after = run_of("conv/a", 0.1 * factor, spread);
      const Comparison comparison = compare(before, after, {});
      const SpeedUp& compared = comparison.cases.at(0).times.at(0).speed_up;
      const SpeedUp judged = reported(before, after);
      EXPECT_EQ(compared.factor, judged.factor);
      EXPECT_GE(*compared.p, *judged.p) << "it is one of several there";
      if (compared.verdict == judged.verdict) {
        EXPECT_EQ(compared.more_rounds.has_value(), judged.more_rounds.has_value());
        if (judged.more_rounds)
          EXPECT_GE(*compared.more_rounds, *judged.more_rounds) << "it is one of several there";
        else
          EXPECT_EQ(compared.reason, judged.reason);
      } else {  // sure alone, and not among several
        EXPECT_EQ(compared.verdict, Verdict::inconclusive) << factor << " ± " << spread;
        EXPECT_LE(*judged.p, significance);
        EXPECT_GT(*compared.p, significance);
      }
      seen.insert(compared.verdict);
    }
  }
  EXPECT_EQ(seen.size(), 4U) << "every verdict occurs";
}

TEST(Judge, WithinARunTwoGpusAreNotTakenForAChange) {
  const auto on = [](double time, std::size_t gpu) {
    Value value{estimate(time, 0.001), {}};
    value.estimate->gpu = gpu;
    return value;
  };
  EXPECT_EQ(judge(on(1, 1), on(1.05, 1)).verdict, Verdict::slower);
  const SpeedUp open = judge(on(1, 1), on(1.05, 2));
  EXPECT_EQ(open.verdict, Verdict::inconclusive);
  EXPECT_EQ(open.reason.because, Because::other_gpus);
  EXPECT_EQ(judge(on(1, 1), on(1.1, 2)).verdict, Verdict::slower) << "more than GPUs differ by";
  EXPECT_EQ(judge(on(1, 0), on(1.05, 2)).verdict, Verdict::slower) << "one of them is a CPU's";
}

TEST(Judge, OfTwoRunsAChangeCountsByWhatExceedsThatOfTheirGpus) {
  const auto on = [](double time, std::size_t gpu, double spread = 0.001,
                     ClockSource clock = ClockSource::device) {
    Value value{estimate(time, spread, clock), {}};
    value.estimate->gpu = gpu;
    return value;
  };
  EXPECT_EQ(of_two_runs(on(1, 1), on(1.05, 1)), Verdict::slower);
  for (const double factor : {1.05, 1.08, 1.088}) {
    EXPECT_EQ(of_two_runs(on(1, 1), on(factor, 2)), Verdict::inconclusive) << factor;
    EXPECT_EQ(of_two_runs(on(factor, 1), on(1, 2)), Verdict::inconclusive) << "whichever is the first";
  }
  EXPECT_EQ(of_two_runs(on(1, 1), on(1.001, 2)), Verdict::same) << "that one can tell";
  EXPECT_EQ(of_two_runs(on(1, 1), on(1.1, 2)), Verdict::slower) << "more than GPUs differ by";
  EXPECT_EQ(of_two_runs(on(1.1, 1), on(1, 2)), Verdict::faster);
  EXPECT_EQ(of_two_runs(on(1, 1, 0.05), on(1.1, 2, 0.05)), Verdict::inconclusive) << "not surely more";
  EXPECT_EQ(of_two_runs(on(1, 0), on(1.05, 2)), Verdict::slower) << "of no GPU that is known";
  EXPECT_EQ(of_two_runs(on(1, 1, 0.001, ClockSource::host), on(1.05, 2, 0.001, ClockSource::host)),
            Verdict::slower)
      << "the host's time";
  const auto step_on = [&](double time, std::size_t gpu) {
    Value step = on(time, gpu, 0.001, ClockSource::host);
    step.estimate->sm_clock.step = 0.001;
    return step;
  };
  EXPECT_EQ(of_two_runs(step_on(1, 1), step_on(1.05, 2)), Verdict::inconclusive) << "a step of a program";
  EXPECT_EQ(of_two_runs(step_on(1, 1), step_on(1.05, 1)), Verdict::slower);
}

TEST(Judge, OfTwoGpusMoreRoundsAreAskedForWhereTheyWouldTell) {
  const auto on = [](double time, std::size_t gpu, double spread) {
    Value value{estimate(time, spread), {}};
    value.estimate->gpu = gpu;
    return value;
  };
  const auto judged = [&](double factor, std::size_t gpu, double spread = 0.03) {
    return judge_together(std::vector<TimePair>{{on(1, 1, spread), on(factor, gpu, spread)}}).front();
  };
  EXPECT_TRUE(judged(1.03, 1).more_rounds);
  EXPECT_FALSE(judged(1.03, 2).more_rounds) << "they would not tell whose the change is";
  EXPECT_EQ(judged(1.03, 2).reason.because, Because::other_gpus_run_on_one);
  EXPECT_TRUE(judged(1.001, 2, 0.01).more_rounds) << "that it is the same";
}

TEST(OneJudgement, CasesOfAMergedRunKnowWhichGpuTookThem) {
  mprof::Run run = samples::healthy();
  for (VariantInfo& info : run.variants) info.device = "cuda";
  for (const char* gpu : {"GPU-1", "GPU-2"}) run.parts.emplace_back().environment["gpu"]["UUID"] = gpu;
  for (std::size_t i = 0; i < run.cases.size(); ++i) run.parts[i % 2].cases.push_back(run.cases[i].id);
  derive_variation(run);
  for (std::size_t i = 0; i < run.cases.size(); ++i)
    EXPECT_EQ(value_of(run.cases[i], "total_time")->gpu, value_of(run.cases[i % 2], "total_time")->gpu)
        << run.cases[i].id;
  EXPECT_NE(value_of(run.cases[0], "total_time")->gpu, value_of(run.cases[1], "total_time")->gpu);
  EXPECT_NE(value_of(run.cases[0], "total_time")->gpu, 0U);
  run.parts[1].cases.push_back(run.cases[0].id);
  derive_variation(run);
  EXPECT_NE(value_of(run.cases[0], "total_time")->gpu, 0U);
  EXPECT_NE(value_of(run.cases[0], "total_time")->gpu, value_of(run.cases[2], "total_time")->gpu)
      << "two together are another number than one of them";
  for (VariantInfo& info : run.variants) info.device = "cpu";
  derive_variation(run);
  EXPECT_EQ(value_of(run.cases[1], "total_time")->gpu, 0U);
}

}  // namespace
}  // namespace mprof
