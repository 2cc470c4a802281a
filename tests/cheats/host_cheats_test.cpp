// SPDX-License-Identifier: MIT
// The suite of cheats: variants of the CPU that pretend, measured as the product measures, each found out and
// for the right reason; and honest ones, of which nothing is said.
#include "tests/cheats/host_cheats.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectors/collector.hpp"
#include "device/device.hpp"
#include "kernels/elementwise/map/execution.hpp"
#include "kernels/registry.hpp"
#include "model/statistics/median.hpp"
#include "runner/measure.hpp"

namespace mprof::elementwise::cheats {
namespace {

using ::testing::HasSubstr;

constexpr unsigned iterations = 8;  // so that the smallest is well above what may lie outside forward()

/// The timing pass of a map, as a worker makes it.
PassResult measured(const std::function<std::unique_ptr<Map>()>& make, std::size_t size) {
  const Family& family = *Registry::instance().family("elementwise");
  const Problem problem{{{"size", size}, {"iterations", iterations}}};
  const Case subject{.id = "elementwise/cheat@" + std::to_string(size),
                     .key = {"elementwise/cheat", {}, problem},
                     .ops = family.ops(problem)};
  Plan plan;
  plan.quick = true;
  plan.stopping = {.min_samples = 7, .max_samples = 9, .max_seconds = 10, .relative_half_width = 0.01};
  const MeasureContext context{.subject = subject,
                               .family = family.info(),
                               .device = *Devices::instance().find("cpu"),
                               .clock = steady_clock(),
                               .collectors = CollectorKinds::instance(),
                               .plan = plan,
                               .seed = size};
  const Declaration declaration{
      .title = {}, .idea = {}, .device = "cpu", .baseline = {}, .make = [&](const Parameters&) {
        return make();
      }};
  const Inputs inputs({.size = size, .iterations = iterations});
  MapExecution execution(inputs, declaration, {});
  return measure_timing(context, execution);
}

template <class M, class... Arguments>
std::function<std::unique_ptr<Map>()> maker(Arguments... arguments) {
  return [=] { return std::make_unique<M>(arguments...); };
}

struct Cheat {
  const char* name;
  std::function<std::unique_ptr<Map>()> make;
  Status status;
  const char* reason;
};

const std::vector<Cheat>& all_cheats() {
  static const std::vector<Cheat> cheats{
      {"ReplaysItsOutput", maker<ReplaysItsOutput>(), Status::wrong,
       "in timed execution 1, map: the relative"},
      {"DoesNothingAfterTheFirstCall", maker<DoesNothingAfterTheFirstCall>(), Status::wrong,
       "elements were never written"},
      {"IsRightAFewTimes", maker<IsRightAFewTimes>(), Status::wrong,
       "it was right when it was verified, and in timed execution"},
      {"WarmsUpAndThenLeavesRowsOut", maker<WarmsUpAndThenLeavesRowsOut>(), Status::wrong,
       "it does not do the same work each time"},
      {"ComputesInPrepare", maker<ComputesInPrepare>(), Status::suspect,
       "of the CPU time of map is spent outside forward()"},
      {"ComputesInFinish", maker<ComputesInFinish>(), Status::suspect,
       "of the CPU time of map is spent outside forward()"},
      {"ReturnsBeforeItsThread", maker<ReturnsBeforeItsThread>(), Status::suspect,
       "of the CPU time of map is spent outside forward()"},
      {"OverwritesItsInput", maker<OverwritesItsInput>(), Status::wrong, "its inputs were overwritten"},
      {"IsRightForOneShape", maker<IsRightForOneShape>(), Status::wrong, "elements were never written"},
      {"ComputesInHalfPrecision", maker<ComputesInHalfPrecision>(), Status::wrong, "the relative L2 error"},
      {"KnowsTheInputs", maker<KnowsTheInputs>(false), Status::wrong, "on inputs drawn at random, map:"},
      {"KnowsTheInputsAndComputesOthers", maker<KnowsTheInputs>(true), Status::suspect,
       "times as long for inputs that it has never been given"},
  };
  return cheats;
}

class EachCheat : public ::testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {
 protected:
  [[nodiscard]] const Cheat& cheat() const { return all_cheats()[std::get<0>(GetParam())]; }
  [[nodiscard]] std::size_t size() const { return std::get<1>(GetParam()); }
};

TEST_P(EachCheat, IsFoundOutForTheRightReason) {
  const PassResult result = measured(cheat().make, size());
  EXPECT_EQ(result.status, cheat().status) << result.reason;
  EXPECT_THAT(result.reason, HasSubstr(cheat().reason));
}

/// It is right five times: when it is verified, in the warm-up, which a slow machine leaves out, and then
/// when it is timed.
TEST(IsRightAFewTimesIsFound, InTheFirstExecutionThatIsWrong) {
  const PassResult result = measured(maker<IsRightAFewTimes>(), 256);
  ASSERT_TRUE(result.sampling);
  EXPECT_THAT(result.reason, HasSubstr("in timed execution " + std::to_string(6 - result.sampling->warmups) +
                                       ", map: the relative"));
}

INSTANTIATE_TEST_SUITE_P(Host, EachCheat,
                         ::testing::Combine(::testing::Range<std::size_t>(0, all_cheats().size()),
                                            ::testing::Values(192, 256, 512)),
                         [](const auto& parameter) {
                           return std::string(all_cheats()[std::get<0>(parameter.param)].name) + "_" +
                                  std::to_string(std::get<1>(parameter.param));
                         });

/// What it did not do in the first samples is of little use to it: with more than these it is suspect, and
/// with as many the median lies half-way, with fewer among those that it did it in.
TEST(OneThatTurnsHonest, IsSuspectOrHasAnHonestTime) {
  const PassResult result = measured(maker<TurnsHonest>(), 256);
  if (result.status == Status::suspect) return;
  EXPECT_EQ(result.status, Status::ok) << result.reason;
  const auto op_time = std::ranges::find(result.measurements, "op_time", &Measurement::metric);
  ASSERT_NE(op_time, result.measurements.end());
  const std::vector<double>& times = op_time->samples;
  ASSERT_GE(times.size(), 14U);
  const double shortest_honest = *std::min_element(times.begin() + 10, times.end());
  EXPECT_GE(median(times), shortest_honest / 2);
  EXPECT_LT(*std::min_element(times.begin(), times.begin() + 5), shortest_honest / 2) << "it did cheat";
}

TEST(HonestVariant, IsNotSuspected) {
  for (const std::size_t size : {1U, 2U, 64U, 256U, 512U}) {
    const PassResult result = measured(maker<Honest>(), size);
    EXPECT_EQ(result.status, Status::ok) << size << ": " << result.reason;
    ASSERT_TRUE(result.scrutiny.has_value());
    EXPECT_GE(result.scrutiny->executions, 7U);
    EXPECT_EQ(result.scrutiny->orders > 1, size > 1);
    EXPECT_GE(result.scrutiny->unseen, 1U);
  }
}

}  // namespace
}  // namespace mprof::elementwise::cheats
