#include "runner/plan.hpp"

#include <gtest/gtest.h>

#include "fake_workload.hpp"
#include "system/error.hpp"
#include "tests/support/fake_device.hpp"

namespace mprof {
namespace {

class PlanTest : public ::testing::Test {
 protected:
  PlanTest() {
    registry.add(std::make_unique<test::FakeFamily>(
        std::map<std::string, std::function<test::Script(std::uint64_t)>>{}));
    registry.add(test::fake_variant("fake/plain"));
    RegisteredVariant tiled = test::fake_variant(
        "fake/tiled",
        {{"tile", "tile width", "16", {"8", "16", "32"}}, {"unroll", "times", "1", {"1", "2"}}});
    tiled.info.baseline = "fake/plain";
    registry.add(tiled);
    RegisteredVariant gpu = test::fake_variant("fake/gpu");
    gpu.info.device = "cuda";
    registry.add(gpu);
    devices.add(std::make_unique<test::FakeDevice>(clock), 0);
    selection.passes = {Pass::timing, Pass::counters};
    selection.all = true;
  }

  std::string refused() {
    try {
      static_cast<void>(make_plan(selection, registry, devices));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return error.what();
    }
    ADD_FAILURE() << "was not refused";
    return "";
  }

  std::vector<std::string> case_ids() {
    std::vector<std::string> ids;
    for (const Case& c : make_cases(make_plan(selection, registry, devices), registry)) ids.push_back(c.id);
    return ids;
  }

  void pick(const std::string& pattern) {
    selection.all = false;
    selection.patterns = {pattern};
  }

  test::FakeClock clock;
  Registry registry;
  Devices devices;
  Selection selection;
};

TEST_F(PlanTest, AllTakesEveryVariantAndTheFamilysBatches) {
  const Plan plan = make_plan(selection, registry, devices);
  EXPECT_EQ(plan.variants.size(), 3U);
  EXPECT_EQ(plan.batches, (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(make_cases(plan, registry).size(), 9U);
}

TEST_F(PlanTest, AllLeavesTheCpuVariantsOutWhereThereIsAGpu) {
  devices.add(std::make_unique<test::FakeDevice>(clock, "cuda"), 10);
  EXPECT_EQ(make_plan(selection, registry, devices).variants, std::vector<std::string>{"fake/gpu"});
}

TEST_F(PlanTest, QuickTakesFewBatchesAndRepeats) {
  selection.quick = true;
  const Plan plan = make_plan(selection, registry, devices);
  EXPECT_EQ(plan.batches, std::vector<std::uint64_t>{1});
  EXPECT_LT(plan.stopping.max_samples, Stopping{}.max_samples);
}

TEST_F(PlanTest, AGlobSelects) {
  pick("fake/[tp]*");
  EXPECT_EQ(make_plan(selection, registry, devices).variants,
            (std::vector<std::string>{"fake/plain", "fake/tiled"}));
}

TEST_F(PlanTest, AnUnknownVariantIsRefusedWithTheNearest) {
  pick("fake/tilde");
  EXPECT_NE(refused().find("no variant is called 'fake/tilde'. Did you mean fake/tiled?"), std::string::npos);
}

TEST_F(PlanTest, SweepsMakeEveryCombination) {
  pick("fake/tiled");
  selection.batches = {1};
  selection.settings = {{"tile", {"8", "16"}}, {"unroll", {"*"}}};
  EXPECT_EQ(case_ids(), (std::vector<std::string>{"fake/tiled[tile=8]@1", "fake/tiled[tile=8,unroll=2]@1",
                                                  "fake/tiled@1", "fake/tiled[unroll=2]@1"}));
}

TEST_F(PlanTest, AValueNamedTwiceIsOnePoint) {
  pick("fake/tiled");
  selection.batches = {1};
  selection.settings = {{"tile", {"8", "16", "8"}}};
  EXPECT_EQ(case_ids(), (std::vector<std::string>{"fake/tiled[tile=8]@1", "fake/tiled@1"}));
}

TEST_F(PlanTest, KeepsTheMetricsOfAPassThatReadsThem) {
  selection.metrics = {"dram__bytes.sum"};
  EXPECT_EQ(make_plan(selection, registry, devices).metrics, selection.metrics);
  selection.passes = {Pass::timing};
  EXPECT_TRUE(make_plan(selection, registry, devices).metrics.empty());
  selection.passes = {Pass::counters};
  pick("fake/plain");
  EXPECT_TRUE(make_plan(selection, registry, devices).metrics.empty()) << "it runs on the CPU";
}

TEST_F(PlanTest, AnUnknownParameterIsRefused) {
  selection.settings = {{"tiel", {"8"}}};
  EXPECT_NE(
      refused().find("--set tiel: no selected variant has a parameter of this name. Did you mean tile?"),
      std::string::npos);
}

TEST_F(PlanTest, AnUnknownValueIsRefusedWithTheAllowedOnes) {
  selection.settings = {{"tile", {"8", "9"}}};
  EXPECT_NE(refused().find("fake/tiled takes 8, 16, 32 for tile, not '9'"), std::string::npos);
}

TEST_F(PlanTest, ABatchOutsideTheFamilyIsRefused) {
  for (const std::uint64_t batch : {std::uint64_t{0}, std::uint64_t{1001}, std::uint64_t{1} << 31}) {
    selection.batches = {batch};
    EXPECT_NE(refused().find("takes 1 to 1000 images"), std::string::npos) << batch;
  }
}

TEST_F(PlanTest, BatchesAreSortedAndSingle) {
  selection.batches = {5, 2, 5};
  EXPECT_EQ(make_plan(selection, registry, devices).batches, (std::vector<std::uint64_t>{2, 5}));
}

TEST_F(PlanTest, WhatCannotRunHereIsSkippedWithTheReason) {
  std::vector<Case> cases = make_cases(make_plan(selection, registry, devices), registry);
  skip_unavailable(cases, registry, devices);
  for (const Case& c : cases) {
    const bool gpu = c.key.variant == "fake/gpu";
    EXPECT_EQ(case_status(c), gpu ? Status::skipped : Status::pending) << c.id;
    EXPECT_EQ(case_reason(c), gpu ? "this build of mprof has no cuda device" : "not run yet");
  }
}

TEST_F(PlanTest, TheRecordKeepsTheBaselineThatAVariantNames) {
  pick("fake/tiled");
  const std::vector<VariantInfo> kept = variants_of(make_plan(selection, registry, devices), registry);
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0].id, "fake/plain");
}

}  // namespace
}  // namespace mprof
