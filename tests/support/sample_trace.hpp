#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/trace/trace.hpp"

namespace mprof::test {

/// When the sample trace begins. Times in it are written as ns from here.
inline constexpr std::int64_t trace_base = 1'700'000'000'000'000'000;

inline trace::Interval at(std::int64_t start, std::int64_t end) {
  return {trace_base + start, trace_base + end};
}

inline trace::GpuWork gpu_work(std::uint32_t correlation, std::uint32_t stream, trace::Interval time,
                               std::uint64_t graph_node = 0) {
  return {.time = time, .context = 1, .stream = stream, .correlation = correlation, .graph_node = graph_node};
}

/// Writes a trace by hand: one process with two threads.
class TraceBuilder {
 public:
  static constexpr std::uint32_t main_thread = 1001;
  static constexpr std::uint32_t other_thread = 1002;

  TraceBuilder() {
    trace.case_id = "conv/streams@1000";
    trace.process = 4242;
    trace.symbols = {{"_ZN5mprof5tiledILi16EEEvPf", "void mprof::tiled<16>(float*)", "tiled"},
                     {"scale", "scale", "scale"}};
  }

  /// One of mprof's own ranges.
  void range(std::uint64_t id, const std::string& name, const trace::Place& place, trace::Interval time) {
    trace.ranges.push_back(
        {time, name, trace::own_domain, main_thread, main_thread, id, trace.index_of(place)});
  }
  /// `external`: the range that CUPTI names; 0: none.
  void call(std::uint32_t correlation, const std::string& name, trace::Interval time, std::uint64_t external,
            std::uint32_t thread = main_thread, trace::Api api = trace::Api::runtime) {
    trace.calls.push_back({time, api, name, thread, correlation, 0});
    if (external != 0) trace.external_correlations.push_back({correlation, external});
  }
  void kernel(std::uint32_t symbol, const trace::GpuWork& work) {
    trace.kernels.push_back({.work = work,
                             .symbol = symbol,
                             .grid = {28, 28, 100},
                             .block = {16, 16, 1},
                             .registers_per_thread = 32,
                             .static_shared_memory = 2048,
                             .shared_memory_executed = 8192,
                             .grid_id = work.correlation});
  }

  trace::Trace trace;
};

/// A case of two ops, not attributed yet: kernels on three streams that outlive the stage that launched them,
/// one of them launched by another thread; a cache flush between two stages; a graph of two kernels; a kernel
/// whose call is lost; a call that led to nothing and whose external id and time disagree.
inline trace::Trace sample_trace() {
  using trace::CopyKind;
  using trace::MemoryKind;
  namespace part = trace::part;
  TraceBuilder b;
  b.trace.window = at(0, 10000);
  b.range(1, b.trace.case_id, {"", part::between}, at(0, 10000));
  b.range(2, "layer1", {"layer1", part::between}, at(100, 6000));
  b.range(3, "prepare", {"layer1", part::prepare}, at(110, 1000));
  b.range(4, "pause", {"", part::pause}, at(1100, 1400));
  b.range(5, "op", {"layer1", part::op}, at(1500, 3000));
  b.trace.ranges.push_back({at(1550, 2900), "user work", "", b.other_thread, b.other_thread});
  b.trace.ranges.push_back({at(1560, 1560), "a mark", "user's domain", b.other_thread, b.other_thread});
  b.range(6, "finish", {"layer1", part::finish}, at(3100, 5900));
  b.range(7, "layer2", {"layer2", part::between}, at(6100, 9000));
  b.range(8, "prepare", {"layer2", part::prepare}, at(6110, 6500));
  b.range(9, "op", {"layer2", part::op}, at(6600, 7000));
  b.range(10, "finish", {"layer2", part::finish}, at(7100, 8900));

  b.call(10, "cudaMalloc_v3020", at(120, 320), 3);
  b.call(11, "cudaMemcpyAsync_v3020", at(330, 400), 3);
  b.trace.copies.push_back({gpu_work(11, 7, at(420, 820)), 4096, CopyKind::host_to_device, MemoryKind::pinned,
                            MemoryKind::device});
  b.call(12, "cudaMemsetAsync_v3020", at(1110, 1150), 4);
  b.trace.sets.push_back({gpu_work(12, 7, at(1160, 1390)), 0, 1 << 20, MemoryKind::device});

  b.call(13, "cudaLaunchKernel_v7000", at(1510, 1560), 5);
  b.kernel(0, gpu_work(13, 7, at(1600, 3400)));
  b.call(14, "cudaLaunchKernel_v7000", at(1570, 1600), 5);
  b.call(14, "cuLaunchKernel", at(1575, 1595), 5, b.main_thread, trace::Api::driver);
  b.kernel(0, gpu_work(14, 8, at(1700, 2600)));
  b.call(20, "cudaLaunchKernel_v7000", at(1620, 1660), 0, b.other_thread);
  b.kernel(1, gpu_work(20, 9, at(2500, 2900)));
  b.call(21, "cudaStreamSynchronize_v3020", at(2000, 2950), 5);
  b.trace.synchronizations.push_back(
      {at(2010, 2940), trace::SynchronizationKind::stream, 1, 7, 0, 21, trace::nowhere});

  b.call(22, "cudaMemcpyAsync_v3020", at(3110, 3150), 6);
  b.trace.copies.push_back({gpu_work(22, 7, at(3300, 3700)), 2048, CopyKind::device_to_host,
                            MemoryKind::device, MemoryKind::pageable});
  b.call(23, "cudaDeviceSynchronize_v3020", at(3160, 3800), 6);
  b.call(24, "cudaFree_v3020", at(3900, 4400), 6);
  b.trace.overheads.push_back({at(5000, 5200), 4, b.main_thread, 0});

  b.call(30, "cudaGraphLaunch_v10000", at(6610, 6700), 9);
  b.kernel(0, gpu_work(30, 7, at(6720, 6800), 1));
  b.kernel(1, gpu_work(30, 7, at(6800, 6950), 2));
  b.call(40, "cudaGetLastError_v3020", at(6710, 6720), 10);  // made in range 9
  b.call(31, "cudaDeviceSynchronize_v3020", at(7110, 7300), 10);
  b.kernel(1, gpu_work(99, 7, at(7150, 7250)));

  b.trace.counts = {.dropped = 3, .zero_time = 2, .reversed = 1};
  b.trace.gpus = {{0, "NVIDIA H200", "0000:1b:00.0", "GPU-00000000-0000-0000-0000-000000000000",
                   150'000'000'000, 62'914'560, 4'814'000'000'000, 1'980'000'000, 132, 9, 0, 32, 3}};
  return b.trace;
}

/// The same trace as that of another case, so much later.
inline trace::Trace moved(trace::Trace trace, const std::string& case_id, std::int64_t later) {
  const auto shift = [&](trace::Interval& time) {
    time.start += later;
    time.end += later;
  };
  shift(trace.window);
  for (auto& row : trace.kernels) shift(row.work.time);
  for (auto& row : trace.copies) shift(row.work.time);
  for (auto& row : trace.sets) shift(row.work.time);
  for (auto& row : trace.calls) shift(row.time);
  for (auto& row : trace.synchronizations) shift(row.time);
  for (auto& row : trace.overheads) shift(row.time);
  for (auto& row : trace.ranges) {
    shift(row.time);
    if (row.name == trace.case_id) row.name = case_id;
  }
  trace.case_id = case_id;
  return trace;
}

/// The sample with its cache flush known as mprof's own doing, without the attribution of all else.
inline trace::Trace sample_trace_with_pause() {
  constexpr std::uint32_t flush = 12;
  trace::Trace trace = sample_trace();
  const trace::PlaceIndex pause = trace.index_of({"", trace::part::pause});
  for (auto& row : trace.sets) row.work.place = row.work.correlation == flush ? pause : row.work.place;
  for (auto& row : trace.calls) row.place = row.correlation == flush ? pause : row.place;
  return trace;
}

}  // namespace mprof::test
