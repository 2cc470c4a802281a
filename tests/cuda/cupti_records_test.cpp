// SPDX-License-Identifier: MIT
#include "collectors/cuda/cupti_records.hpp"

#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/derive/subjects.hpp"
#include "model/trace/writer.hpp"
#include "tests/support/measurements.hpp"
#include "tests/support/sample_trace.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/support/trace_reader.hpp"

namespace mprof {
namespace {

using test::at;
using trace::Interval;
using trace::Place;

constexpr std::uint32_t main_thread = test::TraceBuilder::main_thread;
constexpr std::uint32_t other_thread = test::TraceBuilder::other_thread;
constexpr const char* tiled = "_ZN5mprof5tiledILi16EEEvPf";

std::uint64_t ns(std::int64_t time) {
  return static_cast<std::uint64_t>(time);
}

/// Hands fabricated records to a CuptiRecords.
class CuptiRecordsTest : public ::testing::Test {
 protected:
  template <class Record>
  void add(Record& record) {
    records.add(reinterpret_cast<CUpti_Activity&>(record));
  }

  template <class Record>
  static Record work(CUpti_ActivityKind kind, std::uint32_t correlation, Interval time,
                     std::uint32_t stream) {
    Record record{};
    record.kind = kind;
    record.start = ns(time.start);
    record.end = ns(time.end);
    record.contextId = 1;
    record.streamId = stream;
    record.correlationId = correlation;
    return record;
  }

  void kernel(std::uint32_t correlation, Interval time, const char* name = tiled, std::uint32_t stream = 7,
              std::uint64_t graph_node = 0) {
    auto record =
        work<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, correlation, time, stream);
    record.name = name;
    record.gridX = 28;
    record.gridY = record.gridZ = 1;
    record.blockX = 16;
    record.blockY = record.blockZ = 1;
    record.registersPerThread = 40;
    record.localMemoryTotal_v2 = std::uint64_t{5} << 32;  // more than the field that it replaces holds
    record.graphNodeId = graph_node;
    add(record);
  }

  void copy(std::uint32_t correlation, std::uint32_t runtime_correlation, Interval time) {
    auto record = work<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY, correlation, time, 7);
    record.runtimeCorrelationId = runtime_correlation;
    record.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
    record.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
    record.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    record.bytes = 4096;
    record.copyCount = 1;
    add(record);
  }

  void set(std::uint32_t correlation, Interval time) {
    auto record = work<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET, correlation, time, 7);
    record.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    record.bytes = 64;
    record.value = 255;
    add(record);
  }

  void call(std::uint32_t correlation, std::uint32_t id, Interval time, std::uint32_t thread = main_thread,
            CUpti_ActivityKind kind = CUPTI_ACTIVITY_KIND_RUNTIME) {
    CUpti_ActivityAPI record{};
    record.kind = kind;
    record.cbid = id;
    record.start = ns(time.start);
    record.end = ns(time.end);
    record.threadId = thread;
    record.correlationId = correlation;
    add(record);
  }

  void external(std::uint32_t correlation, std::uint64_t id,
                CUpti_ExternalCorrelationKind kind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0) {
    CUpti_ActivityExternalCorrelation record{};
    record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
    record.externalKind = kind;
    record.externalId = id;
    record.correlationId = correlation;
    add(record);
  }

  void marker(std::uint32_t id, CUpti_ActivityFlag flags, std::int64_t time, const char* name,
              const char* domain = nullptr, std::uint32_t thread = main_thread) {
    CUpti_ActivityMarker2 record{};
    record.kind = CUPTI_ACTIVITY_KIND_MARKER;
    record.id = id;
    record.flags = flags;
    record.timestamp = ns(test::trace_base + time);
    record.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
    record.objectId.pt.threadId = thread;
    record.name = name;
    record.domain = domain;
    add(record);
  }

  trace::Recording take_all(Interval window = at(0, 10000)) {
    return records.take(window, [](trace::Api api, std::uint32_t id) {
      return fmt::format("{}{}", api == trace::Api::runtime ? "cuda" : "cu", id);
    });
  }

  trace::Trace take(Interval window = at(0, 10000)) { return take_all(window).trace; }

  CuptiRecords records{test::TraceBuilder::process};
};

TEST_F(CuptiRecordsTest, AreCopiedWithTheirNames) {
  char name[] = "_ZN5mprof5tiledILi16EEEvPf";
  kernel(11, at(100, 200), name);
  std::memset(name, 'x', sizeof name - 1);  // its module is gone
  kernel(12, at(300, 400), "scale");
  kernel(13, at(500, 600));
  const trace::Trace trace = take();
  ASSERT_EQ(trace.kernels.size(), 3U);
  const auto texts = [&](const trace::Kernel& k) {
    return std::vector<std::string>{trace.names[k.mangled], trace.names[k.name], trace.names[k.short_name]};
  };
  EXPECT_EQ(texts(trace.kernels[0]),
            (std::vector<std::string>{tiled, "void mprof::tiled<16>(float*)", "tiled"}));
  EXPECT_EQ(texts(trace.kernels[1]), (std::vector<std::string>{"scale", "scale", "scale"}));
  EXPECT_EQ(texts(trace.kernels[2]), texts(trace.kernels[0]));
  EXPECT_EQ(trace.kernels[0].grid, (trace::Size{28, 1, 1}));
  EXPECT_EQ(trace.kernels[0].registers_per_thread, 40U);
  EXPECT_EQ(trace.kernels[0].local_memory_total, std::uint64_t{5} << 32);
  EXPECT_EQ(trace.kernels[0].time, at(100, 200));
}

TEST_F(CuptiRecordsTest, WithoutATimeOrWithAReversedOneAreCountedAndNotUsed) {
  kernel(1, {0, 0});
  kernel(2, {test::trace_base, 0});
  kernel(3, at(200, 100));
  set(4, {0, 0});
  copy(5, 5, at(300, 299));
  call(6, 1, {test::trace_base, 0});  // had not returned when it was flushed
  kernel(7, at(100, 100));            // shorter than the clock's step: a time
  const trace::Trace trace = take();
  EXPECT_EQ(trace.cases.at(0).counts.zero_time, 4U);
  EXPECT_EQ(trace.cases.at(0).counts.reversed, 2U);
  EXPECT_EQ(trace.kernels.size(), 1U);
  EXPECT_TRUE(trace.transfers.empty());
  EXPECT_TRUE(trace.calls.empty());
}

TEST_F(CuptiRecordsTest, OfOtherTimesAreLeftOut) {
  call(1, 101, at(-500, -400));
  call(2, 102, at(100, 200));
  call(3, 103, at(10'001, 10'002));
  call(4, 104, at(300, 400));
  kernel(1, at(-100, 50));  // launched before, and still at work in the window
  const trace::Trace trace = take();
  ASSERT_EQ(trace.calls.size(), 2U);
  EXPECT_EQ(trace.names[trace.calls[0].name], "cuda102");
  EXPECT_EQ(trace.names[trace.calls[1].name], "cuda104");
  EXPECT_EQ(trace.kernels.size(), 1U);
}

TEST_F(CuptiRecordsTest, AreForgottenWhenTaken) {
  kernel(1, at(100, 200));
  kernel(1, {0, 0});
  EXPECT_EQ(take().kernels.size(), 1U);
  const trace::Trace second = take();
  EXPECT_TRUE(second.kernels.empty());
  EXPECT_EQ(second.names.size(), 1U);
  EXPECT_EQ(second.cases.at(0).counts, trace::Counts{});
  EXPECT_EQ(second.cases.at(0).process, trace::nsys::global_process(test::TraceBuilder::process));
  EXPECT_EQ(second.places.size(), 1U);
}

TEST_F(CuptiRecordsTest, NumberKindsAsNsightSystemsDoes) {
  copy(1, 1, at(100, 200));
  set(2, at(300, 400));
  CUpti_ActivityOverhead3 overhead{};
  overhead.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  overhead.overheadKind = CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING;
  overhead.start = ns(test::trace_base + 1);
  overhead.end = ns(test::trace_base + 2);
  overhead.overheadData = std::malloc(16);  // under AddressSanitizer: freed
  add(overhead);
  CUpti_ActivitySynchronization2 synchronization{};
  synchronization.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  synchronization.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
  synchronization.start = ns(test::trace_base + 1);
  synchronization.end = ns(test::trace_base + 2);
  synchronization.streamId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  add(synchronization);
  auto peer = work<CUpti_ActivityMemcpyPtoP4>(CUPTI_ACTIVITY_KIND_MEMCPY2, 3, at(500, 600), 7);
  peer.bytes = 8;
  add(peer);
  const trace::Trace trace = take();
  EXPECT_EQ(overhead.overheadData, nullptr);
  EXPECT_EQ(trace.transfers.at(0).kind, trace::TransferKind::host_to_device);
  EXPECT_EQ(trace.transfers.at(0).source, trace::MemoryKind::pageable);
  EXPECT_EQ(trace.transfers.at(0).destination, trace::MemoryKind::device);
  EXPECT_EQ(trace.transfers.at(2).kind, trace::TransferKind::peer_to_peer);
  EXPECT_EQ(trace.transfers.at(2).source, trace::MemoryKind::unknown);
  EXPECT_TRUE(trace.transfers.at(1).is_set());
  EXPECT_EQ(trace.transfers.at(1).source, trace::MemoryKind::device);
  EXPECT_EQ(trace.overheads.at(0).kind, 7U);
  EXPECT_EQ(trace.synchronizations.at(0).kind, trace::SynchronizationKind::context);
}

TEST_F(CuptiRecordsTest, ContextsOutliveWhatIsForgotten) {
  CUpti_ActivityContext3 context{};
  context.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
  context.contextId = 4;
  context.parentContextId = 1;
  context.nullStreamId = 21;
  context.isGreenContext = 1;
  context.numMultiprocessors = 16;
  add(context);
  records.clear();
  const trace::Trace trace = take();
  ASSERT_EQ(trace.contexts.size(), 1U);
  EXPECT_EQ(trace.contexts[0].id, 4U);
  EXPECT_EQ(trace.contexts[0].parent, 1U);
  EXPECT_EQ(trace.contexts[0].null_stream, 21U);
  EXPECT_TRUE(trace.contexts[0].is_green);
  EXPECT_EQ(trace.contexts[0].multiprocessors, 16U);
}

TEST_F(CuptiRecordsTest, ACopyKeepsTheCorrelationIdThatHasACall) {
  call(20, 1, at(10, 20));
  copy(21, 20, at(100, 200));  // its driver call was not recorded
  call(30, 1, at(30, 60));
  call(31, 2, at(40, 50), main_thread, CUPTI_ACTIVITY_KIND_DRIVER);
  copy(31, 30, at(300, 400));
  copy(41, 40, at(500, 600));  // neither was
  const trace::Trace trace = take();
  EXPECT_EQ(trace.transfers[0].correlation, 20);
  EXPECT_EQ(trace.transfers[1].correlation, 31);
  EXPECT_EQ(trace.transfers[2].correlation, 41);
}

TEST_F(CuptiRecordsTest, NvtxRangesAreMatchedByIdInAnyOrder) {
  marker(2, CUPTI_ACTIVITY_FLAG_MARKER_END, 300, nullptr);
  marker(1, CUPTI_ACTIVITY_FLAG_MARKER_START, 100, "outer");
  marker(1, CUPTI_ACTIVITY_FLAG_MARKER_END, 400, nullptr);
  marker(2, CUPTI_ACTIVITY_FLAG_MARKER_START, 200, "inner", "library");
  marker(3, CUPTI_ACTIVITY_FLAG_MARKER_START, 500, "over to another", nullptr);
  marker(3, CUPTI_ACTIVITY_FLAG_MARKER_END, 600, nullptr, nullptr, other_thread);
  marker(4, CUPTI_ACTIVITY_FLAG_MARKER_START, 700, "never ended");
  marker(5, CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS, 800, "a mark");
  marker(6, CUPTI_ACTIVITY_FLAG_MARKER_START, 50, "layer1", trace::own_domain);
  marker(7, CUPTI_ACTIVITY_FLAG_MARKER_SYNC_ACQUIRE, 60, "a lock");
  const trace::Trace trace = take();
  ASSERT_EQ(trace.ranges.size(), 5U);
  const auto find = [&](const std::string& name) {
    for (const trace::Range& range : trace.ranges) {
      if (trace.text_of(range) == name) return range;
    }
    return trace::Range{};
  };
  EXPECT_EQ(find("outer").time, at(100, 400));
  EXPECT_EQ(find("inner").time, at(200, 300));
  EXPECT_EQ(trace.names[find("inner").domain], "library");
  EXPECT_EQ(trace.names[find("inner").name], "library:inner");
  EXPECT_EQ(find("over to another").end_thread, test::TraceBuilder::thread(other_thread));
  EXPECT_EQ(find("over to another").style, trace::RangeStyle::start_end);
  EXPECT_EQ(find("never ended").time, at(700, 10000));
  EXPECT_EQ(find("a mark").time, at(800, 800));
  EXPECT_EQ(find("a mark").style, trace::RangeStyle::mark);
}

/// The whole way: records of a case with two threads and a graph, to metrics and to the file.
TEST_F(CuptiRecordsTest, BecomeAnAttributedTraceWithMetricsInAFile) {
  constexpr std::uint32_t launch = 211;
  external(10, 2);
  external(10, 77, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1);  // somebody else's
  external(12, 3);
  kernel(10, at(400, 900));  // ends when the next range is open; its call comes later in the buffer
  kernel(12, at(1000, 1100), tiled, 8, 1);
  kernel(12, at(1100, 1300), "scale", 8, 2);
  kernel(11, at(500, 600), tiled, 9);
  kernel(13, at(1400, 1500));  // its call was dropped
  kernel(14, {0, 0});
  call(12, 300, at(820, 850));
  call(11, launch, at(350, 380), other_thread);
  call(10, launch, at(310, 330));
  call(10, 307, at(315, 325), main_thread, CUPTI_ACTIVITY_KIND_DRIVER);
  trace::Recording recording = take_all();
  trace::Trace& trace = recording.trace;
  trace.cases[0].id = "conv/x@1";
  trace.cases[0].counts.dropped = 5;
  const auto own = [&](std::uint64_t id, const Place& place, Interval time) {
    const std::int64_t thread = test::TraceBuilder::thread(main_thread);
    trace.ranges.push_back({.time = time,
                            .thread = thread,
                            .end_thread = thread,
                            .name = trace.names.index("mprof:" + place.part),
                            .domain = trace.names.index(trace::own_domain),
                            .place = trace.index_of(place),
                            .id = id});
  };
  own(1, {"", trace::part::between}, at(0, 10000));
  own(2, {"layer1", trace::part::op}, at(300, 700));
  own(3, {"layer2", trace::part::op}, at(800, 1200));
  trace::attribute(recording);

  EXPECT_EQ(trace.cases[0].counts, (trace::Counts{.dropped = 5, .zero_time = 1, .unattributed = 1}));
  const auto rows = trace_metrics(trace, 0, std::vector<OpInfo>{{.name = "layer1"}, {.name = "layer2"}});
  EXPECT_NEAR(test::row_of(rows, "gpu_time", "layer1").samples.at(0), 500e-9, 1e-15);
  EXPECT_EQ(test::row_of(rows, "kernel_count", "layer1").samples.at(0), 2);
  EXPECT_EQ(test::row_of(rows, "concurrent_streams", "layer1").samples.at(0), 2);
  EXPECT_NEAR(test::row_of(rows, "gpu_time", "layer2").samples.at(0), 300e-9, 1e-15);
  EXPECT_EQ(test::row_of(rows, "launch_count", "layer2").samples.at(0), 1);
  EXPECT_EQ(test::row_of(rows, "dropped_records").samples.at(0), 5);

  const test::TemporaryDirectory directory;
  const auto file = directory.path() / "trace.sqlite";
  trace::write_trace(file, trace);
  const auto read = test::read_by_sql(file, trace.cases[0].id);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->cases[0].counts, trace.cases[0].counts);
  ASSERT_EQ(read->kernels.size(), 5U);
  for (std::size_t i = 0; i < read->kernels.size(); ++i) {
    EXPECT_EQ(read->kernels[i].time, trace.kernels[i].time);
    EXPECT_EQ(read->names[read->kernels[i].mangled], trace.names[trace.kernels[i].mangled]);
    EXPECT_EQ(read->places.at(read->kernels[i].place), trace.places.at(trace.kernels[i].place));
  }
}

}  // namespace
}  // namespace mprof
