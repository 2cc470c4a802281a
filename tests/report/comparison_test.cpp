// SPDX-License-Identifier: MIT
#include "report/wording/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "model/derive/derive.hpp"
#include "model/statistics/median.hpp"
#include "report/analysis/judgement/likeness.hpp"
#include "report/page/charts.hpp"
#include "report/page/comparison_page.hpp"
#include "report/views/comparison_charts.hpp"
#include "report/views/views.hpp"
#include "report/wording/why.hpp"
#include "system/error.hpp"
#include "tests/report/sample_runs.hpp"

namespace mprof {
namespace {

using nlohmann::json;

const CaseComparison& pair_of(const Comparison& comparison, std::string_view id) {
  const auto found = std::find_if(comparison.cases.begin(), comparison.cases.end(),
                                  [&](const CaseComparison& c) { return c.id == id; });
  if (found == comparison.cases.end()) throw std::out_of_range(std::string(id));
  return *found;
}

std::vector<std::string> texts(const Comparison& comparison, const CaseComparison& c) {
  std::vector<std::string> list;
  for (const Regression& regression : c.regressions)
    list.push_back(regression_text(words_of(comparison, c), c, regression));
  return list;
}

std::string refusal(const Run& a, const Run& b, const CompareOptions& options = {}) {
  try {
    (void)compare(a, b, options);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::incomparable);
    return error.what();
  }
}

TEST(Compare, ARunWithItselfIsTheSame) {
  const Comparison comparison = compare(samples::healthy(), samples::healthy(), {});
  EXPECT_FALSE(comparison.regression());
  EXPECT_EQ(comparison.count(Verdict::same), 12U * 3);
  EXPECT_TRUE(comparison.only_in_a.empty());
  EXPECT_TRUE(comparison.only_in_b.empty());
  EXPECT_TRUE(comparison.notes.empty());
}

/// A run whose times wander by some 40 % from sample to sample, as `state` says of each sample.
Run wandering(Run run, double of_copied, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  for (Case& c : run.cases) {
    std::mt19937_64 machine(std::hash<std::string>{}(c.id));  // the same for both sides
    for (Measurement& row : c.passes.at(0).measurements) {
      if (row.metric != "op_time" && row.metric != "group_time" && row.metric != "total_time") continue;
      const double time = row.samples.at(0);
      row.rounds = {6, 6, 6, 6, 6};
      row.samples.assign(30, time);
      for (double& sample : row.samples) {
        const double factor = c.key.variant == "conv/cpu_threads" ? of_copied : 1;
        sample *= factor * std::exp(0.15 * normal(machine)) * std::exp(0.005 * normal(random));
      }
    }
    c.passes.at(0).rounds.assign(5, c.passes.at(0).sampling.value());
  }
  derive_variation(run);
  return run;
}

TEST(Compare, SamplesThatWereTakenInTurnsShowWhatTheMachineHidesOtherwise) {
  mprof::Run before = wandering(samples::healthy(), 1, 1), after = wandering(samples::healthy(), 1.05, 2);
  const Comparison apart = compare(before, after, {});
  EXPECT_GT(apart.count(Verdict::inconclusive), 0U);
  before.in_turns = after.in_turns = true;
  const Comparison in_turns = compare(before, after, {});
  for (const CaseComparison& c : in_turns.cases) {
    for (const TimeComparison& time : c.times) {
      const bool is_slower = c.key.variant == "conv/cpu_threads";
      EXPECT_EQ(time.speed_up.verdict, is_slower ? Verdict::slower : Verdict::same)
          << c.id << " " << time.metric << ": " << say(time.speed_up.reason);
      EXPECT_NEAR(time.ratio.value(), is_slower ? 1.05 : 1, 0.01);
    }
  }
  ASSERT_EQ(in_turns.notes.size(), 1U);
  EXPECT_TRUE(in_turns.notes[0].starts_with("Both sides were measured in turns"));
}

TEST(Compare, FindsWhatBecameWorse) {
  const Comparison comparison = compare(samples::healthy(), samples::later(), {});
  EXPECT_TRUE(comparison.regression());
  const CaseComparison& slower = pair_of(comparison, "conv/cpu_threads@1000");
  EXPECT_EQ(slower.times[1].speed_up.verdict, Verdict::slower);
  EXPECT_NEAR(*slower.times[1].ratio, 1.12, 1e-9);
  EXPECT_NEAR(*slower.times[1].speed_up.factor, 1 / 1.12, 1e-9);
  EXPECT_EQ(texts(comparison, slower), std::vector<std::string>{"layer2 slower by 12.0\u00a0%"});
  const CaseComparison& wrong = pair_of(comparison, "conv/cpu_im2col_gemm@1000");
  EXPECT_TRUE(wrong.times.empty()) << "a wrong result has no speed";
  EXPECT_EQ(texts(comparison, wrong), std::vector<std::string>{"was ok, is wrong"});
  EXPECT_EQ(texts(comparison, pair_of(comparison, "conv/cpu_onednn@10000")),
            std::vector<std::string>{"accuracy \u22120.0056"});
  EXPECT_EQ(pair_of(comparison, "conv/cpu_onednn@1000").times[0].speed_up.verdict, Verdict::faster);
  EXPECT_TRUE(pair_of(comparison, "conv/cpu_onednn@1000").regressions.empty());
  EXPECT_EQ(pair_of(comparison, "conv/cpu_naive@100").times[0].speed_up.verdict, Verdict::inconclusive);
  EXPECT_EQ(comparison.only_in_a, std::vector<std::string>{"conv/cpu_naive@10000"});
  EXPECT_EQ(compare(samples::later(), samples::healthy(), {}).only_in_b,
            std::vector<std::string>{"conv/cpu_naive@10000"});
}

TEST(Compare, ATimeThatWasDisturbedIsNoRegression) {
  mprof::Run later = samples::later();
  for (Case& c : later.cases) {
    if (c.id != "conv/cpu_threads@1000") continue;
    for (Measurement& row : samples::timing(c).measurements) {
      if (row.metric == "op_time") row.derived.own().disturbed = "the GPU throttled";
    }
  }
  const Comparison comparison = compare(samples::healthy(), later, {});
  const CaseComparison& slower = pair_of(comparison, "conv/cpu_threads@1000");
  EXPECT_EQ(slower.times[1].speed_up.verdict, Verdict::inconclusive);
  EXPECT_EQ(slower.times[1].speed_up.reason, Why(Because::disturbance_unbounded, {}, {},
                                                 {Why(Because::second_disturbed, {"the GPU throttled"})}));
  EXPECT_TRUE(slower.regressions.empty());
  EXPECT_NE(render_comparison(comparison, "text", {120, {}}).find("B was disturbed: the GPU throttled"),
            std::string::npos);
}

struct StatusChange {
  Status before, after;
  bool regression;
};

class StatusChanges : public testing::TestWithParam<StatusChange> {};

TEST_P(StatusChanges, FromOkToBrokenIsARegression) {
  mprof::Run a = samples::healthy();
  a.cases.resize(2);  // the other one is ok in both
  mprof::Run b = a;
  samples::timing(a.cases[0]).status = GetParam().before;
  samples::timing(b.cases[0]).status = GetParam().after;
  EXPECT_EQ(compare(a, b, {}).regression(), GetParam().regression)
      << to_string(GetParam().before) << " -> " << to_string(GetParam().after);
}

INSTANTIATE_TEST_SUITE_P(All, StatusChanges,
                         testing::Values(StatusChange{Status::ok, Status::ok, false},
                                         StatusChange{Status::ok, Status::wrong, true},
                                         StatusChange{Status::ok, Status::failed, true},
                                         StatusChange{Status::ok, Status::crashed, true},
                                         StatusChange{Status::ok, Status::timeout, true},
                                         StatusChange{Status::ok, Status::skipped, false},
                                         StatusChange{Status::ok, Status::pending, false},
                                         StatusChange{Status::wrong, Status::wrong, false},
                                         StatusChange{Status::wrong, Status::ok, false}));

TEST(Compare, TheThresholdDecides) {
  CompareOptions generous;
  generous.thresholds = {.device = 0.15, .host = 0.15};
  const Comparison comparison = compare(samples::healthy(), samples::later(), generous);
  EXPECT_EQ(pair_of(comparison, "conv/cpu_threads@1000").times[1].speed_up.verdict, Verdict::same);
}

TEST(Compare, RefusesRunsWithoutACommonCase) {
  mprof::Run a = samples::healthy(), b = samples::healthy();
  std::erase_if(a.cases, [](const Case& c) { return samples::batch_of(c) == 100; });
  std::erase_if(b.cases, [](const Case& c) { return samples::batch_of(c) != 100; });
  EXPECT_NE(refusal(a, b).find("no case in common"), std::string::npos);
  EXPECT_NE(refusal(samples::empty_run(), samples::empty_run()).find("no case in common"), std::string::npos);
}

TEST(Compare, RefusesRunsOfWhichNothingIsDoneInBoth) {
  mprof::Run a = samples::healthy(), b = samples::healthy();
  for (Case& c : b.cases) samples::timing(c).status = Status::interrupted;
  EXPECT_NE(refusal(a, b).find("common cases is done in both"), std::string::npos) << refusal(a, b);
  samples::timing(b.cases[0]).status = Status::crashed;
  EXPECT_TRUE(compare(a, b, {}).regression());
}

/// As on a machine that cannot run the first `count` cases.
void skip_first(mprof::Run& run, std::size_t count, const std::string& reason) {
  for (std::size_t i = 0; i < count; ++i) {
    PassResult& pass = samples::timing(run.cases[i]);
    pass.status = Status::skipped;
    pass.reason = reason;
    pass.measurements.clear();
  }
}

TEST(Compare, RefusalsTellWhatWasSkippedInBoth) {
  mprof::Run a = samples::healthy(), b = samples::healthy();
  for (Case& c : b.cases) samples::timing(c).status = Status::interrupted;
  for (mprof::Run* run : {&a, &b}) skip_first(*run, 4, "no GPU");
  EXPECT_NE(refusal(a, b).find("none of their 8 common cases is done in both (beside 4 skipped in both)"),
            std::string::npos)
      << refusal(a, b);
  for (mprof::Run* run : {&a, &b}) skip_first(*run, 12, "no GPU");
  EXPECT_NE(
      refusal(a, b).find("none of their 12 common cases was run in either (conv/cpu_naive@100: no GPU)"),
      std::string::npos)
      << refusal(a, b);
  skip_first(b, 12, "the GPU is gone");
  EXPECT_NE(refusal(a, b).find("none of their 12 common cases is done in both. "), std::string::npos)
      << "for another reason: " << refusal(a, b);
}

TEST(Compare, ARegressionIsOfTheTimeThatIsSlower) {
  mprof::Run a = samples::healthy(), b = samples::healthy();
  b.started = "2026-11-02T00:00:00Z";
  for (Measurement& row : samples::timing(b.cases[0]).measurements) {
    if (row.metric == "group_time" && row.op == "layer1") {
      for (double& sample : row.samples) sample *= 3;
    }
  }
  const Comparison comparison = compare(a, b, {});
  ASSERT_FALSE(comparison.cases[0].regressions.empty());
  EXPECT_EQ(comparison.cases[0].regressions[0].kind, Worse::slower);
  const TimeComparison& slow = comparison.cases[0].times.at(comparison.cases[0].regressions[0].which);
  EXPECT_EQ(slow.metric, "group_time");
  EXPECT_EQ(slow.op, "layer1");
  EXPECT_NE(comparison_junit(comparison).find("layer1 (layer time) slower by"), std::string::npos);
}

TEST(Compare, MeansLeaveOutWhatWasDisturbed) {
  mprof::Run a = samples::healthy(), b = samples::healthy();
  b.started = "2026-11-02T00:00:00Z";
  const MeanRatio quiet = compare(a, b, {}).mean_of_ops();
  EXPECT_DOUBLE_EQ(quiet.ratio, 1);
  for (Measurement& row : samples::timing(b.cases[0]).measurements) {
    row.derived.own().disturbed = "4 devices of the host were measured side by side";
    for (double& sample : row.samples) sample *= 3;
  }
  const MeanRatio beside = compare(a, b, {}).mean_of_ops();
  EXPECT_LT(beside.count, quiet.count);
  EXPECT_DOUBLE_EQ(beside.ratio, 1);
}

TEST(Compare, MeansSayHowManyTheyLeaveOut) {
  mprof::Run a = samples::healthy(), b = samples::healthy();
  b.started = "2026-11-02T00:00:00Z";
  EXPECT_EQ(render_comparison(compare(a, b, {}), "md").find("left out: disturbed"), std::string::npos);
  for (Measurement& row : samples::timing(b.cases[0]).measurements)
    row.derived.own().disturbed = "the GPU throttled";
  EXPECT_NE(render_comparison(compare(a, b, {}), "md").find("of 22 op times (2 left out: disturbed) and"),
            std::string::npos)
      << render_comparison(compare(a, b, {}), "md");
}

/// A program has no op but itself, and no time of one.
TEST(Compare, WithoutATimeOnEitherSideThereIsNoRow) {
  mprof::Run a = samples::healthy(), b = samples::healthy();
  for (mprof::Run* run : {&a, &b}) {
    for (Measurement& row : samples::timing(run->cases[0]).measurements) {
      if (row.op != "layer1" || (row.metric != "op_time" && row.metric != "group_time")) continue;
      row.samples.clear();
      row.absent = "not recorded";
    }
  }
  const Comparison comparison = compare(a, b, {.fail_on = {.inconclusive = true}});
  EXPECT_EQ(comparison.cases[0].times.size(), 2U);
  EXPECT_FALSE(comparison.failed());
  EXPECT_NE(render_comparison(comparison, "text").find("No regression."), std::string::npos);
}

TEST(Compare, NamesOtherArgumentsOfAProgram) {
  mprof::Run a = samples::healthy(), b = samples::healthy();
  a.variants[0].command = {"./a.out", "data.bin", "1"};
  b.variants[0].command = {"./a.out", "data.bin", "2"};
  EXPECT_EQ(
      compare(a, b, {}).notes,
      std::vector<std::string>{a.variants[0].id +
                               ": the command differs: ./a.out data.bin 1 in A, ./a.out data.bin 2 in B"});
  EXPECT_TRUE(compare(a, a, {}).notes.empty());
}

/// Of 12 cases the first one's op takes 3.7 times as long, and nothing bounds what disturbed it.
Comparison with_an_open_change() {
  mprof::Run b = samples::healthy();
  b.started = "2026-11-02T00:00:00Z";
  for (Measurement& row : samples::timing(b.cases[0]).measurements) {
    if (row.op != "layer1" || row.metric != "op_time") continue;
    row.derived.own().disturbed = "the GPU throttled";
    for (double& sample : row.samples) sample *= 3.7;
  }
  return compare(samples::healthy(), b, {});
}

/// With plain blanks.
std::string plain(std::string text) {
  constexpr std::string_view no_break = "\u00a0";
  for (std::size_t at = 0; (at = text.find(no_break, at)) != std::string::npos;)
    text.replace(at, no_break.size(), " ");
  return text;
}

TEST(Summaries, DoNotSayThatThereIsNoRegressionWhereThatIsNotKnown) {
  const Comparison comparison = with_an_open_change();
  EXPECT_FALSE(comparison.regression());
  const std::string headline =
      "No regression found; 1 of 36 times is undecided, by +270.0 % (conv/cpu_naive@100, layer1: B was "
      "disturbed: the GPU throttled, and nothing recorded bounds how much).";
  for (const char* format : {"text", "md"}) {
    const std::string text = plain(render_comparison(comparison, format, {.width = 400}));
    EXPECT_NE(text.find(headline), std::string::npos) << text;
  }
  const std::string same = render_comparison(compare(samples::healthy(), samples::healthy(), {}), "md");
  EXPECT_NE(same.find("No regression."), std::string::npos) << same;
}

TEST(Summaries, TheStepSummaryAndJUnitNameWhatIsUndecidedBeyondTheThreshold) {
  const Comparison comparison = with_an_open_change();
  const std::string named = "layer1 +270.0 %: B was disturbed: the GPU throttled";
  const std::string summary = plain(render_step_summary(comparison));
  EXPECT_NE(summary.find("**Undecided beyond the threshold**"), std::string::npos) << summary;
  EXPECT_NE(summary.find(named), std::string::npos) << summary;
  const std::string junit = plain(comparison_junit(comparison));
  EXPECT_NE(junit.find("layer1 +270.0 %: B was disturbed"), std::string::npos) << junit;
  mprof::Run b = samples::healthy();
  b.started = "2026-11-02T00:00:00Z";
  EXPECT_EQ(render_step_summary(compare(samples::healthy(), b, {})).find("Undecided"), std::string::npos);
}

TEST(Compare, RefusesOtherMachinesUnlessAllowed) {
  mprof::Run other = samples::healthy();
  other.environment["cpu"]["model"] = "Another 9000";
  const std::string message = refusal(samples::healthy(), other);
  EXPECT_NE(message.find("Another 9000"), std::string::npos);
  EXPECT_NE(message.find("--allow-different-machines"), std::string::npos);
  CompareOptions allowed;
  allowed.allow_different_machines = true;
  const Comparison comparison = compare(samples::healthy(), other, allowed);
  EXPECT_EQ(texts_of(comparison.unlike),
            std::vector<std::string>{"CPU model: Example EPYC 2000 in A, Another 9000 in B"});
  for (const char* format : {"text", "md", "html"}) {
    const std::string text = render_comparison(comparison, format, {80, {}});
    EXPECT_LT(text.find("Another 9000"), text.find("Median times")) << format << " must begin with it";
  }
}

TEST(Compare, AFactThatOneRunLacksIsNoOtherMachine) {
  mprof::Run other = samples::healthy();
  other.environment["cpu"]["model"] = Absent{"/proc/cpuinfo cannot be read"};
  EXPECT_EQ(refusal(samples::healthy(), other), "");
}

struct Condition {
  const char* group;
  const char* name;
  Fact a, b;
  bool stops;
};

/// For names of tests and messages.
// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest's name
void PrintTo(const Condition& condition, std::ostream* out) {
  *out << condition.group << ' ' << condition.name;
}

class Conditions : public testing::TestWithParam<Condition> {};

TEST_P(Conditions, StopOrAreNamed) {
  mprof::Run a = samples::gpu(), b = samples::gpu();
  a.environment[GetParam().group][GetParam().name] = GetParam().a;
  b.environment[GetParam().group][GetParam().name] = GetParam().b;
  const std::string message = refusal(a, b);
  EXPECT_EQ(message.empty(), !GetParam().stops) << message;
  if (GetParam().stops) {
    EXPECT_NE(message.find(GetParam().name), std::string::npos) << message;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Conditions,
                         testing::Values(Condition{"gpu", "name", "NVIDIA H200", "NVIDIA L4", true},
                                         Condition{"gpu", "driver", "570.1", "580.2", true},
                                         Condition{"gpu", "power limit", 700.0, 500.0, true},
                                         Condition{"gpu", "SM clock maximum", 1.98e9, 1.5e9, true},
                                         Condition{"gpu", "memory clock maximum", 3.2e9, 2.6e9, true},
                                         Condition{"gpu", "ECC", "on", "off", true},
                                         Condition{"gpu", "MIG", "on", "off", true},
                                         Condition{"build", "build type", "Release", "Debug", true},
                                         Condition{"cpu", "cores", 2.0, 4.0, true},
                                         Condition{"gpu", "SM clock", 345e6, 1.98e9, false},
                                         Condition{"gpu", "UUID", "GPU-1", "GPU-2", false},
                                         Condition{"libraries", "cuBLAS", "13.0", "13.1", false}));

/// A GPU run whose op times the GPU's own clock took.
mprof::Run by_gpu_clock() {
  mprof::Run run = samples::gpu();
  for (Case& c : run.cases) {
    for (Measurement& row : samples::timing(c).measurements) {
      if (row.metric == "op_time") row.derived.own().clock = ClockSource::device;
    }
  }
  return run;
}

const TimeComparison& time_of(const CaseComparison& c, std::string_view metric) {
  return *std::ranges::find(c.times, metric, &TimeComparison::metric);
}

TEST(Compare, OtherCoresTouchHostTimesAlone) {
  mprof::Run a = by_gpu_clock(), b = by_gpu_clock();
  a.environment["cpu"]["cores"] = 64.0;
  b.environment["cpu"]["cores"] = 16.0;
  samples::set_samples(b.cases[0], "op_time", "layer1", samples::around(0.0042));
  for (Measurement& row : samples::timing(b.cases[0]).measurements) {
    if (row.metric == "op_time") row.derived.own().clock = ClockSource::device;
  }
  const Comparison comparison = compare(a, b, {});
  const CaseComparison& c = comparison.cases.at(0);
  EXPECT_EQ(time_of(c, "op_time").speed_up.verdict, Verdict::slower);
  const TimeComparison& total = time_of(c, "total_time");
  EXPECT_TRUE(total.is_incomparable);
  EXPECT_FALSE(total.ratio);
  EXPECT_EQ(say(total.speed_up.reason, of_runs),
            "the conditions that it depends on differ: CPU cores: 64 in A, 16 in B");
  EXPECT_EQ(comparison.count(Verdict::slower), 1U);
  EXPECT_EQ(comparison.mean_of_totals().count, 0U);
  const std::string text = render_comparison(comparison, "text", {200, {}});
  EXPECT_NE(text.find("times that depend on them are not compared.\n  CPU cores: 64 in A, 16 in B (host "
                      "times)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("incomparable"), std::string::npos);
}

TEST(Compare, IncomparableTimesAreNeitherUndecidedNorSilent) {
  mprof::Run a = by_gpu_clock(), b = by_gpu_clock();
  b.environment["cpu"]["model"] = "Another 9000";
  Comparison comparison = compare(a, b, {});
  EXPECT_EQ(comparison.count(Verdict::inconclusive), 0U);
  EXPECT_GT(comparison.incomparable(), 0U);
  EXPECT_EQ(comparison.cases.at(0).importance, Importance::unchanged) << "its op times are the same";
  EXPECT_FALSE(comparison.failed());
  comparison.fail_on.inconclusive = true;
  EXPECT_TRUE(comparison.failed()) << "a gate that wants an answer has none";
}

TEST(Compare, AnotherGpuIsNothingToTheCpu) {
  mprof::Run a = samples::healthy(), b = samples::healthy();
  a.environment["gpu"]["driver"] = "570.1";
  b.environment["gpu"]["driver"] = "580.2";
  const Comparison comparison = compare(a, b, {});
  EXPECT_EQ(comparison.incomparable(), 0U);
  EXPECT_TRUE(comparison.unlike.empty());
  EXPECT_EQ(comparison.notes, std::vector<std::string>{"GPU driver: 570.1 in A, 580.2 in B"});
}

TEST(Compare, WhatIsNoLongerRightIsToldUnderWhateverConditions) {
  mprof::Run a = samples::healthy(), b = samples::healthy();
  b.environment["cpu"]["model"] = "Another 9000";
  EXPECT_NE(refusal(a, b), "");
  samples::timing(b.cases[0]).status = Status::wrong;
  const Comparison comparison = compare(a, b, {});
  EXPECT_TRUE(comparison.regression());
  EXPECT_EQ(comparison.timed(), 0U);
}

InputFile input_of(const std::string& path, const std::string& checksum) {
  InputFile file;
  file.family = "conv";
  file.name = "data";
  file.path = path;
  file.checksum = checksum;
  return file;
}

TEST(Compare, OtherContentsOfAnInputStop) {
  mprof::Run a = samples::healthy(), b = samples::healthy();
  a.inputs = {input_of("/a/one", "sha256:aa"), input_of("/a/two", "sha256:bb")};
  b.inputs = {input_of("/b/one", "sha256:aa"), input_of("/b/two", "sha256:cc")};
  const std::string message = refusal(a, b);
  EXPECT_NE(message.find("Contents of input data: two (sha256:bb) in A, two (sha256:cc) in B"),
            std::string::npos)
      << message;
  EXPECT_EQ(message.find("one ("), std::string::npos) << message;
  b.inputs[1].checksum = "sha256:bb";
  EXPECT_TRUE(compare(a, b, {}).notes.empty()) << "the same contents elsewhere are the same input";
  b.inputs.pop_back();
  EXPECT_EQ(refusal(a, b), "") << "what one run did not read is no other input";
}

TEST(Compare, WhatPassesIsNotWorthAWord) {
  mprof::Run a = samples::healthy(), b = samples::healthy();
  a.environment["gpu"]["time of an empty op"] = 3.1e-6;
  b.environment["gpu"]["time of an empty op"] = 3.2e-6;
  EXPECT_TRUE(compare(a, b, {}).notes.empty());
}

TEST(Compare, ALibraryThatOneRunDidNotNeedIsNoDifference) {
  mprof::Run a = samples::healthy(), b = samples::healthy();
  b.environment["libraries"]["cuDNN"] = "9.10";
  EXPECT_TRUE(compare(a, b, {}).notes.empty());
  EXPECT_TRUE(compare(b, a, {}).notes.empty());
}

TEST(Compare, NotesOtherDifferences) {
  const Comparison comparison = compare(samples::healthy(), samples::later(), {});
  EXPECT_EQ(comparison.notes,
            (std::vector<std::string>{"mprof revision: 0123456789ab in A, fedcba987654 in B",
                                      "Libraries, onednn: 2.6.0 in A, 3.0.0 in B"}));
}

TEST(Compare, HowManyGpusAProcessSeesIsNoOtherMachine) {
  mprof::Run a = samples::healthy(), b = samples::healthy();
  a.environment["gpu"]["GPUs"] = 4.0;
  b.environment["gpu"]["GPUs"] = 1.0;
  EXPECT_TRUE(compare(a, b, {}).notes.empty());
  for (const char* gpu : {"GPU-1", "GPU-2"}) {
    RunPart& part = a.parts.emplace_back();
    part.environment["gpu"]["UUID"] = gpu;
    part.cases = {a.cases[a.parts.size()].id};
  }
  a.environment["gpu"]["UUID"] = b.environment["gpu"]["UUID"] = "GPU-1";
  EXPECT_EQ(compare(a, b, {}).notes, std::vector<std::string>{"GPUs that measured: 2 in A, 1 in B"});
}

TEST(Compare, RunsOfASideMayHaveSeenOtherNumbersOfGpus) {
  std::vector<mprof::Run> runs(2, samples::healthy());
  runs[0].environment["gpu"]["GPUs"] = 4.0;
  runs[1].environment["gpu"]["GPUs"] = 1.0;
  runs[1].started = "2026-11-02T00:00:00Z";
  EXPECT_NO_THROW(require_one_origin(runs, {"a1", "a2"}));
  runs[1].environment["cpu"]["model"] = "another";
  EXPECT_THROW(require_one_origin(runs, {"a1", "a2"}), Error);
}

TEST(Compare, NotesWhatWasChosenOtherwise) {
  mprof::Run a = samples::healthy(), b = samples::healthy();
  a.cases[0].passes[0].choices = {{"small", "engine 1"}, {"large", "engine 2"}, {"huge", "engine 2"}};
  b.cases[0].passes[0].choices = {{"small", "engine 1"}, {"large", "engine 3"}};
  EXPECT_EQ(compare(a, b, {}).notes,
            std::vector<std::string>{a.cases[0].id + " chose for large: engine 2 in A, engine 3 in B"});
}

TEST(Compare, WithoutASpreadNothingIsSure) {
  mprof::Run a = samples::healthy(), b = samples::healthy();
  samples::set_samples(b.cases[0], "op_time", "layer1", {0.5, 0.5, 0.5});
  const Comparison comparison = compare(a, b, {});
  EXPECT_EQ(comparison.cases[0].times[0].speed_up.verdict, Verdict::inconclusive);
  EXPECT_EQ(comparison.cases[0].times[0].speed_up.reason, Why(Because::variation_unknown));
  EXPECT_FALSE(comparison.regression());
}

json chart_of(const Comparison& comparison, std::string_view kind) {
  for (const json& chart : comparison_charts(comparison).charts) {
    if (chart["kind"] == kind) return chart;
  }
  return json::object();
}

std::size_t points_of(const json& chart, std::string_view series) {
  for (const json& one : chart["series"]) {
    if (one["name"] == series) return one["points"].size();
  }
  return 0;
}

TEST(ComparisonCharts, TheForestHoldsEachRatioByItsVerdictAndTheLargestChangeFirst) {
  const Comparison comparison = compare(samples::healthy(), samples::later(), {});
  const json chart = chart_of(comparison, "forest");
  for (const Verdict verdict : {Verdict::faster, Verdict::slower, Verdict::same, Verdict::inconclusive})
    EXPECT_EQ(points_of(chart, to_string(verdict)), comparison.count(verdict)) << to_string(verdict);
  EXPECT_EQ(chart["rows"][0], "cpu_onednn@1000\nlayer1") << "1 / 0.8 is more than 1.12";
  EXPECT_EQ(chart["tags"].size(), chart["rows"].size());
  EXPECT_EQ(chart["tags"][0], json::parse(R"({"verdict": "faster", "text": "cpu_onednn@1000 layer1"})"));
  const json& slower = chart["series"][0]["points"][0];
  EXPECT_NEAR(slower["value"], 1.12, 1e-5);
  EXPECT_LT(slower["low"], slower["value"]);
  EXPECT_EQ(slower["threshold"], 0.03) << "by the host's clock";
}

TEST(ComparisonCharts, WhatWasDisturbedComesLastHoweverFarItIs) {
  mprof::Run later = samples::later();
  for (Measurement& row : samples::timing(later.cases[0]).measurements) {
    row.derived.own().disturbed = "4 devices of the host were measured side by side";
    for (double& sample : row.samples) sample *= 5;
  }
  const json chart = chart_of(compare(samples::healthy(), later, {}), "forest");
  EXPECT_EQ(chart["rows"][0], "cpu_onednn@1000\nlayer1");
  EXPECT_EQ(chart["tags"].back()["verdict"], "inconclusive");
  EXPECT_EQ(chart["rows"].back().get<std::string>().substr(0, later.cases[0].id.size() - 5),
            later.cases[0].id.substr(5))
      << "without its family";
}

TEST(ComparisonCharts, MoreThanAChartHoldsIsSaid) {
  const mprof::Run run = samples::large(18);
  const json chart = chart_of(compare(run, run, {}), "forest");
  EXPECT_EQ(chart["most"], 40U);
  const std::size_t all = chart["rows"].size();
  ASSERT_GT(all, 40U);
  EXPECT_EQ(chart["more"],
            fmt::format("The 40 that say most are drawn, {} more are in the table.", all - 40));
}

TEST(ComparisonCharts, SamplesAreOfWhatChangedAndOfWhatCannotBeTold) {
  const Comparison comparison = compare(samples::healthy(), samples::later(), {});
  std::vector<std::string> titles;
  for (const json& chart : comparison_charts(comparison).charts) {
    if (chart["kind"] == "strip") titles.push_back(chart["title"]);
  }
  EXPECT_EQ(titles, (std::vector<std::string>{"conv/cpu_onednn@1000", "conv/cpu_threads@1000",
                                              "conv/cpu_naive@100"}));
  const json chart = chart_of(comparison, "strip");
  ASSERT_EQ(chart["series"].size(), 1U) << "its other times are the same";
  EXPECT_EQ(chart["series"][0]["sides"].size(), 2U);
  EXPECT_EQ(chart["series"][0]["points"].size(), 42U);
  const Comparison itself = compare(samples::healthy(), samples::healthy(), {});
  EXPECT_TRUE(chart_of(itself, "strip").empty());
}

TEST(ComparisonCharts, ThroughputsNeedCountersOnBothSides) {
  mprof::Run a = samples::healthy(), b = samples::healthy();
  EXPECT_TRUE(chart_of(compare(a, b, {}), "dumbbells").empty());
  samples::add_kernel(a.cases[0], "layer1", "kernel", 40, 80);
  EXPECT_TRUE(chart_of(compare(a, b, {}), "dumbbells").empty());
  samples::add_kernel(b.cases[0], "layer1", "kernel", 62, 80.4);
  for (mprof::Run* run : {&a, &b}) samples::add_kernel(run->cases[1], "layer1", "kernel", 50, 50);
  const Comparison comparison = compare(a, b, {});
  const json chart = chart_of(comparison, "dumbbells");
  ASSERT_EQ(chart["rows"].size(), 1U) << "what did not move is not drawn";
  EXPECT_EQ(chart["series"][0]["points"][0]["before"], 40);
  EXPECT_EQ(chart["series"][0]["points"][0]["value"], 62);
  EXPECT_EQ(chart["series"][0]["points"][0]["text"], "+22");
  EXPECT_EQ(comparison_charts(comparison).view["throughputs"]["unmoved"],
            "Of 2 ops counted in both runs, 1 moved by less than a percentage point.");
}

TEST(ComparisonCharts, AreDrawnWhateverTheNamesInThem) {
  const ChartRenderer renderer{Templates{}};
  mprof::Run a = samples::hostile(), b = a;
  for (Case& c : b.cases) {
    for (Measurement& m : samples::timing(c).measurements) {
      for (double& sample : m.samples) sample *= m.metric == "op_time" ? 1.5 : 1;
    }
  }
  for (const json& chart : comparison_charts(compare(a, b, {})).charts) {
    const std::string svg = renderer.svg(chart);
    EXPECT_EQ(svg.find("<script"), std::string::npos) << chart["id"];
    EXPECT_EQ(svg.find("NaN"), std::string::npos) << chart["id"];
  }
}

TEST(Compare, ReadersSeeTheWorstFirst) {
  const Comparison comparison = compare(samples::healthy(), samples::later(), {});
  std::vector<std::string> seen;
  for (const CaseComparison* c : comparison.by_importance())
    seen.push_back(fmt::format("{} {}", to_string(c->importance), c->id));
  seen.resize(5);
  EXPECT_EQ(seen, (std::vector<std::string>{"worse conv/cpu_im2col_gemm@1000", "worse conv/cpu_onednn@10000",
                                            "slower conv/cpu_threads@1000", "faster conv/cpu_onednn@1000",
                                            "inconclusive conv/cpu_naive@100"}));
}

TEST(Compare, TheLargestChangeComesFirst) {
  mprof::Run a = samples::healthy(), b = a;
  samples::set_samples(b.cases[0], "op_time", "layer1", samples::around(0.2));
  samples::set_samples(b.cases[4], "op_time", "layer1", samples::around(100));
  const Comparison comparison = compare(a, b, {});
  EXPECT_EQ(comparison.by_importance()[0]->id, b.cases[4].id);
  EXPECT_EQ(comparison.by_importance()[1]->id, b.cases[0].id);
}

TEST(Compare, AMendedCaseIsGoodNews) {
  const Comparison comparison = compare(samples::later(), samples::healthy(), {});
  EXPECT_EQ(pair_of(comparison, "conv/cpu_im2col_gemm@1000").importance, Importance::faster);
}

TEST(Compare, GeometricMeansAreOverAllTimes) {
  mprof::Run a = samples::healthy(), b = a;
  samples::set_samples(
      b.cases[0], "op_time", "layer1",
      samples::around(2 * median(find_measurement(a.cases[0], "op_time", "layer1")->samples)));
  const Comparison comparison = compare(a, b, {});
  EXPECT_EQ(comparison.mean_of_ops().count, 24U);
  EXPECT_NEAR(comparison.mean_of_ops().ratio, std::pow(2, 1.0 / 24), 1e-3);
  EXPECT_EQ(comparison.mean_of_totals().count, 12U);
  EXPECT_NEAR(comparison.mean_of_totals().ratio, 1, 1e-12);
}

TEST(Compare, ErrorsThatChangedAreTold) {
  mprof::Run a = samples::healthy(), b = a;
  Verification& verification = samples::timing(b.cases[0]).verification[0];
  verification.relative_l2 *= 1.5;
  EXPECT_TRUE(compare(a, b, {}).cases[0].verifications.empty()) << "another order of the sums";
  verification.relative_l2 *= 2;
  ASSERT_EQ(compare(a, b, {}).cases[0].verifications.size(), 1U);
  EXPECT_NE(render_comparison(compare(a, b, {}), "text").find("Errors against the reference"),
            std::string::npos);
  EXPECT_FALSE(compare(a, b, {}).regression()) << "within the tolerance it is no regression";
}

TEST(Compare, ATimeInAnotherNumberFormatIsNotPlainlyFaster) {
  mprof::Run a = samples::healthy(), b = a;
  for (const char* metric : {"op_time", "group_time"})
    samples::set_samples(
        b.cases[0], metric, "layer1",
        samples::around(0.5 * median(find_measurement(a.cases[0], metric, "layer1")->samples)));
  EXPECT_EQ(render_comparison(compare(a, b, {}), "text").find("FP32"), std::string::npos);
  Verification& verification = samples::timing(b.cases[0]).verification[0];
  verification.precision = "fp16/tf32";
  verification.declared_precision = "fp16";
  verification.tolerance = 2e-3;
  EXPECT_EQ(render_comparison(compare(a, b, {}), "text").find("against FP"), std::string::npos)
      << "it is as exact as before";
  verification.relative_l2 = 5e-4;
  const Comparison comparison = compare(a, b, {});
  const std::string text = render_comparison(comparison, "text");
  EXPECT_NE(text.find("faster, in FP16 against FP32"), std::string::npos) << text;
  EXPECT_NE(text.find("A and B in different number formats."), std::string::npos) << text;
  const std::string as_json = render_comparison(comparison, "json");
  EXPECT_NE(as_json.find("\"precisions\""), std::string::npos);
  EXPECT_NE(as_json.find("\"declared_precision\": \"fp16\""), std::string::npos);
  // What was found in A may be what is declared in B.
  samples::timing(a.cases[0]).verification[0].precision = "fp16/tf32";
  EXPECT_EQ(render_comparison(compare(a, b, {}), "text").find("against FP"), std::string::npos);
}

/// A GPU case whose op has one kernel, counted.
mprof::Run counted(double time, double registers, const std::string& kernel = "tiled") {
  mprof::Run run = samples::empty_run();
  VariantInfo info = samples::variant("conv/tiled");
  info.device = "cuda";
  run.variants = {info};
  run.cases = {samples::timed_case(info, 10, time, 2e-3)};
  samples::add_kernel(run.cases[0], "layer1", kernel, 30, 40);
  PassResult& counters = samples::pass_of(run.cases[0], Pass::counters);
  std::erase_if(counters.measurements,
                [](const Measurement& m) { return m.metric == "launch__registers_per_thread"; });
  counters.measurements.push_back(
      samples::of_kernel("launch__registers_per_thread", "layer1", kernel, registers));
  return run;
}

TEST(OpChanges, OfAChangedTimeWithItsKernels) {
  const Comparison comparison = compare(counted(1e-3, 32), counted(2e-3, 64), {});
  ASSERT_EQ(comparison.cases[0].ops.size(), 1U) << "the other op did not change";
  const OpChange& op = comparison.cases[0].ops[0];
  EXPECT_EQ(op.op, "layer1");
  ASSERT_EQ(op.explanations.size(), 1U);
  EXPECT_EQ(op.explanations[0].change(), Verdict::slower);
  EXPECT_EQ(op.explanations[0].speed_up.p, comparison.cases[0].times[0].speed_up.p)
      << "what was judged together is not judged again";
  ASSERT_EQ(op.kernels.size(), 1U);
  EXPECT_EQ(op.kernels[0].fate, KernelFate::changed);
  ASSERT_EQ(op.kernels[0].figures.size(), 1U);
  EXPECT_EQ(op.kernels[0].figures[0].before, 32);
  EXPECT_EQ(op.kernels[0].figures[0].after, 64);
  EXPECT_FALSE(op.figures.empty()) << "Speed of Light of both sides";
  EXPECT_NE(render_comparison(comparison, "text").find("Kernel changed: tiled; registers a thread 32 → 64"),
            std::string::npos)
      << render_comparison(comparison, "text");
}

TEST(OpChanges, KernelsAddedAndRemoved) {
  const auto fates = [](const Comparison& comparison) {
    std::vector<std::string> list;
    for (const KernelChange& kernel : comparison.cases[0].ops.at(0).kernels)
      list.push_back(fmt::format("{} {}>{}", to_string(kernel.fate), kernel.before, kernel.after));
    return list;
  };
  EXPECT_EQ(fates(compare(counted(1e-3, 32, "old"), counted(2e-3, 32, "new"), {})),
            (std::vector<std::string>{"added >new", "removed old>"}));
  EXPECT_EQ(fates(compare(counted(1e-3, 32, "tiled<8>"), counted(2e-3, 32, "tiled<16>"), {})),
            (std::vector<std::string>{"changed tiled<8>>tiled<16>"}));
}

TEST(OpChanges, NoneWithoutAChangedTime) {
  EXPECT_TRUE(compare(counted(1e-3, 32), counted(1e-3, 64), {}).cases[0].ops.empty());
}

TEST(FailOn, SlowerAloneFailsWhenItIsAskedFor) {
  mprof::Run b = samples::healthy();
  samples::set_samples(b.cases[0], "op_time", "layer1", samples::around(100));
  EXPECT_TRUE(compare(samples::healthy(), b, {}).failed());
  const Comparison lenient = compare(samples::healthy(), b, {.fail_on = {.slower = false}});
  EXPECT_TRUE(lenient.regression());
  EXPECT_FALSE(lenient.failed());
  EXPECT_NE(render_comparison(lenient, "text").find("Slower alone is no failure here"), std::string::npos);
  const Comparison worse = compare(samples::healthy(), samples::later(), {.fail_on = {.slower = false}});
  EXPECT_TRUE(worse.failed()) << "wrong results and lost quality always fail";
  EXPECT_EQ(worse.failures_of(pair_of(worse, "conv/cpu_onednn@10000")).size(), 1U);
  EXPECT_TRUE(worse.failures_of(pair_of(worse, "conv/cpu_threads@1000")).empty());
}

TEST(FailOn, MissingIsWhatBNeverCameTo) {
  mprof::Run b = samples::healthy();
  samples::timing(b.cases[0]).status = Status::pending;
  EXPECT_FALSE(compare(samples::healthy(), b, {}).failed());
  const Comparison strict = compare(samples::healthy(), b, {.fail_on = {.missing = true}});
  EXPECT_TRUE(strict.failed());
  EXPECT_EQ(strict.missing(), 1U);
}

TEST(StepSummary, HoldsTheWorstThatFits) {
  const mprof::Run a = samples::large(60);
  mprof::Run b = a;
  for (std::size_t i = 0; i < b.cases.size(); ++i) {
    const Measurement* time = find_measurement(a.cases[i], "op_time", "layer1");
    if (time != nullptr && !time->samples.empty())
      samples::set_samples(b.cases[i], "op_time", "layer1",
                           samples::around((2 + static_cast<double>(i)) * median(time->samples)));
  }
  const Comparison comparison = compare(a, b, {});
  const std::string whole = render_step_summary(comparison), part = render_step_summary(comparison, 20000);
  EXPECT_LE(whole.size(), std::size_t{64} << 10);
  EXPECT_LE(part.size(), 20000U);
  EXPECT_GT(part.size(), 5000U);
  EXPECT_NE(part.find(comparison.by_importance()[0]->id), std::string::npos);
  EXPECT_NE(part.find("more changed."), std::string::npos);
  EXPECT_LE(render_step_summary(comparison, 50).size(), 50U);
}

TEST(RenderComparison, UnchangedCasesAreLeftOutAndCounted) {
  const mprof::Run a = samples::healthy();
  mprof::Run b = a;
  samples::set_samples(b.cases[0], "op_time", "layer1", samples::around(100));
  const Comparison comparison = compare(a, b, {});
  for (const char* format : {"text", "md"}) {
    const std::string some = render_comparison(comparison, format);
    EXPECT_NE(some.find("11 cases without a change are left out"), std::string::npos) << some;
    EXPECT_EQ(some.find(a.cases[5].id), std::string::npos);
    const std::string all = render_comparison(comparison, format, {.all = true});
    EXPECT_EQ(all.find("left out"), std::string::npos);
    EXPECT_NE(all.find(a.cases[5].id), std::string::npos);
  }
  EXPECT_NE(render_comparison(comparison, "html").find(a.cases[5].id), std::string::npos);
}

TEST(RenderComparison, CasesThatWereNotOkAreShownAndNotCountedAsLeftOut) {
  const mprof::Run a = samples::healthy();
  mprof::Run b = a;
  samples::set_samples(b.cases[0], "op_time", "layer1", samples::around(100));
  samples::timing(b.cases[5]).status = Status::pending;
  for (const char* format : {"text", "md"}) {
    const std::string text = render_comparison(compare(a, b, {}), format);
    EXPECT_NE(text.find(a.cases[5].id), std::string::npos) << text;
    EXPECT_NE(text.find("10 cases without a change are left out"), std::string::npos) << text;
  }
}

/// In everything that a reader may read of a comparison.
void expect_said(const Comparison& comparison, const std::string& sentence) {
  for (const char* format : {"text", "md", "html"}) {
    const std::string text = render_comparison(comparison, format, {.width = 200});
    EXPECT_NE(text.find(sentence), std::string::npos) << format << ": " << sentence;
  }
  EXPECT_NE(render_step_summary(comparison).find(sentence), std::string::npos) << sentence;
}

TEST(RenderComparison, CountsTheCasesThatHaveTimesOnBothSides) {
  mprof::Run a = samples::healthy(), b = samples::healthy();
  for (mprof::Run* run : {&a, &b}) skip_first(*run, 4, "no GPU");
  expect_said(compare(a, b, {}), "Of the times in 8 common cases, B against A");
  samples::set_samples(b.cases[5], "op_time", "layer1", samples::around(100));
  expect_said(compare(a, b, {}), "Regression in 1 of 8 common cases.");
  samples::timing(b.cases[6]).status = Status::crashed;
  expect_said(compare(a, b, {}), "Of the times in 7 common cases, B against A");
  expect_said(compare(a, b, {}), "Regression in 2 of 8 common cases.");
  samples::timing(b.cases[7]).status = Status::pending;
  expect_said(compare(a, b, {}), "Regression in 2 of 7 common cases.");
  EXPECT_EQ(json::parse(render_comparison(compare(a, b, {}), "json"))["cases"].size(), 12U)
      << "all that are in both";
}

TEST(RenderComparison, WithoutATimeOnBothSidesThatIsSaid) {
  const mprof::Run a = samples::healthy();
  mprof::Run b = a;
  for (Case& c : b.cases) samples::timing(c).status = Status::crashed;
  expect_said(compare(a, b, {}), "No common case has a time on both sides.");
  expect_said(compare(a, b, {}), "Regression in 12 of 12 common cases.");
}

TEST(RenderComparison, TextFitsATerminal) {
  const std::string text =
      render_comparison(compare(samples::healthy(), samples::later(), {}), "text", {80, {}});
  for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
    end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    const auto columns = std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; });
    const bool is_table = line.starts_with("  ") || line.starts_with("conv/");
    const bool is_note = line.find(" in B") != std::string::npos;
    EXPECT_TRUE(columns <= 80 || !is_table || is_note) << line;
  }
}

TEST(RenderComparison, JsonKeepsItsNames) {
  const json data = json::parse(render_comparison(compare(samples::healthy(), samples::later(), {}), "json"));
  EXPECT_EQ(data["regression"], true);
  EXPECT_EQ(data["thresholds"], json::parse(R"({"device": 0.01, "host": 0.03})"));
  const json& first = data["cases"][0];
  for (const char* name : {"id", "variant", "parameters", "problem", "status_a", "status_b", "times",
                           "qualities", "regressions", "importance", "verifications", "ops", "id_b"}) {
    EXPECT_TRUE(first.contains(name)) << name;
  }
  for (const char* name : {"metric", "op", "a", "b", "ratio", "change", "speed_up", "verdict", "reason"}) {
    EXPECT_TRUE(first["times"][0].contains(name)) << name;
  }
}

TEST(RenderComparison, HostileRunsAreHarmless) {
  const Comparison comparison = compare(samples::hostile(), samples::hostile(), {});
  const std::string html = render_comparison(comparison, "html");
  EXPECT_EQ(html.find("<script>document"), std::string::npos);
  EXPECT_EQ(html.find("<img src=x"), std::string::npos);
  EXPECT_FALSE(render_comparison(comparison, "text", {80, {}}).empty());
  EXPECT_TRUE(json::accept(render_comparison(comparison, "json")));
}

TEST(RenderComparison, AnUnknownFormatIsAUsageError) {
  const Comparison comparison = compare(samples::healthy(), samples::healthy(), {});
  EXPECT_THROW((void)render_comparison(comparison, "pdf"), Error);
}

}  // namespace
}  // namespace mprof
