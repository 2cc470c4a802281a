// SPDX-License-Identifier: MIT
#include "report/analysis/standing/synergy.hpp"

#include <gtest/gtest.h>

#include "report/views/variant_parts.hpp"
#include "tests/report/sample_runs.hpp"

namespace mprof {
namespace {

constexpr std::uint64_t batch = 1000;

/// base -> a, base -> b, a -> both (which combines a and b), times of layer1 as given, layer2 all alike.
mprof::Run combined_run(double a, double b, double both) {
  mprof::Run run = samples::empty_run();
  VariantInfo together = samples::variant("conv/both", "conv/a");
  together.combines = {"conv/a", "conv/b"};
  run.variants = {samples::variant("conv/base"), samples::variant("conv/a", "conv/base"),
                  samples::variant("conv/b", "conv/base"), together};
  run.plan.problems = {{"conv", {samples::at_batch(batch)}}};
  const double times[] = {0.8, a, b, both};
  for (std::size_t i = 0; i < run.variants.size(); ++i)
    run.cases.push_back(samples::timed_case(run.variants[i], batch, times[i], 0.1));
  return run;
}

const VariantResult& variant_of(const FamilyResult& family, std::string_view id) {
  for (const VariantResult& variant : family.variants) {
    if (variant.info.id == id) return variant;
  }
  throw std::runtime_error("no such variant");
}

TEST(Synergy, ACombinationStandsBesideTheProductOfItsIdeas) {
  const mprof::Run run = combined_run(0.4, 0.2, 0.08);
  const RunAnalysis analysis = analyse(run);
  const FamilyResult& family = analysis.families.front();
  const auto found = combination_of(family, variant_of(family, "conv/both"));
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->absent.empty());
  EXPECT_EQ(found->common_baseline, "conv/base");
  EXPECT_EQ(found->problem, samples::at_batch(batch));
  ASSERT_EQ(found->ideas.size(), 2U);
  EXPECT_NEAR(*found->ideas[0].alone[0].factor, 2, 1e-9);
  EXPECT_NEAR(*found->ideas[1].alone[0].factor, 4, 1e-9);
  EXPECT_NEAR(*found->product[0], 8, 1e-9);
  EXPECT_NEAR(*found->together[0].factor, 10, 1e-9);
  EXPECT_NEAR(*found->product[1], 1, 1e-9);
  EXPECT_FALSE(combination_of(family, variant_of(family, "conv/a")).has_value());
}

TEST(Synergy, ACombinationWithoutOneOfItsIdeasSaysWhich) {
  mprof::Run run = combined_run(0.4, 0.2, 0.08);
  samples::timing(run.cases[2]).status = Status::wrong;
  const RunAnalysis analysis = analyse(run);
  const FamilyResult& family = analysis.families.front();
  const auto found = combination_of(family, variant_of(family, "conv/both"));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->absent, Why(Because::idea_not_verified, {"conv/b", "at batch 1000"}));
}

TEST(Synergy, ACombinationStandsWithEachOfItsIdeas) {
  const mprof::Run run = combined_run(0.4, 0.2, 0.08);
  const RunAnalysis analysis = analyse(run);
  const FamilyResult& family = analysis.families.front();
  for (const std::string& idea : variant_of(family, "conv/both").info.combines) {
    const auto found = combinations_with(family, variant_of(family, idea));
    ASSERT_EQ(found.size(), 1U) << idea;
    EXPECT_EQ(found.front().first->info.id, "conv/both");
    EXPECT_NEAR(*found.front().second.together[0].factor, 10, 1e-9);
  }
  EXPECT_TRUE(combinations_with(family, variant_of(family, "conv/both")).empty());
}

TEST(Synergy, TheLimitOfAVariantThatCopiesIsItsBudget) {
  mprof::Run run = samples::gpu();
  PassResult& trace = samples::pass_of(run.cases[1], Pass::trace);
  trace.status = Status::ok;
  for (const auto& [metric, value] : {std::pair{"gpu_kernel_alone_time", 0.018},
                                      {"gpu_copy_only_time", 0.057},
                                      {"gpu_idle_tracing_time", 0.1},
                                      {"gpu_idle_synchronization_time", 0.004},
                                      {"gpu_idle_allocation_time", 0.0},
                                      {"gpu_idle_api_time", 0.01},
                                      {"gpu_idle_host_time", 0.01},
                                      {"traced_group_time", 0.2}})
    trace.measurements.push_back(samples::measured(metric, "layer1", {value}));
  const RunAnalysis analysis = analyse(run);
  const FamilyResult& family = analysis.families.front();
  Anchors anchors;
  const nlohmann::json budget = outcome_view(family, family.variants[1], anchors)["budget"];
  ASSERT_EQ(budget.size(), 1U) << "layer2 was not traced";
  EXPECT_EQ(budget[0],
            "Of the layer time of layer1, as traced, 57\u00a0% is copying alone, 24\u00a0% the GPU waits for "
            "the host, 18\u00a0% kernels alone, 1\u00a0% kernels beside copies.");
  EXPECT_TRUE(outcome_view(family, family.variants[0], anchors)["budget"].empty())
      << "the baseline's op time is its kernels'";
}

TEST(Synergy, StepsLeadFromTheFirstBaseline) {
  const mprof::Run run = combined_run(0.4, 0.2, 0.08);
  const RunAnalysis analysis = analyse(run);
  const FamilyResult& family = analysis.families.front();
  const auto steps = steps_to(family, variant_of(family, "conv/both"));
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].variant->info.id, "conv/a");
  EXPECT_NEAR(*steps[1].step[0].factor, 5, 1e-9);
  EXPECT_NEAR(*steps[1].total[0].factor, 10, 1e-9);
  EXPECT_TRUE(steps_to(family, variant_of(family, "conv/base")).empty());
  ASSERT_EQ(built_on(family, variant_of(family, "conv/base")).size(), 2U);
  EXPECT_EQ(built_on(family, variant_of(family, "conv/a")).front()->info.id, "conv/both");
}

TEST(Synergy, BaselinesThatGoInACircleEnd) {
  mprof::Run run = combined_run(0.4, 0.2, 0.08);
  run.variants[0].baseline = "conv/both";
  const RunAnalysis analysis = analyse(run);
  const FamilyResult& family = analysis.families.front();
  EXPECT_LT(steps_to(family, variant_of(family, "conv/both")).size(), 100U);
}

TEST(Synergy, AmdahlSaysWhatAFasterOpCanDo) {
  mprof::Run run = combined_run(0.4, 0.2, 0.08);
  samples::set_samples(run.cases[1], "group_time", "layer1", {0.5});
  const RunAnalysis analysis = analyse(run);
  const FamilyResult& family = analysis.families.front();
  const auto gains = remaining_gains(family, family.variants[1].cases.front());
  ASSERT_EQ(gains.size(), 2U);
  EXPECT_NEAR(*gains[0].share, 0.8, 1e-3);
  EXPECT_NEAR(*gains[0].limit, 5, 0.02);
  EXPECT_FALSE(gains[0].copies.has_value()) << "there is no trace";
}

TEST(Synergy, HasNoLimitWhereNextToNothingRemains) {
  for (const double group : {0.4, 0.4000001, 0.402}) {
    mprof::Run run = combined_run(0.4, 0.2, 0.08);
    samples::set_samples(run.cases[1], "group_time", "layer1", {group});
    const RunAnalysis analysis = analyse(run);
    const auto gains =
        remaining_gains(analysis.families.front(), analysis.families.front().variants[1].cases.front());
    EXPECT_NEAR(*gains[0].share, 0.4 / group, 1e-2) << group;
    EXPECT_FALSE(gains[0].limit.has_value()) << group << ": up to " << *gains[0].limit << " times as fast";
  }
}

/// One traced execution of layer1, in s: kernels, of them alone, copying alone, and the whole.
void trace_of(Case& c, double kernels, double alone, double copying, double group, double tracing = 0) {
  PassResult& trace = samples::pass_of(c, Pass::trace);
  trace.status = Status::ok;
  for (const auto& [metric, value] : {std::pair{"gpu_time", kernels},
                                      {"gpu_kernel_alone_time", alone},
                                      {"gpu_copy_only_time", copying},
                                      {"gpu_idle_tracing_time", tracing},
                                      {"traced_group_time", group}})
    trace.measurements.push_back(samples::measured(metric, "layer1", {value}));
}

TEST(Synergy, KernelsThatOverlapCopiesBoundTheGainByTheTimeTheyAreAlone) {
  mprof::Run run = combined_run(0.032, 0.2, 0.08);
  Case& c = run.cases[1];
  samples::set_samples(c, "group_time", "layer1", samples::around(0.03627));
  trace_of(c, 0.03217, 0.01292, 0.0015, 0.03627);
  const RunAnalysis analysis = analyse(run);
  const auto gains =
      remaining_gains(analysis.families.front(), analysis.families.front().variants[1].cases.front());
  EXPECT_TRUE(gains[0].traced);
  EXPECT_NEAR(*gains[0].limit, 1.55, 0.01) << "and not 8.85, which the kernels' whole time would give";
  EXPECT_NEAR(*gains[0].copies, 0.0414, 1e-3);
}

TEST(Synergy, SharesAreOfOnePassAndNeverPassTheWhole) {
  mprof::Run run = combined_run(0.4, 0.2, 0.08);
  Case& c = run.cases[1];
  // Untraced, the op takes 80 % of the time; traced, copies alone take 40 %.
  samples::set_samples(c, "group_time", "layer1", {0.5});
  trace_of(c, 0.45, 0.45, 0.4, 1.1, 0.1);
  const RunAnalysis analysis = analyse(run);
  const FamilyResult& family = analysis.families.front();
  const auto gains = remaining_gains(family, family.variants[1].cases.front());
  EXPECT_NEAR(*gains[0].share, 0.45, 1e-9) << "what tracing cost is not the case's";
  EXPECT_NEAR(*gains[0].copies, 0.4, 1e-9);
  EXPECT_NEAR(*gains[0].limit, 1 / 0.55, 1e-9);
}

TEST(Synergy, WithoutATraceNothingBoundsWhatOverlapsOrWorksElsewhere) {
  mprof::Run run = combined_run(0.4, 0.2, 0.08);
  samples::set_samples(run.cases[1], "op_time", "layer1", samples::around(1e-6));
  samples::set_samples(run.cases[1], "group_time", "layer1", samples::around(0.5));
  samples::timing(run.cases[1]).measurements.push_back(samples::measured("gpu_time", "layer1", {0.4}));
  Case& overlapping = run.cases[2];
  for (const auto& [metric, value] :
       {std::pair{"copy_overlap", 0.5}, {"copy_in_time", 0.1}, {"copy_out_time", 0.1}, {"gpu_time", 0.2}})
    samples::timing(overlapping).measurements.push_back(samples::measured(metric, "layer1", {value}));
  const RunAnalysis analysis = analyse(run);
  const FamilyResult& family = analysis.families.front();
  const RemainingGain elsewhere = remaining_gains(family, family.variants[1].cases.front()).front();
  EXPECT_FALSE(elsewhere.share.has_value());
  EXPECT_EQ(elsewhere.absent, Why(Because::op_time_flawed_untraced, {}, {}, {Because::works_elsewhere}));
  const RemainingGain beside = remaining_gains(family, family.variants[2].cases.front()).front();
  EXPECT_FALSE(beside.limit.has_value());
  EXPECT_EQ(beside.absent, Why(Because::copies_beside_untraced));
  EXPECT_FALSE(remaining_gain_of_whole(family, family.variants[2].cases.front()).has_value());
}

}  // namespace
}  // namespace mprof
