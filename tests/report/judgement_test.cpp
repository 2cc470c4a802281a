#include "report/analysis/judgement.hpp"

#include <set>

#include <gtest/gtest.h>

#include "report/analysis/analysis.hpp"
#include "report/analysis/compare.hpp"
#include "tests/report/sample_runs.hpp"

/// The one judgement, and that all who ask it agree.
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
  const SpeedUp judgement = judge({GetParam().before, {}}, {GetParam().after, {}}, 0.05);
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
  const SpeedUp gain = judge(before, after);
  ASSERT_TRUE(gain);
  EXPECT_DOUBLE_EQ(*gain.factor, 2);
  ASSERT_TRUE(gain.interval);
  EXPECT_DOUBLE_EQ(gain.interval->low, 1.5);
  EXPECT_DOUBLE_EQ(gain.interval->high, 110.0 / 45);
}

TEST(SpeedUp, IsAbsentWithAReason) {
  const Value one{estimate(1, 1, 1), {}}, zero{estimate(0, 0, 0), {}};
  EXPECT_EQ(judge(absent_value("no clock"), one).absent, "no clock");
  EXPECT_EQ(judge(one, absent_value("no clock")).absent, "no clock");
  EXPECT_FALSE(judge(one, zero).absent.empty());
  EXPECT_FALSE(judge(zero, one).absent.empty());
  EXPECT_FALSE(judge(one, derived_value(0.5)).interval) << "an interval needs both";
}

TEST(IsLevel, NeedsIntervalsAndNothingBeyondDoubt) {
  const Value best{estimate(0.99, 1, 1.01), {}};
  EXPECT_TRUE(is_level({estimate(1.02, 1.03, 1.04), {}}, best)) << "less than the threshold";
  EXPECT_TRUE(is_level({estimate(1.0, 1.2, 1.4), {}}, best)) << "they overlap";
  EXPECT_FALSE(is_level({estimate(1.09, 1.1, 1.11), {}}, best));
  EXPECT_FALSE(is_level({no_interval, {}}, best)) << "nobody knows";
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
      EXPECT_EQ(compared.verdict, judged.verdict) << factor << " ± " << spread;
      EXPECT_EQ(compared.reason, judged.reason);
      EXPECT_EQ(compared.factor, judged.factor);
      seen.insert(compared.verdict);
    }
  }
  EXPECT_EQ(seen.size(), 4U) << "every verdict occurs";
}

}  // namespace
}  // namespace mprof
