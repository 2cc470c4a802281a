// SPDX-License-Identifier: MIT
#include "report/analysis/analysis.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/derive/derive.hpp"
#include "report/analysis/machines/environment.hpp"
#include "report/analysis/standing/standings.hpp"
#include "report/views/views.hpp"
#include "report/wording/findings.hpp"
#include "report/wording/glossary.hpp"
#include "report/wording/why.hpp"
#include "tests/report/sample_runs.hpp"

namespace mprof {
namespace {

const CaseResult& result_of(const RunAnalysis& analysis, std::string_view id) {
  for (const FamilyResult& family : analysis.families) {
    if (const CaseResult* found = family.find(id)) return *found;
  }
  throw std::out_of_range(std::string(id));
}

const Best& best_of(const FamilyResult& family, std::string_view op, std::uint64_t batch) {
  const auto found = std::find_if(family.best.begin(), family.best.end(), [&](const Best& best) {
    return best.op == op && best.problem == samples::at_batch(batch);
  });
  if (found == family.best.end()) throw std::out_of_range(std::string(op));
  return *found;
}

bool says(const RunAnalysis& analysis, Severity severity, std::string_view part) {
  return std::any_of(analysis.findings.begin(), analysis.findings.end(), [&](const Finding& finding) {
    return finding.severity == severity && text_of(finding).find(part) != std::string::npos;
  });
}

/// Whether a finding says so of what it counts, one by one.
bool says_one_by_one(const RunAnalysis& analysis, std::string_view part) {
  return std::ranges::any_of(analysis.findings, [&](const Finding& finding) {
    return std::ranges::any_of(
        finding.details, [&](const Finding& one) { return text_of(one).find(part) != std::string::npos; });
  });
}

template <class Kind>
bool is(const Finding& finding) {
  return std::holds_alternative<Kind>(finding.what);
}

/// The findings of a kind.
template <class Kind>
std::vector<Kind> find(const RunAnalysis& analysis) {
  std::vector<Kind> found;
  for (const Finding& finding : analysis.findings) {
    if (is<Kind>(finding)) found.push_back(std::get<Kind>(finding.what));
  }
  return found;
}

TEST(Analysis, SpeedUpIsOverEachVariantsOwnBaseline) {
  const mprof::Run run = samples::healthy();
  const RunAnalysis analysis = analyse(run);
  const CaseResult& gemm = result_of(analysis, "conv/cpu_im2col_gemm@1000");
  EXPECT_EQ(gemm.baseline, "conv/cpu_threads@1000");
  EXPECT_NEAR(*gemm.ops[0].speed_up.factor, 6.7e-4 / 2.1e-4, 1e-9);
  EXPECT_NEAR(*gemm.ops[1].speed_up.factor, 2.05e-3 / 3.3e-4, 1e-9);
  EXPECT_DOUBLE_EQ(*gemm.qualities.at(0).change, 0);
  const CaseResult& naive = result_of(analysis, "conv/cpu_naive@1000");
  EXPECT_TRUE(naive.is_baseline);
  EXPECT_FALSE(naive.ops[0].speed_up);
}

/// The healthy run, as if its convolution as a matrix product ran on a GPU.
mprof::Run on_two_devices() {
  mprof::Run run = samples::healthy();
  for (VariantInfo& variant : run.variants) {
    if (variant.id == "conv/cpu_im2col_gemm") variant.device = "cuda";
  }
  return run;
}

TEST(Analysis, TheStepFromTheCpuToTheGpuIsBetweenTheBestOfEach) {
  const mprof::Run run = on_two_devices();
  const RunAnalysis analysis = analyse(run);
  const FamilyResult& family = analysis.families[0];
  ASSERT_EQ(family.device_steps.size(), family.best.size()) << "one for each op and problem, the whole too";
  for (const DeviceStep& step : family.device_steps) {
    EXPECT_NE(step.cpu.fastest->key.variant, "conv/cpu_im2col_gemm");
    EXPECT_EQ(step.gpu.fastest->key.variant, "conv/cpu_im2col_gemm");
    EXPECT_DOUBLE_EQ(*step.speed_up.factor, step.cpu.time()->median / step.gpu.time()->median);
    for (const VariantResult& variant : family.variants) {
      const CaseResult* other = variant.representative(step.cpu.problem);
      if (variant.info.device != "cpu" || other == nullptr || step.cpu.op.empty()) continue;
      EXPECT_LE(step.cpu.time()->median, other->find_op(step.cpu.op)->op_time->median) << other->id;
    }
  }
}

TEST(Analysis, OneDeviceAloneIsNoStep) {
  const mprof::Run run = samples::healthy();
  EXPECT_TRUE(analyse(run).families[0].device_steps.empty());
}

TEST(Analysis, AHealthyRunHasNothingToWarnOf) {
  const mprof::Run run = samples::healthy();
  EXPECT_TRUE(analyse(run).findings.empty());
}

TEST(Analysis, SuspectTimesAreNeverASpeedUp) {
  mprof::Run run = samples::healthy();
  const std::string baseline = find_variant(run, run.cases.back().key.variant)->baseline;
  ASSERT_FALSE(baseline.empty());
  for (Case& c : run.cases) {
    if (c.key.variant != baseline) continue;
    samples::timing(c).status = Status::suspect;
    samples::timing(c).reason = "the timer does not see all of the work";
  }
  const RunAnalysis analysis = analyse(run);
  for (const VariantResult& variant : analysis.families[0].variants) {
    for (const CaseResult& result : variant.cases) {
      if (variant.info.id == baseline) {
        EXPECT_EQ(result.doubt(), Why(Because::suspect_times));
      } else if (variant.info.baseline == baseline) {
        EXPECT_EQ(result.ops[0].speed_up.absent.because, Because::baseline_suspect);
      }
    }
  }
  for (const Best& best : analysis.families[0].best)
    EXPECT_TRUE(best.fastest == nullptr || best.fastest->key.variant != baseline);
  const auto said = std::ranges::find_if(analysis.findings, is<finding::SuspectTimes>);
  ASSERT_NE(said, analysis.findings.end());
  EXPECT_EQ(said->severity, Severity::wrong);
  EXPECT_EQ(std::get<finding::SuspectTimes>(said->what).reason, "the timer does not see all of the work");
}

TEST(Analysis, AWrongOutputIsNeverASpeedUp) {
  const mprof::Run run = samples::troubled();
  const RunAnalysis analysis = analyse(run);
  const CaseResult& wrong = result_of(analysis, "conv/wrong@100");
  EXPECT_TRUE(wrong.ops[0].op_time) << "its time is known";
  EXPECT_EQ(wrong.ops[0].speed_up.absent, Why(Because::wrong_output));
  EXPECT_EQ(wrong.total_speed_up.absent, Why(Because::wrong_output));
  const CaseResult& heir = result_of(analysis, "conv/heir@100");
  EXPECT_EQ(heir.ops[0].speed_up.absent, Why(Because::baseline_wrong, {"conv/wrong@100"}));
  EXPECT_EQ(result_of(analysis, "conv/orphan@100").ops[0].speed_up.absent,
            Why(Because::baseline_not_run, {"conv/never_run", "batch"}));
  for (const Best& best : analysis.families[0].best) {
    EXPECT_TRUE(best.fastest == nullptr || best.fastest->key.variant != "conv/wrong");
  }
}

TEST(Analysis, AnOutputThatIsRightAtOneProblemAloneIsSaidOnce) {
  mprof::Run run = samples::empty_run();
  run.families = {samples::conv_family()};
  run.variants = {samples::variant("conv/even")};
  for (const std::uint64_t batch : {1000U, 999U, 500U, 501U}) {
    Case& c = run.cases.emplace_back(samples::timed_case(run.variants[0], batch, 1, 2));
    if (batch % 2 == 0) continue;
    samples::timing(c).status = Status::wrong;
    samples::timing(c).verification[1].passed = false;
    samples::timing(c).verification[1].finding = "the last image is missing";
  }
  std::vector<std::string> said;
  for (const Finding& finding : analyse(run).findings) {
    if (std::holds_alternative<finding::WrongOutput>(finding.what)) said.push_back(text_of(finding));
  }
  EXPECT_EQ(said,
            std::vector<std::string>{
                "The output of conv/even is right at batches 1000 and 500 and wrong at batches 999 and 501, "
                "so none of its times there counts as a speed-up. layer2: the last image is missing."});
}

TEST(Analysis, TheFastestPointStandsForASweep) {
  const mprof::Run run = samples::troubled();
  const RunAnalysis analysis = analyse(run);
  const auto& variants = analysis.families[0].variants;
  const auto tiled =
      std::find_if(variants.begin(), variants.end(), [](const VariantResult& v) { return v.swept(); });
  ASSERT_NE(tiled, variants.end());
  EXPECT_EQ(tiled->info.id, "conv/tiled");
  EXPECT_EQ(tiled->representative(samples::at_batch(100))->id, "conv/tiled[tile_width=32]@100");
  EXPECT_EQ(tiled->representative(samples::at_batch(1000))->status, Status::timeout);
  EXPECT_EQ(tiled->representative(samples::at_batch(5000)), nullptr);
}

TEST(Analysis, ABaselineIsTakenAtItsDefaultParameters) {
  mprof::Run run = samples::empty_run();
  VariantInfo base = samples::variant("conv/base"), heir = samples::variant("conv/heir", "conv/base");
  base.parameters = {{"tile_width", "", "16", {"8", "16"}}};
  run.variants = {base, heir};
  run.cases = {samples::timed_case(base, 100, 1, 1, {{"tile_width", "8"}}),
               samples::timed_case(base, 100, 2, 2, {{"tile_width", "16"}}),
               samples::timed_case(heir, 100, 1, 1)};
  EXPECT_DOUBLE_EQ(*analyse(run).families[0].variants[1].cases[0].ops[0].speed_up.factor, 2);
  run.cases.erase(run.cases.begin() + 1);
  const mprof::Run without_default = run;
  EXPECT_DOUBLE_EQ(*analyse(without_default).families[0].variants[1].cases[0].ops[0].speed_up.factor, 1);
}

TEST(Analysis, BestNamesWhatTheMeasurementCannotTellApart) {
  const mprof::Run run = samples::troubled();
  const RunAnalysis analysis = analyse(run);
  const Best& best = best_of(analysis.families[0], "layer2", 1000);
  EXPECT_EQ(best.fastest->id, "conv/base@1000");
  ASSERT_EQ(best.level.size(), 1U);
  EXPECT_EQ(best.level[0]->id, "conv/slow@1000");
}

TEST(Analysis, WhatIsLevelWithTheFastestIsSaidAndMarkedLikeIt) {
  mprof::Run run = samples::empty_run();
  run.variants = {samples::variant("conv/a"), samples::variant("conv/b"), samples::variant("conv/c")};
  for (const double time : {0.1, 0.1001, 0.2})
    run.cases.push_back(samples::timed_case(run.variants[run.cases.size()], 100, time, time));
  const RunAnalysis analysis = analyse(run);
  const FamilyResult& family = analysis.families.front();
  EXPECT_EQ(fastest_ops(family)->level, 1U);
  Anchors anchors;
  const nlohmann::json answer = answer_view(family, brief_of(family), anchors);
  EXPECT_NE(answer["sentences"][0].get<std::string>().find("(tied with 1 other)"), std::string::npos);
  EXPECT_EQ(answer["cards"][0]["everywhere"], "tied with 1 other");
}

TEST(Analysis, NoneIsTheFastestBesideADisturbedTimeThatMayBeShorter) {
  const auto sentence_beside = [](double disturbed_time) {
    mprof::Run run = samples::empty_run();
    run.variants = {samples::variant("conv/a"), samples::variant("conv/b", "conv/a")};
    for (const double time : {disturbed_time, 0.1})
      run.cases.push_back(samples::timed_case(run.variants[run.cases.size()], 100, time, time));
    const std::string others = "other processes used the CPUs: 0.5 of the 2 usable ones busy";
    for (Sampling& round : samples::timing(run.cases[0]).rounds) round.host_disturbance = others;
    for (Measurement& m : samples::timing(run.cases[0]).measurements) m.derived.own().disturbed = others;
    const RunAnalysis analysis = analyse(run);
    Anchors anchors;
    return answer_view(analysis.families.front(), brief_of(analysis.families.front()),
                       anchors)["sentences"][0]
        .get<std::string>();
  };
  EXPECT_NE(sentence_beside(0.1001).find("conv/b has the shortest median"), std::string::npos);
  EXPECT_NE(sentence_beside(0.2).find("conv/b has the shortest median"), std::string::npos)
      << "others may have made it as long";
  EXPECT_NE(sentence_beside(1).find("conv/b is fastest"), std::string::npos) << sentence_beside(1);
}

TEST(Analysis, WhereNoOpTimeCanBeComparedTheTimesWithCopiesAre) {
  mprof::Run run = samples::empty_run();
  run.variants = {samples::variant("conv/a"), samples::variant("conv/b", "conv/a")};
  for (const double time : {0.2, 0.1})
    run.cases.push_back(samples::timed_case(run.variants[run.cases.size()], 100, time, time));
  const auto sentence = [&] {
    const RunAnalysis analysis = analyse(run);
    Anchors anchors;
    return answer_view(analysis.families.front(), brief_of(analysis.families.front()),
                       anchors)["sentences"][0]
        .get<std::string>();
  };
  const auto mark = [](Case& subject) {
    for (Measurement& m : samples::timing(subject).measurements)
      m.derived.own().holds_copies = m.metric == "op_time";
  };
  mark(run.cases[1]);
  EXPECT_NE(sentence().find("conv/a"), std::string::npos) << sentence();
  EXPECT_EQ(sentence().find("no op time"), std::string::npos) << "one can: " << sentence();
  mark(run.cases[0]);
  const std::string alone = "no op time can be compared; conv/b has the shortest median of ";
  EXPECT_NE(sentence().find(alone), std::string::npos) << sentence();
  EXPECT_EQ(sentence().find("tied with"), std::string::npos) << sentence();
  run.variants.push_back(samples::variant("conv/c", "conv/a"));
  mark(run.cases.emplace_back(samples::timed_case(run.variants.back(), 100, 0.1001, 0.1001)));
  EXPECT_NE(sentence().find(alone), std::string::npos) << sentence();
  EXPECT_NE(sentence().find("at batch 100 (tied with 1 other), "), std::string::npos) << sentence();
}

TEST(Analysis, ADisturbedTimeIsNotSaidToBeTheFastest) {
  mprof::Run run = samples::empty_run();
  run.variants = {samples::variant("conv/a"), samples::variant("conv/b", "conv/a")};
  for (const double time : {0.2, 0.1})
    run.cases.push_back(samples::timed_case(run.variants[run.cases.size()], 100, time, time));
  const auto sentence = [&] {
    const RunAnalysis analysis = analyse(run);
    Anchors anchors;
    return answer_view(analysis.families.front(), brief_of(analysis.families.front()),
                       anchors)["sentences"][0]
        .get<std::string>();
  };
  EXPECT_NE(sentence().find("conv/b is fastest"), std::string::npos) << sentence();
  EXPECT_NE(sentence().find("1.99–2.01×)"), std::string::npos) << sentence();
  for (Case& c : run.cases) {
    for (Measurement& m : samples::timing(c).measurements)
      m.derived.own().disturbed = "other processes used the CPUs";
  }
  const RunAnalysis analysis = analyse(run);
  Anchors anchors;
  EXPECT_EQ(answer_view(analysis.families.front(), brief_of(analysis.families.front()),
                        anchors)["cards"][0]["no_verdict"],
            "no verdict: a time was disturbed");
  EXPECT_NE(sentence().find("conv/b has the shortest median"), std::string::npos) << sentence();
  EXPECT_NE(sentence().find("2.00× as fast as its baseline conv/a (no verdict: a time was disturbed)"),
            std::string::npos)
      << sentence();
}

/// No difference is an answer, and an interval that could be either way is none.
TEST(Analysis, AnIntervalAroundOneIsWithoutAVerdictUnlessItIsNarrow) {
  const auto sentence = [](double time, double spread) {
    mprof::Run run = samples::empty_run();
    run.variants = {samples::variant("conv/a"), samples::variant("conv/b", "conv/a")};
    for (const double one : {0.1, time}) {
      run.cases.push_back(samples::timed_case(run.variants[run.cases.size()], 100, one, one));
      samples::set_samples(run.cases.back(), "op_time", "layer1", samples::around(one, spread));
    }
    const RunAnalysis analysis = analyse(run);
    Anchors anchors;
    return answer_view(analysis.families.front(), brief_of(analysis.families.front()),
                       anchors)["sentences"][0]
        .get<std::string>();
  };
  EXPECT_NE(sentence(0.0999, 0.004).find("(95 %: 0.99"), std::string::npos) << sentence(0.0999, 0.004);
  EXPECT_EQ(sentence(0.0999, 0.004).find("no verdict"), std::string::npos) << sentence(0.0999, 0.004);
  EXPECT_NE(sentence(0.099, 0.2).find("×, no verdict)"), std::string::npos) << sentence(0.099, 0.2);
}

TEST(Analysis, WorkOutsideForwardIsComparedByLayerTime) {
  const mprof::Run run = samples::gpu();
  const RunAnalysis analysis = analyse(run);
  const CaseResult& streams = result_of(analysis, "conv/streams@10000");
  EXPECT_EQ(streams.ops[0].flaw, OpTimeFlaw::works_elsewhere);
  EXPECT_EQ(streams.ops[0].compared_by, "group_time");
  EXPECT_NEAR(*streams.ops[0].speed_up.factor, 0.176 / 0.101, 1e-9);
  const Best& best = best_of(analysis.families[0], "layer1", 10000);
  EXPECT_EQ(best.fastest->id, "conv/baseline@10000") << "2 us of op time win nothing";
  EXPECT_EQ(best.left_out.size(), 1U);
  const auto flawed = find<finding::FlawedOpTimes>(analysis);
  ASSERT_EQ(flawed.size(), 1U);
  EXPECT_EQ(flawed[0].flaw, OpTimeFlaw::works_elsewhere);
  EXPECT_EQ(flawed[0].variants, std::vector<std::string>{"conv/streams"});
  EXPECT_EQ(analysis.families.size(), 2U);
  EXPECT_EQ(analysis.families[1].ops.size(), 1U);
}

TEST(Analysis, AnOpTimeThatHoldsCopiesIsNotComparedWithOnesThatDoNot) {
  for (const auto& [share, flaw] :
       {std::pair{0.04, OpTimeFlaw::none}, {0.1, OpTimeFlaw::copies_in_forward}}) {
    mprof::Run run = samples::gpu();
    Case& copying = run.cases[0];
    const double op_time = find_measurement(copying, "op_time", "layer1")->samples.front();
    samples::pass_of(copying, Pass::trace)
        .measurements.push_back({"forward_copy_time", "layer1", "", Source::measured, {share * op_time}, ""});
    const RunAnalysis analysis = analyse(run);
    const OpResult& op = result_of(analysis, copying.id).ops[0];
    const bool has_flaw = flaw != OpTimeFlaw::none;
    EXPECT_EQ(op.flaw, flaw);
    EXPECT_EQ(op.compared_by, has_flaw ? "group_time" : "op_time");
    EXPECT_EQ(std::ranges::any_of(find<finding::FlawedOpTimes>(analysis),
                                  [](const auto& one) { return one.flaw == OpTimeFlaw::copies_in_forward; }),
              has_flaw);
  }
}

TEST(Analysis, AnOpTimeThatAProgramPrintsHoldsCopiesWhereItsGroupedTimeHasNoRoomForThem) {
  for (const auto& [grouped, has_flaw] : {std::pair{30e-3, false}, {21e-3, true}}) {
    mprof::Run run = samples::gpu();
    Case& printing = run.cases[0];
    samples::set_samples(printing, "op_time", "layer1", samples::around(20e-3));
    samples::set_samples(printing, "group_time", "layer1", samples::around(grouped));
    for (Measurement& m : samples::timing(printing).measurements) {
      if (m.metric == "op_time") m.source = Source::printed;
    }
    std::vector<Measurement>& traced = samples::pass_of(printing, Pass::trace).measurements;
    std::erase_if(traced, [](const Measurement& m) { return m.metric.starts_with("copy_"); });
    traced.push_back(samples::measured("copy_in_time", "layer1", {3e-3}));
    traced.push_back(samples::measured("copy_out_time", "layer1", {9e-3}));
    const RunAnalysis analysis = analyse(run);
    const OpResult& op = result_of(analysis, printing.id).ops[0];
    EXPECT_EQ(op.flaw, has_flaw ? OpTimeFlaw::prints_copies : OpTimeFlaw::none) << grouped;
    EXPECT_EQ(op.compared_by, has_flaw ? "group_time" : "op_time");
  }
}

/// A program's case that prints these times of layer1.
mprof::Run printing(double op_time, double group_time) {
  mprof::Run run = samples::gpu();
  Case& c = run.cases[1];
  samples::set_samples(c, "op_time", "layer1", samples::around(op_time));
  samples::set_samples(c, "group_time", "layer1", samples::around(group_time));
  for (Measurement& m : samples::timing(c).measurements) {
    if (m.metric == "op_time") m.source = Source::printed;
  }
  return run;
}

TEST(Analysis, APrintedOpTimeThatHoldsNothingWinsNothing) {
  // A course program whose prolog does all: 2.2 us where its layer takes 360 ms.
  const mprof::Run empty = printing(2.224e-6, 0.3599);
  const RunAnalysis analysis = analyse(empty);
  const OpResult& op = result_of(analysis, "conv/streams@10000").ops[0];
  EXPECT_EQ(op.flaw, OpTimeFlaw::prints_too_little);
  EXPECT_EQ(op.compared_by, "group_time");
  EXPECT_EQ(op.speed_up.verdict, Verdict::slower);
  EXPECT_EQ(best_of(analysis.families[0], "layer1", 10000).fastest->id, "conv/baseline@10000");
  for (const auto& [op_time, group_time] : {std::pair{2e-5, 0.36}, {2e-6, 1e-3}}) {
    const mprof::Run run = printing(op_time, group_time);
    EXPECT_EQ(result_of(analyse(run), "conv/streams@10000").ops[0].flaw, OpTimeFlaw::none)
        << "a short op is one all the same";
  }
}

TEST(Analysis, APrintedOpTimeShorterThanItsKernelHoldsNothing) {
  for (const auto& [launches, flaw] :
       {std::pair{1.0, OpTimeFlaw::prints_too_little}, {100.0, OpTimeFlaw::none}}) {
    mprof::Run run = printing(1e-3, 2e-3);
    std::vector<Measurement>& traced = samples::pass_of(run.cases[1], Pass::trace).measurements;
    traced.push_back(samples::of_kernel("kernel_time", "layer1", "conv", 0.1));
    traced.push_back(samples::of_kernel("kernel_instances", "layer1", "conv", launches));
    EXPECT_EQ(result_of(analyse(run), "conv/streams@10000").ops[0].flaw, flaw)
        << "what it prints may be the mean of many executions";
  }
}

TEST(Analysis, AGpuTimeAboveTheOpTimeIsSeenAndSoIsTracingWithinNoise) {
  mprof::Run run = samples::gpu();
  Case& c = run.cases[0];
  samples::set_samples(c, "op_time", "layer1", samples::around(1e-3));
  samples::set_samples(c, "group_time", "layer1", samples::around(5e-3));
  samples::set_samples(c, "group_time", "layer2", samples::around(5e-3));
  std::vector<Measurement>& traced = samples::pass_of(c, Pass::trace).measurements;
  std::erase_if(traced, [](const Measurement& m) { return m.metric == "gpu_time"; });
  std::erase_if(samples::timing(c).measurements, [](const Measurement& m) { return m.metric == "gpu_time"; });
  traced.push_back(samples::measured("gpu_time", "layer1", {1.1e-3}));
  traced.push_back(samples::measured("trace_overhead", "", {1.001}));
  const RunAnalysis above = analyse(run);
  const CaseResult& result = result_of(above, c.id);
  EXPECT_TRUE(gpu_time_exceeds_op_time(result.ops[0]));
  EXPECT_TRUE(result.trace_overhead_is_noise);
  traced[traced.size() - 2].samples = {1.001e-3};
  traced.back().samples = {1.5};
  const RunAnalysis within = analyse(run);
  EXPECT_FALSE(gpu_time_exceeds_op_time(result_of(within, c.id).ops[0])) << "a thousandth is noise";
  EXPECT_FALSE(result_of(within, c.id).trace_overhead_is_noise);
}

TEST(Analysis, ClocksBeforeTheRunAreThoseOfAnIdleGpu) {
  mprof::Run run = samples::empty_run();
  run.environment["gpu"]["SM clock"] = 345e6;
  run.variants = {samples::variant("conv/only")};
  run.cases = {samples::timed_case(run.variants[0], 100, 1, 2)};
  samples::timing(run.cases[0]).measurements.push_back(samples::measured("gpu_sm_clock", "", {1.98e9}));
  const auto shown = shown_environment(run).at("gpu");
  EXPECT_FALSE(shown.contains("SM clock"));
  EXPECT_EQ(std::get<double>(shown.at("SM clock before the run, idle")), 345e6);
  EXPECT_EQ(std::get<double>(shown.at("SM clock between timed executions")), 1.98e9);
  EXPECT_EQ(fact_text("gpu", "SM clock between timed executions", 1.98e9), "1.98 GHz");
}

TEST(Analysis, FindingsSayWhatWentWrongTheGravestFirst) {
  const mprof::Run run = samples::troubled();
  const RunAnalysis analysis = analyse(run);
  EXPECT_TRUE(says(analysis, Severity::wrong, "conv/wrong is wrong at batches 100 and 1000"));
  EXPECT_TRUE(says(analysis, Severity::wrong, "640 elements were never written"));
  EXPECT_TRUE(
      says(analysis, Severity::broken, "conv/gone crashed at batch 100: the worker ended by signal 11"));
  EXPECT_TRUE(says(analysis, Severity::broken, "conv/tiled ran out of time at batch 1000"));
  EXPECT_TRUE(says(analysis, Severity::incomplete, "conv/gone was not reached at batch 1000."));
  EXPECT_TRUE(says(analysis, Severity::incomplete, "The run was interrupted: 1 of 14 cases still to do"));
  EXPECT_TRUE(says(analysis, Severity::incomplete, "FP32 FLOP rate of the CPU was not measured"));
  EXPECT_TRUE(
      says(analysis, Severity::caution, "Slower than its own baseline in layer1: conv/slow (at batch 100)"));
  EXPECT_TRUE(says(analysis, Severity::caution, "A repeated run would typically differ by ±"));
  EXPECT_TRUE(
      says(analysis, Severity::caution, " in host times (95\u00a0%). Largest: ±4.3\u00a0% (conv/slow@100)."));
  EXPECT_FALSE(says(analysis, Severity::caution, "one process (one round)"));
  EXPECT_TRUE(says(analysis, Severity::caution, "uncommitted changes"));
  EXPECT_TRUE(std::is_sorted(analysis.findings.begin(), analysis.findings.end(),
                             [](const Finding& a, const Finding& b) { return a.severity < b.severity; }));
}

/// Of the device times; 0 without such a finding.
double widest_between_runs(const RunAnalysis& analysis) {
  for (const Finding& finding : analysis.findings) {
    if (const auto* noise = std::get_if<finding::NoiseBetweenRuns>(&finding.what))
      return noise->device.widest;
  }
  return 0;
}

TEST(Analysis, AStepOfTheClockIsInTheIntervalsOfDeviceTimes) {
  mprof::Run run = samples::troubled();
  for (VariantInfo& info : run.variants) info.device = "cuda";
  derive_variation(run);
  const double without = widest_between_runs(analyse(run));
  run.environment["gpu"]["SM clock maximum"] = 1.98e9;
  run.environment["gpu"]["SM clock step"] = 15e6;
  derive_variation(run);
  EXPECT_GT(widest_between_runs(analyse(run)), without + 0.005);
  const std::vector<Term> terms = glossary_of(analyse(run));
  const auto time = std::ranges::find(terms, "Time, ±", &Term::term);
  ASSERT_NE(time, terms.end());
  EXPECT_NE(time->meaning.find("one step of the SM clock"), std::string::npos) << time->meaning;
}

TEST(Analysis, OneRoundIsSaidOnce) {
  mprof::Run run = samples::healthy();
  EXPECT_FALSE(says(analyse(run), Severity::caution, "(one round)"))
      << "pooled runs have more than their plan";
  for (Case& c : run.cases) samples::timing(c).rounds.clear();
  EXPECT_TRUE(says(analyse(run), Severity::caution, "Each case was timed in one process (one round)"));
}

TEST(Analysis, DisturbedSamplesAreFound) {
  mprof::Run run = samples::healthy();
  Sampling& kept = *samples::timing(run.cases[0]).sampling;
  kept.retries = 3;
  kept.disturbance = "the GPU throttled around 4 of 9 samples";
  samples::timing(run.cases[5]).sampling->retries = 1;
  const RunAnalysis analysis = analyse(run);
  EXPECT_TRUE(
      says(analysis, Severity::caution,
           "The samples of conv/cpu_naive at batch 100 were disturbed though they were taken again 3 "
           "times: the GPU throttled around 4 of 9 samples. Verdicts count only what this cannot explain."));
  EXPECT_TRUE(
      says(analysis, Severity::caution,
           "The samples of conv/cpu_threads at batch 10000 were disturbed and taken again once; those "
           "kept were not."));
}

TEST(Analysis, WhatDisturbsTheHostAloneIsSaidOfHostTimes) {
  mprof::Run run = samples::healthy();
  samples::timing(run.cases[0]).sampling->host_disturbance = "other processes used the CPUs: 1.2 of 2 busy";
  EXPECT_TRUE(
      says(analyse(run), Severity::caution,
           "The host times of conv/cpu_naive at batch 100 were disturbed: other processes used the CPUs: "
           "1.2 of 2 busy. Verdicts count only what this cannot explain."));
}

TEST(Analysis, OfSeveralDisturbancesItSaysHowManyHadWhich) {
  mprof::Run run = samples::healthy();
  for (Case& c : run.cases)
    samples::timing(c).sampling->host_disturbance = "2 devices were measured side by side";
  samples::timing(run.cases[0]).sampling->host_disturbance += "; a hypervisor took CPU time: 4 %";
  EXPECT_TRUE(
      says(analyse(run), Severity::caution,
           "The host times of 12 of 12 cases were disturbed: 2 devices were measured side by side and a "
           "hypervisor took CPU time (1 of them). Verdicts count only what this cannot explain."));
}

TEST(Analysis, TracesTakenBesideOtherDevicesAreSaidToBe) {
  mprof::Run run = samples::healthy();
  std::size_t traced = 0;
  for (Case& c : run.cases) {
    PassResult trace{.pass = Pass::trace};
    trace.status = Status::ok;
    trace.sampling.emplace();
    if (traced++ < 2) trace.sampling->host_disturbance = "other devices of the host were at work";
    c.passes.push_back(trace);
  }
  const auto is_said = [&](const mprof::Run& of) {
    const RunAnalysis analysis = analyse(of);
    const auto found = find<finding::BusyTraces>(analysis);
    return found.size() == 1 && found[0].busy == 2 && found[0].traced == traced;
  };
  EXPECT_TRUE(is_said(run));
  for (Case& c : run.cases)
    samples::timing(c).sampling->host_disturbance = "2 devices were measured side by side";
  EXPECT_TRUE(is_said(run)) << "what is said of the times is not said of the trace";
}

TEST(Analysis, CasesThatSeveralGpusShareAreSaidToBe) {
  mprof::Run run = samples::healthy();
  run.parts.resize(2);
  run.parts[0].environment["gpu"]["UUID"] = std::string("GPU-1");
  run.parts[1].environment["gpu"]["UUID"] = std::string("GPU-2");
  for (const Case& c : run.cases) run.parts[samples::batch_of(c) == 100 ? 0 : 1].cases.push_back(c.id);
  const auto within_a_problem = [&] {
    const RunAnalysis analysis = analyse(run);
    const auto found = find<finding::DividedCases>(analysis);
    EXPECT_EQ(found.size(), 1U);
    EXPECT_EQ(found.at(0).gpus, 2U);
    return found.at(0).within_a_problem;
  };
  EXPECT_FALSE(within_a_problem());
  std::swap(run.parts[0].cases.front(), run.parts[1].cases.front());
  EXPECT_TRUE(within_a_problem());
  run.environment["gpu"]["GPUs"] = 1.0;
  EXPECT_FALSE(shown_environment(run).at("gpu").contains("GPUs")) << "each saw its own alone";
  run.parts[1].environment = run.parts[0].environment;
  EXPECT_TRUE(find<finding::DividedCases>(analyse(run)).empty());
}

TEST(Analysis, DisturbancesEverywhereAreOneSentence) {
  mprof::Run run = samples::healthy();
  double load = 1;
  for (Case& c : run.cases)
    samples::timing(c).sampling->host_disturbance =
        fmt::format("other processes used the CPUs: {} busy", load++);
  const RunAnalysis analysis = analyse(run);
  EXPECT_TRUE(find<finding::DisturbedCase>(analysis).empty());
  const auto together = find<finding::DisturbedCases>(analysis);
  ASSERT_EQ(together.size(), 1U);
  EXPECT_EQ(together[0].part, finding::DisturbedPart::host_alone);
  EXPECT_EQ(together[0].cases, 12U);
  EXPECT_EQ(together[0].timed, 12U);
  ASSERT_EQ(together[0].causes.size(), 1U) << "the details differ, the cause does not";
  EXPECT_EQ(together[0].causes[0].cases, 12U);
  const auto counted =
      std::ranges::find_if(analysis.findings, [](const Finding& f) { return !f.details.empty(); });
  ASSERT_NE(counted, analysis.findings.end());
  EXPECT_EQ(counted->details.size(), 12U) << "each of them is there to be unfolded";
}

Measurement& total_time_of(Case& c) {
  for (Measurement& row : samples::timing(c).measurements) {
    if (row.metric == "total_time") return row;
  }
  throw std::logic_error("a case without a total time");
}

TEST(Analysis, WhatTheOrderOfSamplesShowsIsSaidOnceOfEachKind) {
  mprof::Run run = samples::healthy();
  EXPECT_FALSE(says(analyse(run), Severity::caution, "step within a round"));
  total_time_of(run.cases[0]).derived.own().series.steps = {{1, 3, 0.176, 0.197}};
  EXPECT_TRUE(
      says(analyse(run), Severity::caution,
           "A step within a round: conv/cpu_naive@100 total execution time 176.0\u00a0ms for 3 samples, then "
           "197.0\u00a0ms (round 2). Such a median depends on when the step came."));
  total_time_of(run.cases[1]).derived.own().series = {.steps = {{0, 2, 0.1, 0.2}, {0, 7, 0.2, 0.05}},
                                                      .autocorrelation = 0.8};
  total_time_of(run.cases[2]).derived.own().series.far_out = {0, 1};
  const RunAnalysis analysis = analyse(run);
  EXPECT_TRUE(says_one_by_one(
      analysis,
      "2 of 2 times with enough samples have a step within a round, the largest: " + run.cases[1].id +
          " total execution time 200.0\u00a0ms for 5 "
          "samples, then 50.00\u00a0ms (round 1)"));
  EXPECT_TRUE(
      says_one_by_one(analysis, "a sample is much like the one before (the most: " + run.cases[1].id));
  EXPECT_FALSE(says(analysis, Severity::caution, "rounds of fewer than 3 samples"));
  EXPECT_TRUE(says_one_by_one(analysis, "of the samples lie beyond Tukey's outer fences"));
  EXPECT_TRUE(says(analysis, Severity::caution,
                   "Samples of a round are not always alike (none was dropped): 2 of 2 times have a step, "
                   "1 of 84 drifts or swings and 1 of 84 has more than 5\u00a0% of the samples far out."));

  Measurement& long_enough = total_time_of(run.cases[3]);
  long_enough.samples.resize(40, long_enough.samples.front());
  long_enough.rounds = {20, 19, 1};
  const RunAnalysis more = analyse(run);
  EXPECT_TRUE(says_one_by_one(more, "2 of 3 times with enough samples have a step within a round"));
  EXPECT_TRUE(
      says(more, Severity::caution, "have rounds of fewer than 3 samples: the median of such a round "));
}

TEST(Analysis, ADisturbedTimeSaysSoAndIsNoSpeedUpBeyondDoubt) {
  mprof::Run run = samples::healthy();
  for (Case& c : run.cases) total_time_of(c).derived.own().disturbed = "the GPU throttled";
  const RunAnalysis analysis = analyse(run);
  for (const VariantResult& variant : analysis.families[0].variants) {
    for (const CaseResult& result : variant.cases) {
      EXPECT_FALSE(is_change(result.total_speed_up.verdict)) << result.id;
      EXPECT_EQ(!result.total_speed_up.disturbed.empty(), result.total_speed_up.factor.has_value())
          << result.id;
    }
  }
}

TEST(Analysis, ACaseThatWaitsForItsCountersIsStillToDo) {
  mprof::Run run = samples::healthy();
  run.state = RunState::interrupted;
  samples::pass_of(run.cases[3], Pass::counters).status = Status::pending;
  EXPECT_TRUE(says(analyse(run), Severity::incomplete, "1 of 12 cases still to do"));
}

TEST(Analysis, OfThePossibleIsThatOfTheTighterPeak) {
  mprof::Run run = samples::healthy();
  Case& c = run.cases[0];
  samples::set_samples(c, "compute_throughput", "layer1", {12});
  samples::set_samples(c, "memory_throughput", "layer1", {30});
  const RunAnalysis analysis = analyse(run);
  EXPECT_DOUBLE_EQ(analysis.families[0].variants[0].cases[0].ops[0].of_possible->median, 30);
  const mprof::Run gpu = samples::gpu();
  const RunAnalysis outside = analyse(gpu);
  EXPECT_FALSE(result_of(outside, "conv/streams@10000").ops[0].of_possible) << "its op time says little";
  EXPECT_NEAR(*result_of(outside, "conv/streams@10000").ops[0].gpu_speed_up.factor, 1, 1e-9);
}

TEST(Analysis, ALossOfAccuracyIsFound) {
  mprof::Run run = samples::healthy();
  samples::set_samples(run.cases.back(), "accuracy", "", {0.9127 - 0.0021});
  EXPECT_TRUE(says(analyse(run), Severity::wrong, "The accuracy of conv/cpu_onednn@10000"));
  samples::set_samples(run.cases.back(), "accuracy", "", {0.9127 - 0.0019});
  EXPECT_TRUE(analyse(run).findings.empty());
}

TEST(Analysis, RunsThatHoldAlmostNothing) {
  const mprof::Run empty = samples::empty_run();
  EXPECT_TRUE(says(analyse(empty), Severity::incomplete, "no case"));
  mprof::Run skipped = samples::empty_run();
  skipped.families = {samples::conv_family()};
  const VariantInfo cudnn = samples::variant("conv/cudnn");
  for (const std::uint64_t batch : {std::uint64_t{100}, std::uint64_t{1000}}) {
    skipped.cases.push_back(samples::failed_case(cudnn, batch, Status::skipped, "no CUDA device"));
  }
  skipped.plan.passes = {Pass::counters};
  const RunAnalysis analysis = analyse(skipped);
  EXPECT_TRUE(says(analysis, Severity::incomplete,
                   "conv/cudnn was skipped at batches 100 and 1000: no CUDA device."));
  EXPECT_TRUE(says(analysis, Severity::incomplete, "no timing pass"));
  for (const Best& best : analysis.families[0].best) EXPECT_EQ(best.fastest, nullptr);
}

TEST(Analysis, AReasonThatManyVariantsShareIsSaidOnce) {
  mprof::Run run = samples::healthy();
  for (Case& c : run.cases) {
    if (c.key.variant == "conv/cpu_naive" || c.key.variant == run.cases.front().key.variant) continue;
    for (PassResult& pass : c.passes)
      pass = {.pass = pass.pass, .status = Status::skipped, .reason = "no GPU"};
  }
  const RunAnalysis analysis = analyse(run);
  const auto skipped = find<finding::SkippedAlike>(analysis);
  ASSERT_EQ(skipped.size(), 1U);
  EXPECT_EQ(skipped[0].reason, "no GPU");
  EXPECT_FALSE(skipped[0].of_one_variant);
  EXPECT_TRUE(find<finding::MissingCase>(analysis).empty());
}

struct ExpectationCase {
  const char* what;
  Expectation expectation;
  double after;  ///< op time of layer 1; before it was 1
  Outcome outcome;
  const char* disturbed = "";  ///< what disturbed both times
};

// GoogleTest gives the name. NOLINTNEXTLINE(readability-identifier-naming)
void PrintTo(const ExpectationCase& c, std::ostream* stream) {
  *stream << c.what;
}

class Expectations : public testing::TestWithParam<ExpectationCase> {};

TEST_P(Expectations, AreCheckedAgainstTheBaseline) {
  mprof::Run run = samples::empty_run();
  VariantInfo base = samples::variant("conv/base"), heir = samples::variant("conv/heir", "conv/base");
  heir.expectations = {GetParam().expectation};
  run.variants = {base, heir};
  run.cases = {samples::timed_case(base, 100, 1, 1), samples::timed_case(heir, 100, GetParam().after, 1)};
  for (Case& c : run.cases) {
    for (Measurement& row : samples::timing(c).measurements)
      row.derived.own().disturbed = GetParam().disturbed;
    samples::timing(c).measurements.push_back(samples::measured("major_page_faults", "", {0, 0, 0}));
  }
  const RunAnalysis analysis = analyse(run);
  const auto& judged = analysis.families[0].variants[1].expectations.at(0).at;
  ASSERT_EQ(judged.size(), 1U);
  EXPECT_EQ(judged[0].outcome, GetParam().outcome) << GetParam().what << ": " << say(judged[0].reason);
  EXPECT_EQ(judged[0].reason.empty(), GetParam().outcome == Outcome::met) << GetParam().what;
}

Expectation expect(std::string metric, std::string op, Direction direction,
                   std::optional<double> factor = {}) {
  return {std::move(metric), std::move(op), direction, factor, "why"};
}

INSTANTIATE_TEST_SUITE_P(
    Outcomes, Expectations,
    testing::Values(
        ExpectationCase{"falls", expect("op_time", "layer1", Direction::decreases), 0.5, Outcome::met},
        ExpectationCase{"rises instead", expect("op_time", "layer1", Direction::decreases), 1.5,
                        Outcome::not_met},
        ExpectationCase{"overlaps", expect("op_time", "layer1", Direction::decreases), 0.999,
                        Outcome::not_met},
        ExpectationCase{"far enough", expect("op_time", "layer1", Direction::decreases, 2), 0.49,
                        Outcome::met},
        ExpectationCase{"not far enough", expect("op_time", "layer1", Direction::decreases, 2), 0.6,
                        Outcome::not_met},
        ExpectationCase{"rises", expect("op_time", "layer1", Direction::increases, 1.5), 1.6, Outcome::met},
        ExpectationCase{"stays", expect("op_time", "layer1", Direction::unchanged), 1.03, Outcome::met},
        ExpectationCase{"does not stay", expect("op_time", "layer1", Direction::unchanged), 1.2,
                        Outcome::not_met},
        ExpectationCase{"sum of ops falls", expect("op_time", "", Direction::decreases, 1.3), 0.5,
                        Outcome::met},
        ExpectationCase{"accuracy stays", expect("accuracy", "", Direction::unchanged), 0.5, Outcome::met},
        ExpectationCase{"falls far while disturbed", expect("op_time", "layer1", Direction::decreases, 2),
                        0.25, Outcome::not_told, "another process used the GPU"},
        ExpectationCase{"stays while disturbed", expect("op_time", "layer1", Direction::unchanged), 1.01,
                        Outcome::not_told, "another process used the GPU"},
        ExpectationCase{"absent", expect("cycles", "layer1", Direction::decreases), 0.5,
                        Outcome::not_measurable},
        ExpectationCase{"absent sum", expect("cycles", "", Direction::decreases), 0.5,
                        Outcome::not_measurable},
        ExpectationCase{"nothing to lower", expect("major_page_faults", "", Direction::decreases), 0.5,
                        Outcome::not_measurable},
        ExpectationCase{"unknown", expect("luck", "", Direction::increases), 0.5, Outcome::not_measurable}));

}  // namespace
}  // namespace mprof
