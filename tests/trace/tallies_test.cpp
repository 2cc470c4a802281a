// SPDX-License-Identifier: MIT
#include "model/trace/tallies.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/trace/nsys_schema.hpp"
#include "model/trace/program.hpp"
#include "model/trace/reader.hpp"
#include "model/trace/writer.hpp"
#include "tests/support/fabricated_export.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

using ::testing::ElementsAre;
using trace::Tally;
using trace::TallyKind;
using trace::Trace;

constexpr std::int64_t process = trace::nsys::global_process(100);
constexpr std::int64_t thread = trace::nsys::global_thread(process, 101);

/// An export whose thread has the range "load" from 1000 to 1100 and "step" from there to 1300, with further
/// tables.
class Tallies : public ::testing::Test {
 protected:
  Tallies() { test::write_export(file, {.version = "3.25.0"}); }

  void add(const std::string& sql) const { sqlite::Database(file, sqlite::Mode::write).execute(sql); }

  /// As `mprof import` reads it, without what the export has anyhow.
  [[nodiscard]] Trace imported() const {
    trace::Query query{.parts = trace::every_part};
    query.parts.tallies = false;
    Trace all = trace::read_trace(file, query);
    (void)trace::make_program_case(all, {.case_id = "program/x"});
    trace::read_tallies(file, all);
    return all;
  }

  static std::vector<Tally> of(const Trace& all, TallyKind kind) {
    std::vector<Tally> found = trace::tallies_of(all);
    std::erase_if(found, [&](const Tally& one) { return one.kind != kind; });
    return found;
  }
  /// "op/name: count, ns of how many, amount of how many unit"
  static std::vector<std::string> texts(const std::vector<Tally>& tallies) {
    std::vector<std::string> all;
    for (const Tally& one : tallies)
      all.push_back(fmt::format("{}/{}: {}, {} ns of {}, {} of {} {}", one.op, one.name, one.count, one.time,
                                one.timed, one.amount, one.measured, one.unit));
    std::ranges::sort(all);
    return all;
  }
  [[nodiscard]] std::vector<std::string> texts(TallyKind kind) const { return texts(of(imported(), kind)); }

  test::TemporaryDirectory folder;
  std::filesystem::path file = folder.path() / "export.sqlite";
};

TEST_F(Tallies, MpiIsSummedByCallAndOp) {
  add("INSERT INTO StringIds VALUES (900, 'MPI_Send'), (901, 'MPI_Allreduce')");
  add("CREATE TABLE MPI_P2P_EVENTS (start, end, globalTid, textId, size, tag, sinceLater)");
  add(
      fmt::format("INSERT INTO MPI_P2P_EVENTS VALUES (1010, 1030, {0}, 900, 100, 1, NULL), (1110, 1140, {0}, "
                  "900, 300, 1, 7), (1120, NULL, {0}, 900, NULL, 1, NULL), (1200, 1190, {0}, 900, 50, 1, "
                  "NULL), (9000, 9010, {0}, 900, 4, 1, NULL)",
                  thread));
  add("CREATE TABLE MPI_COLLECTIVES_EVENTS (start, end, globalTid, textId)");
  add(fmt::format("INSERT INTO MPI_COLLECTIVES_EVENTS VALUES (1210, 1220, {}, 901)", thread));
  EXPECT_THAT(
      texts(TallyKind::mpi),
      ElementsAre("load/MPI_Send: 1, 20 ns of 1, 100 of 1 B", "outside/MPI_Send: 1, 10 ns of 1, 4 of 1 B",
                  "step/MPI_Allreduce: 1, 10 ns of 1, 0 of 0 B", "step/MPI_Send: 3, 30 ns of 1, 350 of 2 B"));
  EXPECT_THAT(texts(TallyKind::unread), ElementsAre("/MPI_P2P_EVENTS.sinceLater: 1, 0 ns of 0, 0 of 0 "));
}

TEST_F(Tallies, GpuMetricsHaveAMeanASmallestAndALargest) {
  add("CREATE TABLE TARGET_INFO_GPU_METRICS (typeId, sourceId, typeName, metricId, metricName)");
  add("INSERT INTO TARGET_INFO_GPU_METRICS VALUES (258, 1, 'GH100', 4, 'SMs Active [Throughput %]')");
  add("CREATE TABLE GPU_METRICS (rawTimestamp, timestamp, typeId, metricId, value, quality)");
  add("INSERT INTO GPU_METRICS VALUES (0, 1050, 258, 4, 10, 1), (0, 1060, 258, 4, 30.5, 1), "
      "(0, 1150, 258, 4, 90, 1), (0, 1160, 258, 9, 2, 1), (0, 1170, 258, 4, NULL, 1)");
  const std::vector<Tally> metrics = of(imported(), TallyKind::gpu_metrics);
  EXPECT_THAT(texts(metrics), ElementsAre("load/SMs Active [Throughput %]: 2, 0 ns of 0, 40.5 of 2 ",
                                          "step/SMs Active [Throughput %]: 2, 0 ns of 0, 90 of 1 ",
                                          "step/metric 9: 1, 0 ns of 0, 2 of 1 "));
  const auto load = std::ranges::find(metrics, "load", &Tally::op);
  ASSERT_NE(load, metrics.end());
  EXPECT_EQ(load->device, 2U) << "the lowest byte of its type";
  EXPECT_EQ(load->smallest, 10);
  EXPECT_EQ(load->largest, 30.5);
}

TEST_F(Tallies, OpenMpAndOpenAccAreSummedWhateverTheirTablesAreCalled) {
  add("INSERT INTO StringIds VALUES (900, 'Parallel region'), (901, 'Enter data')");
  add("CREATE TABLE OPENMP_EVENT_KIND_PARALLEL (start, end, globalTid, nameId, eventKind, parallelId)");
  add(
      fmt::format("INSERT INTO OPENMP_EVENT_KIND_PARALLEL VALUES (1010, 1050, {0}, 900, 28, 1), (1110, 1120, "
                  "{0}, 900, 28, 2)",
                  thread));
  add("CREATE TABLE OPENMP_EVENT_KIND_OF_LATER (start, end)");
  add("INSERT INTO OPENMP_EVENT_KIND_OF_LATER VALUES (1200, 1205)");
  EXPECT_THAT(texts(TallyKind::openmp), ElementsAre("load/Parallel region: 1, 40 ns of 1, 0 of 0 ",
                                                    "step/Parallel region: 1, 10 ns of 1, 0 of 0 ",
                                                    "step/events: 1, 5 ns of 1, 0 of 0 "));
  add("CREATE TABLE CUPTI_ACTIVITY_KIND_OPENACC_DATA (start, end, nameId, globalTid, bytes, varName)");
  add(
      fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_OPENACC_DATA VALUES (1020, 1040, 901, {0}, 4096, NULL), "
                  "(1050, 1060, 901, {0}, 512, NULL)",
                  thread));
  EXPECT_THAT(texts(TallyKind::openacc), ElementsAre("load/Enter data: 2, 30 ns of 2, 4608 of 2 B"));
}

TEST_F(Tallies, NcclsMessagesHaveTheSizesOfTheirPayloads) {
  add("ALTER TABLE NVTX_EVENTS ADD COLUMN jsonText TEXT");
  const auto range = [&](std::int64_t start, std::int64_t end, const std::string& payload) {
    add(
        fmt::format("INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId, jsonText) "
                    "VALUES ({}, {}, 59, 'ncclAllReduce', {}, 9, {})",
                    start, end, thread, payload));
  };
  add(
      fmt::format("INSERT INTO NVTX_EVENTS (start, eventType, text, globalTid, domainId) VALUES (1, 75, "
                  "'NCCL', {}, 9)",
                  process));
  range(1010, 1030, "'{\"Message size [bytes]\": 1024, \"Reduction operation\": \"Sum\"}'");
  range(1110, 1120, "'{\"Message size [bytes]\": 2048}'");
  range(1130, 1140, "'no JSON'");
  range(1150, 1160, "NULL");
  EXPECT_THAT(texts(TallyKind::nccl), ElementsAre("load/ncclAllReduce: 1, 20 ns of 1, 1024 of 1 B",
                                                  "step/ncclAllReduce: 3, 30 ns of 3, 2048 of 1 B"));
}

TEST_F(Tallies, UnifiedMemoryHasFaultsAndMigrationsByTheKernelThatRan) {
  add("CREATE TABLE CUDA_UM_CPU_PAGE_FAULT_EVENTS (start, globalPid, address, CpuInstruction)");
  add(fmt::format("INSERT INTO CUDA_UM_CPU_PAGE_FAULT_EVENTS VALUES (1010, {0}, 1, 1), (1020, {0}, 2, 1)",
                  process));
  add("CREATE TABLE CUDA_UM_GPU_PAGE_FAULT_EVENTS (start, end, globalPid, deviceId, address, "
      "numberOfPageFaults, faultAccessType)");
  add(
      fmt::format("INSERT INTO CUDA_UM_GPU_PAGE_FAULT_EVENTS VALUES (1110, 1115, {0}, 0, 1, 3, 2), (1120, "
                  "1130, {0}, 0, 1, 4, 2), (1140, 1141, {0}, 0, 1, NULL, 99)",
                  process));
  // The kernel of "step" runs from 1170 to 1220, the last one, of no range, from 1320 to 1340.
  add(fmt::format(
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId, correlationId, "
      "globalPid, bytes, copyKind) VALUES (1180, 1190, 0, 1, 7, 0, {0}, 65536, 11), (1325, 1327, 0, 1, 7, "
      "NULL, {0}, 4096, 12), (1040, 1045, 0, 1, 7, 0, {0}, 100, 11), (1500, 1501, 0, 1, 7, 0, {0}, 7, 13)",
      process));
  EXPECT_THAT(texts(TallyKind::unified_memory),
              ElementsAre("load/migrations, Unified Host-to-Device: 1, 5 ns of 1, 100 of 1 B",
                          "load/page faults of the CPU: 2, 0 ns of 0, 0 of 0 ",
                          "outside/migrations, Unified Device-to-Device: 1, 1 ns of 1, 7 of 1 B",
                          "outside/migrations, Unified Device-to-Host: 1, 2 ns of 1, 4096 of 1 B",
                          "step/migrations, Unified Host-to-Device: 1, 10 ns of 1, 65536 of 1 B",
                          "step/page faults of the GPU, Write: 2, 15 ns of 2, 7 of 2 faults",
                          "step/page faults of the GPU: 1, 1 ns of 1, 0 of 0 faults"));
}

TEST_F(Tallies, GraphsAreShownByNodeAndAsAWhole) {
  add("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId = 70 + correlationId WHERE correlationId IN (3, 4)");
  add("CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, end, deviceId, contextId, streamId, "
      "correlationId, globalPid, graphId, graphExecId)");
  add(fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (1240, 1260, 0, 1, 7, 4, {}, 6, 8)",
                  process));
  // Two processes have the same nodes.
  EXPECT_THAT(texts(TallyKind::graphs), ElementsAre("step/graph 6 as a whole: 1, 20 ns of 1, 0 of 0 ",
                                                    "step/node 73, scale: 2, 60 ns of 2, 0 of 0 ",
                                                    "step/node 74, tile: 2, 100 ns of 2, 0 of 0 "));
}

TEST_F(Tallies, OfManyNodesThoseOfOneKernelAreOneRow) {
  Trace all = imported();
  trace::Kernel kernel = all.kernels.front();
  kernel.graph = 5;
  for (std::uint64_t node = 1; node <= 100; ++node) {
    kernel.graph_node = node;
    all.kernels.push_back(kernel);
  }
  EXPECT_THAT(texts(of(all, TallyKind::graphs)),
              ElementsAre(fmt::format("{}/graph 5, scale: 100, {} ns of 100, 0 of 0 ",
                                      all.places[kernel.place].op, 100 * kernel.time.length())));
}

TEST_F(Tallies, NetworksAndStorageNameTheirMetricsAndDevices) {
  add("CREATE TABLE TARGET_INFO_NETWORK_METRICS (metricsListId, metricsIdx, name, description, unit)");
  add("INSERT INTO TARGET_INFO_NETWORK_METRICS VALUES (1, 2, 'Bytes sent', '', 'B')");
  add("CREATE TABLE NIC_ID_MAP (nicId, globalId)");
  add("INSERT INTO NIC_ID_MAP VALUES (5, 77)");
  add("CREATE TABLE TARGET_INFO_NIC_INFO (GUID, nicId, name)");
  add("INSERT INTO TARGET_INFO_NIC_INFO VALUES (1, 5, 'mlx5_0')");
  add("CREATE TABLE NET_NIC_METRIC (start, end, globalId, portId, metricsListId, metricsIdx, value)");
  add("INSERT INTO NET_NIC_METRIC VALUES (1010, 1020, 77, 1, 1, 2, 100), (1020, 1030, 77, 1, 1, 2, 50), "
      "(1110, 1120, 78, 1, 1, 3, 9)");
  add("CREATE TABLE NET_IB_SWITCH_CONGESTION_EVENT (start, globalId)");
  add("INSERT INTO NET_IB_SWITCH_CONGESTION_EVENT VALUES (1200, 1)");
  EXPECT_THAT(texts(TallyKind::network),
              ElementsAre("load/Bytes sent (mlx5_0): 2, 0 ns of 0, 150 of 2 B",
                          "step/congestion events of switches: 1, 0 ns of 0, 0 of 0 ",
                          "step/metric 3 (device 78): 1, 0 ns of 0, 9 of 1 "));
  add("CREATE TABLE STORAGE_METRICS (timestamp, typeId, metricId, value)");
  add("INSERT INTO STORAGE_METRICS VALUES (1050, 1, 1, 3), (1060, 1, 1, 4), (NULL, 1, 1, 5)");
  EXPECT_THAT(texts(TallyKind::storage),
              ElementsAre("load/metric 1: 2, 0 ns of 0, 7 of 2 ", "outside/metric 1: 1, 0 ns of 0, 5 of 1 "));
}

TEST_F(Tallies, CallsOfTheOperatingSystemAreSummedByOp) {
  add("INSERT INTO StringIds VALUES (900, 'futex')");
  add("CREATE TABLE SYSCALL (start, end, eventClass, globalTid, nameId, callchainId)");
  add(fmt::format("INSERT INTO SYSCALL VALUES (1110, 1117, 1, {}, 900, 0)", thread));
  // The export has a poll() of 4 ns in "load" of each of its two processes.
  EXPECT_THAT(texts(TallyKind::operating_system), ElementsAre("load/poll: 2, 8 ns of 2, 0 of 0 "));
  // A call of the kernel lies within one of the C library: their times are of two kinds, not one sum.
  EXPECT_THAT(texts(TallyKind::kernel_calls), ElementsAre("step/futex: 1, 7 ns of 1, 0 of 0 "));
}

TEST_F(Tallies, WhatIsNotReadIsNamed) {
  EXPECT_TRUE(texts(TallyKind::unread).empty()) << "the export itself has nothing that is unknown";
  add("CREATE TABLE SCHED_EVENTS (start, cpu, isSchedIn, globalTid)");
  add("INSERT INTO SCHED_EVENTS VALUES (1, 0, 1, 1), (2, 0, 0, 1)");
  add("CREATE TABLE NO_EVENTS (id, value)");
  add("INSERT INTO NO_EVENTS VALUES (1, 2)");
  add("CREATE TABLE EMPTY_EVENTS (start, end)");
  add("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN energy INTEGER DEFAULT 5");
  EXPECT_THAT(texts(TallyKind::unread),
              ElementsAre("/CUPTI_ACTIVITY_KIND_KERNEL.energy: 6, 0 ns of 0, 0 of 0 ",
                          "/SCHED_EVENTS: 2, 0 ns of 0, 0 of 0 "));
}

TEST_F(Tallies, ALackOfColumnsThatAreNeededLeavesATableOut) {
  add("CREATE TABLE MPI_P2P_EVENTS (end, size)");
  add("INSERT INTO MPI_P2P_EVENTS VALUES (1, 2)");
  EXPECT_TRUE(texts(TallyKind::mpi).empty());
}

TEST_F(Tallies, AnExportWithoutOpsHasThemToo) {
  add("CREATE TABLE MPI_OTHER_EVENTS (start, end, globalTid)");
  add(fmt::format("INSERT INTO MPI_OTHER_EVENTS VALUES (1010, 1020, {0}), (1110, 1115, {0})", thread));
  const Trace all = trace::read_trace(file, {.parts = {.tallies = true}});
  EXPECT_THAT(texts(of(all, TallyKind::mpi)), ElementsAre("/other calls: 2, 15 ns of 2, 0 of 0 B"));
}

TEST_F(Tallies, ExecutionsOfAnOpAreOneSum) {
  add(
      fmt::format("INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId) VALUES (2000, "
                  "2100, 59, 'load', {}, 0)",
                  thread));
  add("CREATE TABLE MPI_OTHER_EVENTS (start, end, globalTid)");
  add(fmt::format("INSERT INTO MPI_OTHER_EVENTS VALUES (1010, 1020, {0}), (2010, 2015, {0})", thread));
  EXPECT_THAT(texts(TallyKind::mpi), ElementsAre("load/other calls: 2, 15 ns of 2, 0 of 0 B"));
}

TEST_F(Tallies, ProcessesWithoutRangesBelongToTheOneOp) {
  add("DELETE FROM NVTX_EVENTS");
  add("CREATE TABLE MPI_OTHER_EVENTS (start, end, globalTid)");
  add(fmt::format("INSERT INTO MPI_OTHER_EVENTS VALUES (1010, 1020, {}), (1110, 1115, {})", thread,
                  trace::nsys::global_thread(trace::nsys::global_process(200), 201)));
  EXPECT_THAT(texts(TallyKind::mpi),
              ElementsAre(fmt::format("{}/other calls: 2, 15 ns of 2, 0 of 0 B", trace::whole_program)));
}

TEST_F(Tallies, NamesBeyondTenThousandAreOneRow) {
  add("CREATE UNIQUE INDEX names ON StringIds (id)");
  add("CREATE TABLE MPI_OTHER_EVENTS (start, end, globalTid, textId)");
  add("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000) INSERT INTO "
      "StringIds SELECT 100000 + i, 'call ' || i FROM n");
  add(
      fmt::format("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000) INSERT "
                  "INTO MPI_OTHER_EVENTS SELECT 1010, 1020, {}, 100000 + i FROM n",
                  thread));
  const std::vector<Tally> calls = of(imported(), TallyKind::mpi);
  ASSERT_LE(calls.size(), 10'001U);
  std::uint64_t count = 0;
  for (const Tally& one : calls) count += one.count;
  EXPECT_EQ(count, 12'000U) << "none is lost";
  const auto others = std::ranges::find(calls, "other names", &Tally::name);
  ASSERT_NE(others, calls.end());
  EXPECT_EQ(others->time, 10 * static_cast<std::int64_t>(others->count));
}

TEST_F(Tallies, ALongPayloadOrDurationsWithoutEndDoNoHarm) {
  add("ALTER TABLE NVTX_EVENTS ADD COLUMN jsonText TEXT");
  add(
      fmt::format("INSERT INTO NVTX_EVENTS (start, eventType, text, globalTid, domainId) VALUES (1, 75, "
                  "'NCCL', {}, 9)",
                  process));
  add(
      fmt::format("INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId, jsonText) "
                  "VALUES (1010, 1030, 59, 'ncclSend', {}, 9, '{{\"Message size [bytes]\": 8, \"x\": \"' || "
                  "hex(zeroblob(4096)) || '\"}}')",
                  thread));
  EXPECT_THAT(texts(TallyKind::nccl), ElementsAre("load/ncclSend: 1, 20 ns of 1, 0 of 0 B"));
  add("CREATE TABLE MPI_OTHER_EVENTS (start, end, globalTid)");
  add(
      fmt::format("INSERT INTO MPI_OTHER_EVENTS VALUES (10, 9223372036854775807, {0}), (20, "
                  "9223372036854775807, {0})",
                  thread));
  EXPECT_THAT(texts(TallyKind::mpi),
              ElementsAre("outside/other calls: 2, 9223372036854775807 ns of 2, 0 of 0 B"));
}

TEST_F(Tallies, OfAllCasesTheSameIsOneRow) {
  Trace all = imported();
  trace::Kernel kernel = all.kernels.front();
  kernel.graph = 5;
  kernel.graph_node = 1;
  all.cases.push_back(all.cases.front());
  all.cases.back().id = "program/y";
  for (const trace::CaseIndex in_case : {0U, 1U}) {
    kernel.in_case = in_case;
    all.kernels.push_back(kernel);
  }
  const auto graphs = [&](const std::vector<Tally>& tallies) {
    return std::ranges::count(tallies, TallyKind::graphs, &Tally::kind);
  };
  EXPECT_EQ(graphs(trace::tallies_of(all)), 1);
  EXPECT_EQ(graphs(trace::tallies_of(all, 1)), 1);
  EXPECT_EQ(trace::tallies_of(all, 1).front().count, 1U);
  EXPECT_EQ(trace::tallies_of(all).front().count, 2U);
}

TEST_F(Tallies, AreKeptWithTheirCaseAndReplacedWithIt) {
  add("CREATE TABLE MPI_OTHER_EVENTS (start, end, globalTid)");
  add(fmt::format("INSERT INTO MPI_OTHER_EVENTS VALUES (1010, 1020, {})", thread));
  const Trace all = imported();
  ASSERT_FALSE(all.tallies.empty());
  const std::filesystem::path own = folder.path() / "trace.sqlite";
  for (int i = 0; i < 2; ++i) {
    trace::write_trace(own, all);
    const Trace again = trace::read_trace(own, {.parts = trace::every_part});
    EXPECT_EQ(again.tallies, all.tallies);
    EXPECT_EQ(trace::tallies_of(again), trace::tallies_of(all));
  }
  const std::filesystem::path exported = folder.path() / "exported.sqlite";
  trace::write_export(exported, all);
  EXPECT_FALSE(sqlite::Database(exported, sqlite::Mode::read).has_table("MPROF_TALLY"));
}

}  // namespace
}  // namespace mprof
