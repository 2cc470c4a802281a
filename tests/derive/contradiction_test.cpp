// Times that the other passes of the case, or the device, contradict.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/derive/subjects.hpp"

namespace mprof {
namespace {

using ::testing::HasSubstr;

Measurement one(const char* metric, double value) {
  return {metric, "op1", "", Source::measured, {value}, ""};
}

/// A case on a GPU with an op time and, in its trace, a GPU time, s.
Case traced(double op_time, double gpu_time) {
  PassResult timing{.pass = Pass::timing, .status = Status::ok, .scrutiny = Scrutiny{7, 8, 1}};
  timing.measurements = {one("op_time", op_time)};
  PassResult trace{.pass = Pass::trace, .status = Status::ok};
  trace.measurements = {one("gpu_time", gpu_time)};
  return {.id = "f/v@1", .ops = {{.name = "op1"}}, .passes = {timing, trace}};
}

TEST(Contradiction, OfTheTimerByTheTrace) {
  EXPECT_EQ(contradiction(traced(100e-6, 104e-6)), "");
  EXPECT_EQ(contradiction(traced(2e-6, 7e-6)), "") << "kernels begin and end outside the events";
  EXPECT_THAT(contradiction(traced(1.3e-6, 100e-6)),
              HasSubstr("in the trace the GPU works 0.0001 s for op1, and its op time is 1.3e-06 s"));
}

TEST(Contradiction, IsNoneInRecordsThatCouldNotSaySo) {
  Case old = traced(1.3e-6, 100e-6);
  old.passes[0].scrutiny.reset();
  EXPECT_EQ(contradiction(old), "");
}

TEST(Contradiction, OfWhatTheDeviceCanDo) {
  Case fast = traced(1e-3, 0);
  fast.passes[0].measurements.push_back(one("memory_throughput", 900));
  EXPECT_EQ(contradiction(fast), "") << "a cache may give as much";
  fast.passes[0].measurements.back() = one("memory_throughput", 5100);
  EXPECT_THAT(contradiction(fast), HasSubstr("at 51 times the measured memory bandwidth"));
  fast.passes[0].measurements.back() = one("compute_throughput", 32000);
  EXPECT_THAT(contradiction(fast), HasSubstr("at 320 times the measured FP32 peak"));
}

}  // namespace
}  // namespace mprof
