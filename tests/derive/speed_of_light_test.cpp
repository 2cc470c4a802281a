// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "model/derive/subjects.hpp"
#include "model/metric.hpp"
#include "tests/support/measurements.hpp"

namespace mprof {
namespace {

using Samples = std::vector<double>;
using test::row_of;

class SpeedOfLightTest : public ::testing::Test {
 protected:
  SpeedOfLightTest() {
    subject.ops = {{.name = "first", .flops = 1000, .bytes = 64},
                   {.name = "second", .flops = 4000, .bytes = 128, .special_operations = 50}};
    subject.passes = {{.pass = Pass::timing}};
    times() = {{"op_time", "first", "", Source::measured, {9, 0.5, 0.25}, ""},
               {"op_time", "second", "", Source::measured, {}, "it failed"}};
  }

  [[nodiscard]] std::vector<Measurement>& times() { return subject.passes[0].measurements; }
  [[nodiscard]] std::vector<Measurement> rows() const {
    return modelled_speed_of_light(subject, variant, ceilings);
  }

  Case subject;
  VariantInfo variant{.device = "cpu"};
  std::vector<Ceiling> ceilings{{"fp32_flop_rate", "cpu", 10'000.0, "", ""},
                                {"memory_bandwidth", "cpu", 512.0, "", ""},
                                {"special_function_rate", "cpu", 400.0, "", ""},
                                {"fp32_flop_rate", "cuda", 1.0, "", ""}};
};

TEST_F(SpeedOfLightTest, IsWorkOverMedianTimeOverThePeakOfTheDevice) {
  EXPECT_EQ(row_of(rows(), "flops", "first").samples, Samples{1000});
  EXPECT_EQ(row_of(rows(), "bytes", "first").samples, Samples{64});
  EXPECT_EQ(row_of(rows(), "flop_rate", "first").samples, Samples{2000});
  EXPECT_EQ(row_of(rows(), "byte_rate", "first").samples, Samples{128});
  EXPECT_EQ(row_of(rows(), "compute_throughput", "first").samples, Samples{20});
  EXPECT_EQ(row_of(rows(), "memory_throughput", "first").samples, Samples{25});
  for (const Measurement& row : rows()) {
    EXPECT_EQ(row.source, Source::modelled) << row.metric.text();
    EXPECT_NE(find_metric(row.metric), nullptr) << row.metric.text();
  }
}

TEST_F(SpeedOfLightTest, HasSpecialFunctionsOfOpsThatNeedThem) {
  times()[1] = {"op_time", "second", "", Source::measured, {0.25}, ""};
  EXPECT_EQ(row_of(rows(), "special_operations", "second").samples, Samples{50});
  EXPECT_EQ(row_of(rows(), "special_rate", "second").samples, Samples{200});
  EXPECT_EQ(row_of(rows(), "special_throughput", "second").samples, Samples{50});
  for (const Measurement& row : rows()) {
    EXPECT_FALSE(row.op == "first" && row.metric.starts_with("special")) << row.metric.text();
  }
}

TEST_F(SpeedOfLightTest, HoldsAgainstTheirPeakThoseThatTheAlgorithmNeeds) {
  variant.special_functions = 0.5;
  times()[1] = {"op_time", "second", "", Source::measured, {0.25}, ""};
  EXPECT_EQ(row_of(rows(), "special_rate", "second").samples, Samples{200});
  EXPECT_EQ(row_of(rows(), "special_throughput", "second").samples, Samples{25});
}

TEST_F(SpeedOfLightTest, WithoutAnOpTimeHasTheReasonAndStillTheWork) {
  EXPECT_EQ(row_of(rows(), "flops", "second").samples, Samples{4000});
  for (const char* metric : {"flop_rate", "byte_rate", "special_rate", "compute_throughput",
                             "memory_throughput", "special_throughput"}) {
    EXPECT_EQ(row_of(rows(), metric, "second").absent, "op_time is absent: it failed");
  }
}

TEST_F(SpeedOfLightTest, OfAnOpTimeOfZeroIsAbsent) {
  times()[0].samples = {0, 0};
  EXPECT_EQ(row_of(rows(), "flop_rate", "first").absent, "op_time is 0: the variant works outside forward()");
}

TEST_F(SpeedOfLightTest, OfACaseThatWasNotTimedIsNothing) {
  times().clear();
  EXPECT_TRUE(rows().empty());
}

TEST_F(SpeedOfLightTest, OfAnOpWhoseWorkNobodyKnowsIsNothing) {
  subject.ops[0].flops = subject.ops[0].bytes = 0;  // as a program's
  for (const Measurement& row : rows()) EXPECT_EQ(row.op, "second") << row.metric.text() << " of 0 %";
}

TEST_F(SpeedOfLightTest, WithoutAPeakHasRatesAndNoPercentage) {
  ceilings[0].value.reset();
  ceilings[0].absent = "no time";
  ceilings.erase(ceilings.begin() + 1);
  EXPECT_EQ(row_of(rows(), "flop_rate", "first").samples, Samples{2000});
  EXPECT_EQ(row_of(rows(), "compute_throughput", "first").absent,
            "the peak fp32_flop_rate is absent: no time");
  EXPECT_EQ(row_of(rows(), "memory_throughput", "first").absent,
            "the peak memory_bandwidth of cpu was not measured");
}

}  // namespace
}  // namespace mprof
