// SPDX-License-Identifier: MIT
#include "report/analysis/program/gpu_load.hpp"

#include <cmath>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/wording/gpu_load.hpp"
#include "tests/report/fabricated_trace.hpp"

namespace mprof {
namespace {

using test::FabricatedTrace;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using trace::GpuMetric;

/// Per cent of a metric in the sample that begins at a time.
using ValueAt = std::function<float(std::int64_t)>;

/// Samples of 100 ns from one time to another.
trace::GpuSamples sampled_from(std::int64_t from, std::int64_t to, const ValueAt& sm,
                               const ValueAt& matrices) {
  trace::GpuSamples samples{.interval = 100};
  samples.curves = {{std::string(trace::info_of(GpuMetric::sm_active).name), {}},
                    {std::string(trace::info_of(GpuMetric::tensor_active).name), {}}};
  for (std::int64_t time = from; time < to; time += 100) {
    samples.times.push_back({time, time + 100});
    samples.curves[0].values.push_back(sm(time));
    samples.curves[1].values.push_back(matrices(time));
  }
  return samples;
}

ValueAt always(float value) {
  return [=](std::int64_t) { return value; };
}

/// A kernel from 1000 to 2000, in which half of the SMs work, and one of 300 at 3000, in which all do.
class GpuLoadTest : public ::testing::Test {
 protected:
  GpuLoadTest() {
    made.add_case("program/p");
    made.kernel(7, {1000, 2000}, 0, "long_kernel");
    made.kernel(7, {3000, 3300}, 0, "short_kernel");
    const ValueAt sm = [](std::int64_t time) {
      return time >= 1000 && time < 2000 ? 50.F : time >= 3000 && time < 3300 ? 100.F : 0.F;
    };
    const ValueAt matrices = [](std::int64_t time) { return time >= 1000 && time < 2000 ? 20.F : 0.F; };
    made.trace.gpu_samples = {sampled_from(0, 4000, sm, matrices)};
  }
  [[nodiscard]] std::vector<GpuLoad> loads(const trace::Interval& time = {0, 4000}) const {
    return gpu_loads_of(made.trace, 0, time, {0, 1000});
  }
  [[nodiscard]] static const PartLoad* part(const GpuLoad& load, LoadedPart what,
                                            const std::string& name = "") {
    const auto found = std::ranges::find_if(
        load.parts, [&](const PartLoad& one) { return one.what == what && one.name == name; });
    return found == load.parts.end() ? nullptr : &*found;
  }

  FabricatedTrace made;
};

TEST_F(GpuLoadTest, AMetricHasItsMeanItsMedianAndItsHighOverTheTime) {
  const std::vector<GpuLoad> all = loads();
  ASSERT_EQ(all.size(), 1);
  EXPECT_EQ(all[0].count, 40);
  EXPECT_DOUBLE_EQ(all[0].covered, 1);
  const MetricLoad& sm = *all[0].of(GpuMetric::sm_active);
  EXPECT_NEAR(sm.mean, (10 * 0.5 + 3 * 1.0) / 40, 1e-9);
  EXPECT_DOUBLE_EQ(sm.median, 0);
  EXPECT_NEAR(sm.high, 1, 1e-6) << "3 of 40 samples are full";
  EXPECT_NEAR(all[0].of(GpuMetric::tensor_active)->mean, 10 * 0.2 / 40, 1e-9);
  EXPECT_EQ(all[0].of(GpuMetric::dram_read), nullptr);
  ASSERT_TRUE(all[0].idle.has_value());
  EXPECT_DOUBLE_EQ(*all[0].idle, 27.0 / 40);
}

TEST_F(GpuLoadTest, OnlyTheTimeThatIsAskedForCounts) {
  const std::vector<GpuLoad> all = loads({1000, 2000});
  ASSERT_EQ(all.size(), 1);
  EXPECT_EQ(all[0].count, 10);
  EXPECT_NEAR(all[0].of(GpuMetric::sm_active)->mean, 0.5, 1e-6);
  EXPECT_THAT(loads({0, 450}), IsEmpty()) << "four samples lie in it";
}

TEST_F(GpuLoadTest, WhileKernelsRanTheSamplesThatTheyFillCount) {
  const std::vector<GpuLoad> all = loads();
  const PartLoad* const kernels = part(all.at(0), LoadedPart::kernels);
  ASSERT_NE(kernels, nullptr);
  EXPECT_EQ(kernels->samples, 13);
  EXPECT_NEAR(kernels->means.at(0).value_or(0), (10 * 0.5 + 3 * 1.0) / 13, 1e-6);
}

TEST_F(GpuLoadTest, ASampleThatIsHalfIdleIsNoSampleOfKernels) {
  made.kernel(7, {2050, 2100}, 0, "half");
  EXPECT_EQ(part(loads().at(0), LoadedPart::kernels)->samples, 13);
}

TEST_F(GpuLoadTest, AKernelNeedsFiveSamplesInOneLaunch) {
  const std::vector<GpuLoad> all = loads();
  const PartLoad* const one = part(all.at(0), LoadedPart::kernel, "long_kernel");
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(one->samples, 10);
  EXPECT_NEAR(one->means.at(1).value_or(0), 0.2, 1e-6);
  EXPECT_EQ(part(all.at(0), LoadedPart::kernel, "short_kernel"), nullptr);
}

TEST_F(GpuLoadTest, OpsHaveTheSamplesThatTheirOwnKernelsFill) {
  const trace::PlaceIndex first = made.trace.index_of({"forward", trace::part::op});
  const trace::PlaceIndex second = made.trace.index_of({"backward", trace::part::op});
  made.trace.kernels.rows()[0].place = first;
  made.trace.kernels.rows()[1].place = second;
  const std::vector<GpuLoad> all = loads();
  ASSERT_NE(part(all.at(0), LoadedPart::op, "forward"), nullptr);
  EXPECT_EQ(part(all.at(0), LoadedPart::op, "forward")->samples, 10);
  EXPECT_EQ(part(all.at(0), LoadedPart::op, "backward"), nullptr) << "three samples";
}

TEST_F(GpuLoadTest, AnotherGpusKernelsAreNotOfThisOne) {
  made.trace.gpu_samples.front().device = 1;
  EXPECT_THAT(loads().at(0).parts, IsEmpty());
}

TEST_F(GpuLoadTest, GapsAreNoSamplesAndAreSaid) {
  trace::GpuSamples& samples = made.trace.gpu_samples.front();
  samples.times.erase(samples.times.begin() + 20, samples.times.begin() + 30);
  for (trace::GpuCurve& curve : samples.curves)
    curve.values.erase(curve.values.begin() + 20, curve.values.begin() + 30);
  const GpuLoad load = loads().at(0);
  EXPECT_DOUBLE_EQ(load.covered, 0.75);
  EXPECT_THAT(load_remarks(load, "steady steps").back(), HasSubstr("The samples cover 75.0"));
  GpuLoad drawn = load;
  drawn.drawn = {1800, 2200};
  EXPECT_THAT(drawn_curve(drawn, GpuMetric::sm_active, 4),
              ElementsAre(testing::Optional(testing::DoubleEq(0.5)),
                          testing::Optional(testing::DoubleEq(0.5)), std::nullopt, std::nullopt));
}

TEST_F(GpuLoadTest, WhatWasNotMeasuredIsInNoMean) {
  made.trace.gpu_samples.front().curves[1].values[12] = std::nanf("");
  const GpuLoad load = loads().at(0);
  EXPECT_NEAR(load.of(GpuMetric::tensor_active)->mean, 9 * 0.2 / 39, 1e-9);
  EXPECT_NEAR(part(load, LoadedPart::kernel, "long_kernel")->means.at(1).value_or(0), 0.2, 1e-6);
}

TEST_F(GpuLoadTest, ItIsSaidInShort) {
  const std::vector<std::string> remarks = load_remarks(loads().at(0), "steady steps");
  ASSERT_EQ(remarks.size(), 2);
  EXPECT_THAT(remarks[0], HasSubstr("In the steady steps, on average: SMs active 20.0"));
  EXPECT_THAT(remarks[0], HasSubstr("tensor cores active 5.0"));
  EXPECT_THAT(remarks[0], HasSubstr("In 67.5"));
  EXPECT_THAT(remarks[1], HasSubstr("40 samples in the steady steps"));
}

/// Whether the remarks say that kernels leave SMs without work.
bool says_few_work(const GpuLoad& load) {
  const std::vector<std::string> remarks = load_remarks(load, "steady steps");
  return std::ranges::any_of(
      remarks, [](const std::string& one) { return one.find("an SM had work for") != one.npos; });
}

TEST_F(GpuLoadTest, FewActiveMultiprocessorsInKernelsAreNamedWhereManySamplesSayIt) {
  EXPECT_FALSE(says_few_work(loads().at(0))) << "13 samples are few";
  made.kernel(7, {4000, 14'000}, 0, "tiny_grid");
  made.trace.gpu_samples = {sampled_from(0, 14'000, always(12), always(0))};
  EXPECT_TRUE(says_few_work(loads({0, 14'000}).at(0)));
  made.trace.gpu_samples = {sampled_from(0, 14'000, always(80), always(0))};
  EXPECT_FALSE(says_few_work(loads({0, 14'000}).at(0)));
}

TEST_F(GpuLoadTest, AGpuThatWasNotSampledHasNoLoad) {
  made.trace.gpu_samples.clear();
  EXPECT_THAT(loads(), IsEmpty());
}

}  // namespace
}  // namespace mprof
