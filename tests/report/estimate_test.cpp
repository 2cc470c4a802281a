#include "report/analysis/estimate.hpp"

#include <gtest/gtest.h>

#include "tests/report/sample_runs.hpp"

namespace mprof {
namespace {

Estimate estimate(double low, double median, double high) {
  return {median, Interval{low, high}, 20, Source::measured};
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
  const Judgement judgement = judge(GetParam().before, GetParam().after, 0.05);
  EXPECT_EQ(judgement.verdict, GetParam().verdict) << GetParam().what << ": " << judgement.reason;
  EXPECT_EQ(judgement.reason.empty(), GetParam().verdict != Verdict::inconclusive) << GetParam().what;
}

const Estimate no_interval{1.0, std::nullopt, 3, Source::measured};

INSTANTIATE_TEST_SUITE_P(
    Rule, Verdicts,
    testing::Values(
        VerdictCase{"apart, 10 % less", estimate(0.99, 1, 1.01), estimate(0.89, 0.9, 0.91), Verdict::faster},
        VerdictCase{"apart, 10 % more", estimate(0.99, 1, 1.01), estimate(1.09, 1.1, 1.11), Verdict::slower},
        VerdictCase{"apart, but 4 % only", estimate(0.99, 1, 1.01), estimate(1.03, 1.04, 1.045),
                    Verdict::same},
        VerdictCase{"apart, 4.9 %, but wide", estimate(0.99, 1, 1.01), estimate(1.03, 1.049, 1.06),
                    Verdict::inconclusive},
        VerdictCase{"20 % more, overlapping", estimate(0.9, 1, 1.15), estimate(1.1, 1.2, 1.3),
                    Verdict::inconclusive},
        VerdictCase{"touching ends overlap", estimate(0.9, 1, 1.1), estimate(1.1, 1.2, 1.3),
                    Verdict::inconclusive},
        VerdictCase{"equal", estimate(0.99, 1, 1.01), estimate(0.99, 1, 1.01), Verdict::same},
        VerdictCase{"equal, but noisy", estimate(0.8, 1, 1.2), estimate(0.8, 1, 1.2), Verdict::inconclusive},
        VerdictCase{"one side noisy", estimate(0.99, 1, 1.01), estimate(0.9, 1, 1.1), Verdict::inconclusive},
        VerdictCase{"no interval before", no_interval, estimate(0.4, 0.5, 0.6), Verdict::inconclusive},
        VerdictCase{"no interval after", estimate(0.9, 1, 1.1), no_interval, Verdict::inconclusive},
        VerdictCase{"zero before", estimate(0, 0, 0), estimate(1, 1, 1), Verdict::inconclusive}));

TEST(SpeedUp, PairsTheFarEndsOfBothIntervals) {
  const Value before{estimate(90, 100, 110), {}}, after{estimate(45, 50, 60), {}};
  const SpeedUp gain = speed_up(before, after);
  ASSERT_TRUE(gain);
  EXPECT_DOUBLE_EQ(*gain.factor, 2);
  ASSERT_TRUE(gain.interval);
  EXPECT_DOUBLE_EQ(gain.interval->low, 1.5);
  EXPECT_DOUBLE_EQ(gain.interval->high, 110.0 / 45);
}

TEST(SpeedUp, IsAbsentWithAReason) {
  const Value one{estimate(1, 1, 1), {}}, zero{estimate(0, 0, 0), {}};
  EXPECT_EQ(speed_up(absent_value("no clock"), one).absent, "no clock");
  EXPECT_EQ(speed_up(one, absent_value("no clock")).absent, "no clock");
  EXPECT_FALSE(speed_up(one, zero).absent.empty());
  EXPECT_FALSE(speed_up(zero, one).absent.empty());
  EXPECT_FALSE(speed_up(one, derived_value(0.5)).interval) << "an interval needs both";
}

TEST(ValueOf, SaysWhyThereIsNone) {
  Case c = samples::timed_case(samples::variant("conv/a"), 100, 1, 2);
  EXPECT_DOUBLE_EQ(value_of(c, "op_time", "layer1")->median, 1);
  EXPECT_TRUE(value_of(c, "op_time", "layer1")->interval);
  EXPECT_FALSE(value_of(c, "accuracy")->interval) << "one sample";
  EXPECT_EQ(value_of(c, "flop_rate", "layer1")->source, Source::modelled);
  EXPECT_EQ(value_of(c, "cycles", "layer1").absent,
            "the kernel forbids hardware counters here (perf_event_paranoid is 3)");
  EXPECT_EQ(value_of(c, "nonsense").absent, "not recorded");
  const Case skipped =
      samples::failed_case(samples::variant("conv/b"), 100, Status::skipped, "no CUDA device");
  EXPECT_EQ(value_of(skipped, "op_time", "layer1").absent, "skipped: no CUDA device");
}

TEST(ComparableTime, IsLayerTimeWhereTheWorkHidesFromOpTime) {
  Case c = samples::timed_case(samples::variant("conv/streams"), 100, 1e-6, 1);
  EXPECT_EQ(comparable_time(c, "layer1"), "layer_time") << "no memory is so fast, though there is no trace";
  EXPECT_EQ(comparable_time(c, "layer2"), "op_time") << "nothing is known of gpu_time";
  samples::timing(c).measurements.push_back(samples::measured("gpu_time", "layer1", {2e-3}));
  samples::timing(c).measurements.push_back(samples::measured("gpu_time", "layer2", {1.01}));
  EXPECT_EQ(comparable_time(c, "layer1"), "layer_time");
  EXPECT_EQ(comparable_time(c, "layer2"), "op_time");
}

}  // namespace
}  // namespace mprof
