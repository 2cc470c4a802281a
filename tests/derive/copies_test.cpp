// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "model/derive/subjects.hpp"
#include "tests/support/measurements.hpp"

namespace mprof {
namespace {

constexpr double moved = 1e9;  // of the op at the large problem: 10 ms for half of it, at 50 GB/s

/// A variant at a large and at a small problem, of which one op was timed.
mprof::Run timed(double op_time, double beside, std::string_view device = "cuda") {
  mprof::Run run;
  run.variants.push_back({.id = "family/variant", .device = std::string(device)});
  run.ceilings = {{"pinned_host_to_device_bandwidth", "cuda", 40e9, "", ""},
                  {"pinned_device_to_host_bandwidth", "cuda", 50e9, "", ""}};
  for (const double size : {1.0, 1e-3}) {
    Case& subject = run.cases.emplace_back();
    subject.key.variant = "family/variant";
    subject.ops = {{.name = "map", .bytes = moved * size}};
    PassResult& timing = subject.passes.emplace_back();
    timing = {.pass = Pass::timing, .status = Status::ok};
    const double other = size < 1 ? 1e-3 : beside;  // at the small problem all kinds of things take as long
    timing.measurements = {{"op_time", "map", "", Source::measured, {op_time * size}, ""},
                           {"group_time", "map", "", Source::measured, {op_time * size + other}, ""}};
  }
  return run;
}

bool is_marked(mprof::Run run, std::size_t index) {
  derive_copies(run);
  return test::row_of(run.cases[index].passes[0].measurements, "op_time", "map").derived->holds_copies;
}

TEST(Copies, AreInAnOpTimeThatLeavesNoTimeForThem) {
  EXPECT_TRUE(is_marked(timed(0.020, 1e-4), 0));
  EXPECT_TRUE(is_marked(timed(0.020, 1e-4), 1)) << "what one problem shows is so at the others";
  EXPECT_TRUE(is_marked(timed(0.020, 4.9e-3), 0));
}

TEST(Copies, AreBesideAnOpTimeWhereTheLinkCouldHaveDoneThem) {
  EXPECT_FALSE(is_marked(timed(0.020, 5.1e-3), 0)) << "half of the bytes at twice the rate of the faster way";
  EXPECT_FALSE(is_marked(timed(0.020, 0.1), 0));
  EXPECT_FALSE(is_marked(timed(0.020, 0.1), 1));
}

TEST(Copies, OfALongOpAreLostInItsNoise) {
  EXPECT_FALSE(is_marked(timed(1, -0.004), 0)) << "5 ms are half a percent of it";
  EXPECT_TRUE(is_marked(timed(0.099, -0.004), 0));
}

TEST(Copies, OfALongOpAreInsideWhereTheyAreSoAtAnotherPoint) {
  mprof::Run run = timed(0.020, 1e-4);  // with its parameters at their defaults
  Case& slow = run.cases.emplace_back(timed(1, -0.004).cases[0]);
  slow.key.parameters = {{"lanes", "1"}};
  EXPECT_TRUE(is_marked(run, 2));
  run.cases[2].passes[0].measurements[1].samples = {1.05};
  EXPECT_TRUE(is_marked(run, 2)) << "noise";
  run.cases[2].passes[0].measurements[1].samples = {1.06};
  EXPECT_FALSE(is_marked(run, 2)) << "there is time for them beside this one";
  run = timed(0.020, 0.1);
  run.cases.push_back(timed(1, -0.004).cases[0]);
  run.cases[2].key.parameters = {{"lanes", "1"}};
  EXPECT_FALSE(is_marked(run, 2)) << "no point shows that the variant copies inside";
}

TEST(Copies, AreNoneOfBytesThatTheOpTimeCouldNotHoldEither) {
  EXPECT_FALSE(is_marked(timed(0.004, 1e-3), 0)) << "an op that reads what it declares many times, say";
}

TEST(Copies, OfACaseThatIsNotOkShowNothing) {
  mprof::Run run = timed(0.020, 1e-4);
  run.cases[0].passes[0].status = Status::wrong;
  EXPECT_FALSE(is_marked(run, 1));
}

TEST(Copies, AreMarkedAnew) {
  mprof::Run run = timed(0.020, 1e-4);
  derive_copies(run);
  run.cases[0].passes[0].measurements[1].samples = {0.2};
  EXPECT_FALSE(is_marked(run, 0));
  EXPECT_FALSE(is_marked(run, 1));
}

TEST(Copies, AreNotLookedForWithoutALink) {
  EXPECT_FALSE(is_marked(timed(0.020, 0, "cpu"), 0));
  mprof::Run unmeasured = timed(0.020, 0);
  for (Ceiling& ceiling : unmeasured.ceilings) ceiling.value.reset();
  EXPECT_FALSE(is_marked(unmeasured, 0));
}

TEST(Copies, OfOtherParametersAreOtherCopies) {
  mprof::Run run = timed(0.020, 1e-4);
  run.cases[1].key.parameters = {{"streams", "1"}};
  EXPECT_TRUE(is_marked(run, 0));
  EXPECT_FALSE(is_marked(run, 1));
}

TEST(Copies, AreNotLookedForInTimesThatAreNotThere) {
  mprof::Run run = timed(0.020, 1e-4);
  for (Case& subject : run.cases) subject.passes[0].measurements[1].samples.clear();
  EXPECT_FALSE(is_marked(run, 0));
}

}  // namespace
}  // namespace mprof
