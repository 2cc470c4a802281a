// SPDX-License-Identifier: MIT
#include "report/analysis/machines/history.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "system/error.hpp"
#include "tests/report/history_runs.hpp"
#include "tests/report/sample_runs.hpp"

namespace mprof {
namespace {

using samples::daily;
using samples::noisy;

constexpr double a_run = 0.0013;  // how runs differ

/// 1 ms, and more by `step` from the run `at` on; runs differ by `deviation`.
samples::TimeInRun stepping(std::size_t at, double step, double deviation, std::uint64_t seed) {
  return [=](std::size_t i) { return 1e-3 * (i < at ? 1 : 1 + step) * noisy(deviation, 1000 * seed + i); };
}

samples::TimeInRun level(double deviation, std::uint64_t seed) {
  return stepping(0, 0, deviation, seed);
}

const HistorySeries& series_in(const History& history, const std::string& op, std::size_t machine = 0) {
  for (const HistorySeries& one : history.machines.at(machine).cases.at(0).series) {
    if (one.op == op) return one;
  }
  throw std::out_of_range(op);
}

std::string refused_history(std::vector<RecordedRun> runs, ExitCode code,
                            const HistoryOptions& options = {}) {
  try {
    (void)history_of(std::move(runs), options);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
}

TEST(History, AStepOfThreePercentIsToldBetweenItsTwoRuns) {
  const History history = history_of(daily(6, stepping(3, 0.03, a_run, 13), level(a_run, 2)), {});
  const auto& changes = series_in(history, "layer1").changes;
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].from, 2U);
  EXPECT_EQ(changes[0].to, 3U);
  EXPECT_EQ(changes[0].told_by, ToldBy::neighbours);
  EXPECT_EQ(changes[0].speed_up.verdict, Verdict::slower);
  EXPECT_NEAR(changes[0].ratio, 1.03, 0.008);
  EXPECT_LT(changes[0].speed_up.ratio_interval()->low, 1.03);
  EXPECT_GT(changes[0].speed_up.ratio_interval()->high, 1.03);
  EXPECT_TRUE(series_in(history, "layer2").changes.empty());
  EXPECT_EQ(history.changed(), 1U);
  EXPECT_EQ(history.series(), 3U);
}

TEST(History, AChangeMustExceedTheThreshold) {
  const auto runs = daily(6, stepping(3, 0.03, a_run, 1), level(a_run, 2));
  HistoryOptions generous;
  generous.thresholds = {.device = 0.05, .host = 0.05};
  EXPECT_EQ(history_of(runs, generous).changed(), 0U);
}

TEST(History, ManyRunsTellWhatTwoCannot) {
  // Rounds differ by so much that two runs say nothing of two percent.
  const auto step = stepping(12, -0.02, 0.0045, 3);
  const auto short_runs = daily(
      4, [&](std::size_t i) { return step(i + 10); }, level(0.0045, 4), 0.015);
  EXPECT_EQ(history_of(short_runs, {}).changed(), 0U);
  const History history = history_of(daily(24, step, level(0.0045, 4), 0.015), {});
  const auto& changes = series_in(history, "layer1").changes;
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].told_by, ToldBy::ranks);
  EXPECT_EQ(changes[0].speed_up.verdict, Verdict::faster);
  EXPECT_NEAR(static_cast<double>(changes[0].to), 12, 1);
  EXPECT_EQ(changes[0].from + 1, changes[0].to);
  EXPECT_NEAR(changes[0].ratio, 0.98, 0.006);
  EXPECT_EQ(history.changed(), 1U);
}

TEST(History, TwoStepsOfALongSeriesAreTold) {
  const auto times = [](std::size_t i) {
    return 1e-3 * (i < 10 ? 1 : i < 20 ? 1.04 : 0.99) * noisy(a_run, 500 + i);
  };
  const History history = history_of(daily(30, times, level(a_run, 6)), {});
  const auto& changes = series_in(history, "layer1").changes;
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].to, 10U);
  EXPECT_EQ(changes[1].to, 20U);
  EXPECT_EQ(changes[0].speed_up.verdict, Verdict::slower);
  EXPECT_EQ(changes[1].speed_up.verdict, Verdict::faster);
}

TEST(History, TheNewestRunOfALongSeriesIsJudgedAtOnce) {
  const History history = history_of(daily(20, stepping(19, 0.03, a_run, 7), level(a_run, 8)), {});
  const auto& changes = series_in(history, "layer1").changes;
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].to, 19U);
  EXPECT_EQ(changes[0].told_by, ToldBy::neighbours);
}

TEST(History, OneOddRunInTheMiddleOfALongSeriesIsNoChange) {
  const auto odd = [](std::size_t i) { return 1e-3 * (i == 12 ? 1.1 : 1) * noisy(a_run, 900 + i); };
  EXPECT_EQ(history_of(daily(24, odd, level(a_run, 9)), {}).changed(), 0U);
}

class Drifts : public testing::TestWithParam<std::size_t> {};

TEST_P(Drifts, AreToldFromFirstToLast) {
  const std::size_t count = GetParam();
  const double by = 0.04 / static_cast<double>(count - 1);
  const auto drifting = [&](std::size_t i) {
    return 1e-3 * (1 + by * static_cast<double>(i)) * noisy(0.0005, 300 + i);
  };
  const History history = history_of(daily(count, drifting, level(a_run, 5)), {});
  const auto& changes = series_in(history, "layer1").changes;
  ASSERT_EQ(changes.size(), 1U) << "no step, wherever one looks";
  EXPECT_EQ(changes[0].told_by, ToldBy::ends);
  EXPECT_EQ(changes[0].from, 0U);
  EXPECT_EQ(changes[0].to, count - 1);
  EXPECT_NEAR(changes[0].ratio, 1.04, 0.005);
  EXPECT_EQ(history.changed(), 1U);
}

INSTANTIATE_TEST_SUITE_P(ShortAndLong, Drifts, testing::Values(7U, 24U, 60U));

class Noise : public testing::TestWithParam<std::size_t> {};

TEST_P(Noise, IsNoChange) {
  std::size_t changed = 0;
  for (std::uint64_t seed = 20; seed < 60; ++seed)
    changed += history_of(daily(GetParam(), level(a_run, seed), level(a_run, 100 + seed)), {}).changed();
  EXPECT_LE(changed, 1U) << "of 40 histories";
}

INSTANTIATE_TEST_SUITE_P(ShortAndLong, Noise, testing::Values(2U, 6U, 10U, 11U, 30U));

TEST(History, DifferentMachinesAreToldApartAndNeverJoined) {
  std::vector<RecordedRun> runs;
  for (std::size_t i = 0; i < 4; ++i) {
    mprof::Run run = samples::on_day(i, i % 2 == 0 ? 1e-3 : 2e-3, 1e-3);
    if (i % 2 == 1) run.environment["cpu"]["model"] = "Another 9000";
    runs.push_back(recorded_run(run, fmt::format("{}", i)));
  }
  const History history = history_of(runs, {});
  ASSERT_EQ(history.machines.size(), 2U);
  EXPECT_EQ(history.machines[0].runs, (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(history.machines[1].runs, (std::vector<std::size_t>{1, 3}));
  EXPECT_EQ(history.changed(), 0U) << "the other machine is slower, the code is not";
  EXPECT_EQ(
      history.told_apart,
      std::vector<std::string>{"Run 1 and run 2 are of different machines: CPU model: Example EPYC 2000 in "
                               "run 1, Another 9000 in run 2."});
  EXPECT_EQ(series_in(history, "layer1", 1).points.size(), 2U);
}

TEST(History, AFactThatOneRunLacksIsNoOtherMachine) {
  mprof::Run second = samples::on_day(1, 1e-3, 1e-3);
  second.environment["cpu"]["model"] = Absent{"/proc/cpuinfo cannot be read"};
  const History history =
      history_of({recorded_run(samples::on_day(0, 1e-3, 1e-3), "a"), recorded_run(second, "b")}, {});
  EXPECT_EQ(history.machines.size(), 1U);
}

TEST(History, OfTwoRunsSaysWhatCompareSays) {
  const mprof::Run a = samples::healthy();
  mprof::Run b = samples::later();
  b.started = "2025-01-16T10:20:30Z";
  const History history = history_of({recorded_run(b, "b"), recorded_run(a, "a")}, {});
  const Comparison comparison = compare(a, b, {});
  EXPECT_EQ(history.runs[0].summary.name, "a") << "by when they started, not as they were named";
  std::size_t compared = 0;
  for (const HistoryCase& c : history.machines.at(0).cases) {
    const auto same = std::ranges::find(comparison.cases, c.key, &CaseComparison::key);
    ASSERT_NE(same, comparison.cases.end());
    for (const HistorySeries& series : c.series) {
      const auto time = std::ranges::find_if(same->times, [&](const TimeComparison& one) {
        return one.op == series.op && one.metric == series.metric;
      });
      ASSERT_NE(time, same->times.end());
      EXPECT_EQ(series.overall.speed_up.verdict, time->speed_up.verdict) << c.id << " " << series.op;
      EXPECT_EQ(series.overall.speed_up.p, time->speed_up.p);
      EXPECT_EQ(series.changes.size(), is_change(time->speed_up.verdict) ? 1U : 0U);
      ++compared;
    }
  }
  EXPECT_GT(compared, 20U);
}

TEST(History, ACaseThatIsMissingInTheMiddleIsJudgedAcrossTheGap) {
  std::vector<RecordedRun> runs;
  for (std::size_t i = 0; i < 6; ++i) {
    mprof::Run run = samples::on_day(i, i < 3 ? 1e-3 : 1.05e-3, 1e-3);
    if (i == 2) run.cases.clear();
    if (i == 3) {
      samples::timing(run.cases[0]).status = Status::wrong;
      samples::timing(run.cases[0]).reason = "layer1 differs";
    }
    runs.push_back(recorded_run(run, fmt::format("{}", i)));
  }
  const History history = history_of(runs, {});
  const HistorySeries& series = series_in(history, "layer1");
  EXPECT_EQ(series.timed(), 4U);
  EXPECT_EQ(series.points[2].time.absent, Why(Because::not_in_run));
  EXPECT_EQ(series.points[3].time.absent, Why(Because::case_ended, {"wrong", "layer1 differs"}))
      << "a wrong result has no time";
  ASSERT_EQ(series.changes.size(), 1U);
  EXPECT_EQ(series.changes[0].from, 1U);
  EXPECT_EQ(series.changes[0].to, 4U);
}

TEST(History, OneOpsGroupTimeInOneRunDecidesForAll) {
  std::vector<RecordedRun> runs = daily(3, level(a_run, 1), level(a_run, 2));
  runs[1].cases[0].times[0].is_by_group = true;
  const History history = history_of(runs, {});
  EXPECT_EQ(series_in(history, "layer1").metric, "group_time");
  EXPECT_EQ(series_in(history, "layer2").metric, "op_time");
}

TEST(History, ShowsTheVariantsAndTheOpThatAreAskedFor) {
  std::vector<RecordedRun> runs = daily(3, level(a_run, 1), level(a_run, 2));
  HistoryOptions one_op;
  one_op.op = "layer2";
  EXPECT_EQ(history_of(runs, one_op).series(), 1U);
  one_op.op = "total";
  EXPECT_EQ(history_of(runs, one_op).machines[0].cases[0].series.at(0).metric, "total_time");
  HistoryOptions by_pattern;
  by_pattern.variants = {"*/tiled"};
  EXPECT_EQ(history_of(runs, by_pattern).series(), 3U);
  by_pattern.variants = {"conv/tild"};
  EXPECT_NE(refused_history(runs, ExitCode::usage, by_pattern).find("Did you mean conv/tiled?"),
            std::string::npos);
  one_op.op = "layer3";
  EXPECT_NE(refused_history(runs, ExitCode::usage, one_op).find("layer1, layer2, total"), std::string::npos);
}

TEST(History, IsRefusedWhereThereIsNone) {
  std::vector<RecordedRun> runs = daily(2, level(a_run, 1), level(a_run, 2));
  EXPECT_NE(refused_history({runs[0]}, ExitCode::usage).find("two runs or more"), std::string::npos);
  mprof::Run elsewhere = samples::on_day(1, 1e-3, 1e-3);
  elsewhere.environment["cpu"]["model"] = "Another 9000";
  const std::string message =
      refused_history({runs[0], recorded_run(elsewhere, "elsewhere")}, ExitCode::incomparable);
  EXPECT_NE(message.find("Another 9000"), std::string::npos) << message;
  runs[1].cases.clear();
  EXPECT_NE(refused_history(runs, ExitCode::incomparable).find("no case has a time in two of them"),
            std::string::npos);
}

TEST(History, WithoutASpreadOnlyManyRunsTell) {
  // Nothing is known of how processes differ: two runs cannot be told apart, but many know their own spread.
  const auto step = stepping(10, 0.05, a_run, 11);
  std::vector<RecordedRun> runs = daily(20, step, level(a_run, 12));
  for (RecordedRun& run : runs) run.cases[0].times[0].time.estimate->between = {};
  const auto changes = series_in(history_of(runs, {}), "layer1").changes;
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].told_by, ToldBy::ranks);
  runs.resize(3);
  EXPECT_EQ(series_in(history_of(runs, {}), "layer1").overall.speed_up.reason,
            Why(Because::variation_unknown));
}

}  // namespace
}  // namespace mprof
