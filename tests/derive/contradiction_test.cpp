// SPDX-License-Identifier: MIT
// Times that the other passes of the case, or the device, contradict.
#include <string>

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

const VariantInfo variant{.id = "f/v", .device = "cuda"};

Measurement counted(const std::string& metric, double value) {
  return {metric, "op1", "kernel", Source::measured, {value}, ""};
}

/// A case whose op needs 1 GFLOP and so many bytes, and of which a kernel that ran `launches` times was
/// counted once.
Case counted_case(double multiply_adds, double dram, double bytes, double launches = 1) {
  Case c = traced(1e-3, 1e-3);
  c.ops[0].flops = 1e9;
  c.ops[0].bytes = bytes;
  c.passes[1].measurements.push_back(counted("kernel_instances", launches));
  c.passes[1].measurements.push_back(one("kernel_count", launches));
  PassResult& pass = c.passes.emplace_back(PassResult{.pass = Pass::counters, .status = Status::ok});
  for (const char* operation : {"fadd", "fmul", "ffma", "dadd", "dmul", "dfma", "hadd", "hmul", "hfma"}) {
    pass.measurements.push_back(
        counted("smsp__sass_thread_inst_executed_op_" + std::string(operation) + "_pred_on.sum",
                std::string(operation) == "ffma" ? multiply_adds : 0));
  }
  pass.measurements.push_back(counted("sm__ops_path_tensor_src_tf32_dst_fp32.sum", 0));
  pass.measurements.push_back(counted("sm__ops_path_tensor_src_fp16.sum", 0));
  pass.measurements.push_back(counted("dram__bytes.sum", dram));
  return c;
}

TEST(Contradiction, OfTheDefinitionByWhatWasCounted) {
  EXPECT_EQ(contradiction(counted_case(500e6, 1e6, 2e6), variant), "");
  EXPECT_EQ(contradiction(counted_case(260e6, 1e6, 2e6), variant), "") << "what falls in the padding";
  EXPECT_EQ(contradiction(counted_case(10e6, 1e6, 2e6, 50), variant), "") << "one of fifty launches was read";
  EXPECT_EQ(contradiction(counted_case(200e6, 1e6, 2e6), variant),
            "op1 executed 4e+08 FLOP at most, where its definition needs 1e+09");
  VariantInfo winograd = variant;
  winograd.arithmetic = 1 / 2.25;
  EXPECT_EQ(contradiction(counted_case(200e6, 1e6, 2e6), winograd), "");
  EXPECT_EQ(contradiction(counted_case(100e6, 1e6, 2e6), winograd),
            "op1 executed 2e+08 FLOP at most, where its definition and the algorithm that the variant "
            "declares need 4.444e+08");
  EXPECT_EQ(contradiction(counted_case(500e6, 0.4e9, 0.9e9), variant), "") << "a cache may hold as much";
  EXPECT_EQ(contradiction(counted_case(500e6, 0.9e9, 2e9), variant),
            "op1 moved 9e+08 bytes from and to DRAM, where its definition needs 2e+09");
  EXPECT_EQ(contradiction(counted_case(500e6, 0.09e9, 2e9, 10), variant), "")
      << "of each of ten launches a cache may hold as much";
}

TEST(Contradiction, IsNoneWhereAKernelWasNotCounted) {
  Case c = counted_case(1e6, 1e6, 2e6);
  c.passes[1].measurements.push_back({"kernel_instances", "op1", "other", Source::measured, {1}, ""});
  EXPECT_EQ(contradiction(c, variant), "");
}

TEST(Contradiction, OfTheTimerByTheTrace) {
  EXPECT_EQ(contradiction(traced(100e-6, 104e-6), variant), "");
  EXPECT_EQ(contradiction(traced(2e-6, 7e-6), variant), "") << "kernels begin and end outside the events";
  EXPECT_THAT(contradiction(traced(1.3e-6, 100e-6), variant),
              HasSubstr("in the trace the GPU works 100 µs for op1, and its op time is 1.3 µs"));
}

TEST(Contradiction, OfTheKernelsThatAreTimedByThoseThatAreTraced) {
  Case c = traced(100e-6, 100e-6);
  const auto launch = [&](std::size_t pass, const char* kernel, double times) {
    c.passes[pass].measurements.push_back({"own_launches", "op1", kernel, Source::measured, {times}, ""});
  };
  launch(0, "convert", 2);
  launch(0, "fast", 1);
  launch(1, "fast", 1);
  launch(1, "convert", 2);
  EXPECT_EQ(contradiction(c, variant), "");
  c.passes[1].measurements.pop_back();
  launch(1, "slow", 1);
  EXPECT_EQ(
      contradiction(c, variant),
      "op1 launches other kernels when it is timed than when it is traced: convert (2) and fast (1), and "
      "not fast (1) and slow (1)");
  c.passes[1].status = Status::skipped;
  EXPECT_EQ(contradiction(c, variant), "") << "there is nothing to hold them against";
}

TEST(Contradiction, IsNoneInRecordsThatCouldNotSaySo) {
  Case old = traced(1.3e-6, 100e-6);
  old.passes[0].scrutiny.reset();
  EXPECT_EQ(contradiction(old, variant), "");
}

TEST(Contradiction, OfWhatTheDeviceCanDo) {
  Case fast = traced(1e-3, 0);
  fast.passes[0].measurements.push_back(one("memory_throughput", 900));
  EXPECT_EQ(contradiction(fast, variant), "") << "a cache may give as much";
  fast.passes[0].measurements.back() = one("memory_throughput", 5100);
  EXPECT_THAT(contradiction(fast, variant), HasSubstr("at 51 times the measured memory bandwidth"));
  fast.passes[0].measurements.back() = one("compute_throughput", 32000);
  EXPECT_THAT(contradiction(fast, variant), HasSubstr("at 320 times the measured FP32 peak"));
}

}  // namespace
}  // namespace mprof
