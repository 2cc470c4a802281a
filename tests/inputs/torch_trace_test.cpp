// SPDX-License-Identifier: MIT
#include "inputs/torch_trace.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/trace/collectives.hpp"
#include "model/trace/nsys_schema.hpp"
#include "tests/inputs/expect_error.hpp"

namespace mprof {
namespace {

using ::testing::HasSubstr;

/// As PyTorch 2 writes it: times in µs with decimals, GPUs in place of processes.
const std::string step = R"json({"schemaVersion": 1,
  "deviceProperties": [{"id": 1, "name": "NVIDIA H100", "totalGlobalMem": 85017624576, "computeMajor": 9,
    "computeMinor": 0, "maxThreadsPerBlock": 1024, "warpSize": 32, "numSms": 132}],
  "cupti_version": 24, "baseTimeNanoseconds": 1712000000000000000,
  "traceEvents": [
  {"ph": "M", "name": "process_name", "ts": 0, "pid": 4242, "tid": 0, "args": {"name": "python3"}},
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 4242, "tid": 4242, "ts": 1000.000, "dur": 900.5},
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 4242, "tid": 4242, "ts": 1010, "dur": 30,
   "args": {"External id": 3, "Input Dims": [[64, 64], [64, 64]], "Sequence number": 0}},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 4242, "tid": 4242, "ts": 1020.123, "dur": 5.001,
   "args": {"External id": 3, "cbid": 211, "correlation": 77}},
  {"ph": "s", "id": 77, "pid": 4242, "tid": 4242, "ts": 1020.123, "cat": "ac2g", "name": "ac2g"},
  {"ph": "X", "cat": "kernel", "name": "void gemm<128, 2>(float*)", "pid": 1, "tid": 7, "ts": 1030.5, "dur": 12.345,
   "args": {"External id": 3, "device": 1, "context": 1, "stream": 7, "correlation": 77, "registers per thread": 90,
    "shared memory": 4096, "grid": [8, 4, 1], "block": [128, 1, 1], "est. achieved occupancy %": 33}},
  {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pageable -> Device)", "pid": 1, "tid": 7, "ts": 1050, "dur": 2,
   "args": {"device": 1, "context": 1, "stream": 7, "correlation": 78, "bytes": 16384}},
  {"ph": "X", "cat": "gpu_memset", "name": "Memset (Device)", "pid": 1, "tid": 7, "ts": 1060, "dur": 1,
   "args": {"device": 1, "context": 1, "stream": 7, "correlation": 79, "bytes": 512}},
  {"ph": "X", "cat": "cuda_sync", "name": "Stream Sync", "pid": 1, "tid": 7, "ts": 1061, "dur": 3,
   "args": {"stream": 7, "context": 1, "correlation": 80}},
  {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 4242, "tid": 4242, "ts": 1000, "args": {"Bytes": 5}}
  ], "traceName": "step.json"})json";

std::string only(const std::string& category, const std::string& more) {
  return fmt::format(
      R"({{"traceEvents": [{{"ph": "X", "cat": "{}", "name": "n", "pid": 1, "tid": 2, {}}}]}})", category,
      more);
}

TEST(TorchTraceTest, KernelsCopiesCallsAndAnnotationsBecomeRows) {
  const trace::Trace trace = parse_torch_trace(step, "step.json");
  const std::int64_t process = trace::nsys::global_process(4242);
  ASSERT_EQ(trace.kernels.size(), 1U);
  const trace::Kernel& kernel = trace.kernels[0];
  EXPECT_EQ(kernel.time, (trace::Interval{30'500, 42'845})) << "ns from the first event";
  EXPECT_EQ(trace.names[kernel.name], "void gemm<128, 2>(float*)");
  EXPECT_EQ(kernel.queue, (trace::Queue{1, 1, 7}));
  EXPECT_EQ(kernel.correlation, 77);
  EXPECT_EQ(kernel.process, process) << "of the call, and not the number of the GPU";
  EXPECT_EQ(kernel.grid, (trace::Size{8, 4, 1}));
  EXPECT_EQ(kernel.block, (trace::Size{128, 1, 1}));
  EXPECT_EQ(kernel.registers_per_thread, 90U);
  ASSERT_EQ(trace.transfers.size(), 2U);
  EXPECT_EQ(trace.transfers[0].kind, trace::TransferKind::host_to_device);
  EXPECT_EQ(trace.transfers[0].bytes, 16384U);
  EXPECT_EQ(trace.transfers[0].source, trace::MemoryKind::pageable);
  EXPECT_EQ(trace.transfers[0].destination, trace::MemoryKind::device);
  EXPECT_TRUE(trace.transfers[1].is_set());
  ASSERT_EQ(trace.calls.size(), 1U);
  EXPECT_EQ(trace.calls[0].time, (trace::Interval{20'123, 25'124}));
  ASSERT_EQ(trace.synchronizations.size(), 1U);
  EXPECT_EQ(trace.synchronizations[0].kind, trace::SynchronizationKind::stream);
  ASSERT_EQ(trace.ranges.size(), 2U);
  EXPECT_EQ(trace.text_of(trace.ranges[0]), "ProfilerStep#1");
  EXPECT_EQ(trace.ranges[0].domain, 0U);
  EXPECT_EQ(trace.names[trace.ranges[1].domain], torch_domain);
  ASSERT_EQ(trace.gpus.size(), 1U);
  EXPECT_EQ(trace.gpus[0].id, 1U);
  EXPECT_EQ(trace.gpus[0].name, "NVIDIA H100");
  EXPECT_EQ(trace.gpus[0].multiprocessors, 132U);
  EXPECT_EQ(trace.epoch, 1712000000001000000);
  ASSERT_EQ(trace.processes.size(), 1U);
  EXPECT_EQ(trace.processes[0].name, "python3");
}

TEST(TorchTraceTest, AnAllToAllThatConsistsOfMessagesKeepsItsKind) {
  const auto kind_of = [](const char* collective) {
    const trace::Trace trace = parse_torch_trace(
        only("kernel", fmt::format(R"("ts": 1, "dur": 2, "args": {{"Collective name": "{}", "Group size": 4,
             "Process Group Name": "0"}})",
                                   collective)),
        "t");
    return trace.messages[trace.kernels[0].message].kind;
  };
  for (const char* name : {"all_to_all", "all_to_allv", "alltoall_base"})
    EXPECT_EQ(kind_of(name), trace::CollectiveKind::all_to_all) << name;
  for (const char* name : {"allreduce", "send", ""}) EXPECT_EQ(kind_of(name), std::nullopt) << name;
}

TEST(TorchTraceTest, TimesSince1970AreExactToTheNanosecond) {
  const trace::Trace trace = parse_torch_trace(
      R"({"traceEvents": [
        {"ph": "X", "cat": "Runtime", "name": "a", "pid": 1, "tid": 2, "ts": 1712000000000001.001, "dur": 0.5},
        {"ph": "X", "cat": "Kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1712000000000001.234, "dur": 1}]})",
      "old.json");
  ASSERT_EQ(trace.kernels.size(), 1U) << "as versions before 2022 call it";
  EXPECT_EQ(trace.kernels[0].time, (trace::Interval{233, 1233}));
  EXPECT_EQ(trace.epoch, 1712000000000001001);
}

TEST(TorchTraceTest, ThreadsThatAreAddressesAreThreadsOfTheirOwn) {
  const trace::Trace trace = parse_torch_trace(
      R"({"traceEvents": [
        {"ph": "X", "cat": "cuda_runtime", "name": "a", "pid": 1, "tid": 4294967000, "ts": 1, "dur": 1},
        {"ph": "X", "cat": "cuda_runtime", "name": "b", "pid": 1, "tid": -77, "ts": 1, "dur": 1},
        {"ph": "X", "cat": "cuda_runtime", "name": "c", "pid": 1, "tid": 4294967000, "ts": 5, "dur": 1}]})",
      "t");
  ASSERT_EQ(trace.calls.size(), 3U);
  EXPECT_EQ(trace.calls[0].thread, trace.calls[2].thread);
  EXPECT_NE(trace.calls[0].thread, trace.calls[1].thread);
}

TEST(TorchTraceTest, WhatCannotBeReadIsRefused) {
  const auto why = [](const std::string& text) {
    return test::usage_error([&] { (void)parse_torch_trace(text, "t.json"); });
  };
  EXPECT_THAT(why(step.substr(0, step.size() - 40)), HasSubstr("t.json: the JSON ends in the middle"));
  EXPECT_THAT(why("{\"traceEvents\": [}, {}]}"), HasSubstr("not valid JSON at byte"));
  EXPECT_THAT(why("{\"events\": []}"), HasSubstr("no list `traceEvents`"));
  EXPECT_THAT(why(only("cpu_op", "\"ts\": 1, \"dur\": 1")), HasSubstr("neither a kernel"));
  EXPECT_THAT(why(only("kernel", "\"dur\": 1")), HasSubstr("neither a kernel")) << "no time";
  EXPECT_THAT(why(std::string(200, '[')), HasSubstr("nested deeper"));
}

TEST(TorchTraceTest, NumbersThatNoClockShowsHarmNothing) {
  for (const char* number :
       {"1e300", "-1e300", "9223372036854775807", "18446744073709551615", "-0.0004", "1e-9"}) {
    const trace::Trace trace = parse_torch_trace(
        only("kernel", fmt::format("\"ts\": 5, \"dur\": 1, \"args\": {{\"device\": {0}, \"stream\": {0}, "
                                   "\"bytes\": {0}, \"grid\": [{0}, {0}, {0}]}}",
                                   number)),
        "t");
    EXPECT_EQ(trace.kernels.size(), 1U) << number;
  }
}

}  // namespace
}  // namespace mprof
