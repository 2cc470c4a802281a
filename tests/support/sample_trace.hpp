// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/trace/attribution.hpp"
#include "model/trace/nsys_schema.hpp"

namespace mprof::test {

/// When the sample trace begins. Times in it are written as ns from here.
inline constexpr std::int64_t trace_base = 1'700'000'000'000'000'000;

inline trace::Interval at(std::int64_t start, std::int64_t end) {
  return {trace_base + start, trace_base + end};
}

struct KernelNames {
  std::string mangled;
  std::string whole;
  std::string brief;
};
inline const KernelNames tiled{"_ZN5mprof5tiledILi16EEEvPf", "void mprof::tiled<16>(float*)", "tiled"};
inline const KernelNames scale{"scale", "scale", "scale"};

/// Writes a trace by hand: one process with two threads.
class TraceBuilder {
 public:
  static constexpr std::uint32_t process = 4242;
  static constexpr std::uint32_t main_thread = 1001;
  static constexpr std::uint32_t other_thread = 1002;

  TraceBuilder() {
    trace().cases.push_back({.id = "conv/streams@1000", .process = trace::nsys::global_process(process)});
  }

  [[nodiscard]] trace::Trace& trace() { return recording.trace; }
  [[nodiscard]] trace::CaseInfo& info() { return trace().cases[0]; }
  [[nodiscard]] static std::int64_t thread(std::uint32_t id) {
    return trace::nsys::global_thread(trace::nsys::global_process(process), id);
  }

  void range(const std::string& domain, const std::string& text, trace::Interval time, std::uint32_t on,
             trace::RangeStyle style = trace::RangeStyle::push_pop) {
    trace().ranges.push_back({.time = time,
                              .thread = thread(on),
                              .end_thread = thread(on),
                              .name = trace().names.index(domain + ":" + text),
                              .domain = trace().names.index(domain),
                              .style = style});
  }
  /// One of mprof's own ranges.
  void range(std::uint64_t id, const std::string& text, const trace::Place& place, trace::Interval time) {
    range(trace::own_domain, text, time, main_thread);
    trace().ranges.back().place = trace().index_of(place);
    trace().ranges.back().id = id;
  }
  /// `external`: the range that CUPTI names; 0: none.
  void call(std::int64_t correlation, const std::string& name, trace::Interval time, std::uint64_t external,
            std::uint32_t on = main_thread, trace::Api api = trace::Api::runtime) {
    trace().calls.push_back({.time = time,
                             .correlation = correlation,
                             .thread = thread(on),
                             .name = trace().names.index(trace::call_name(name)),
                             .versioned_name = trace().names.index(name),
                             .api = api,
                             .result = 0});
    if (external != 0) recording.external_correlations.push_back({correlation, external});
  }
  void kernel(const KernelNames& names, std::int64_t correlation, std::uint32_t stream, trace::Interval time,
              std::uint64_t graph_node = 0) {
    trace().kernels.push_back({.time = time,
                               .correlation = correlation,
                               .process = info().process,
                               .name = trace().names.index(names.whole),
                               .short_name = trace().names.index(names.brief),
                               .mangled = trace().names.index(names.mangled),
                               .queue = {0, 1, stream},
                               .graph_node = graph_node,
                               .grid = trace::Size{28, 28, 100},
                               .block = trace::Size{16, 16, 1},
                               .registers_per_thread = 32,
                               .static_shared_memory = 2048,
                               .dynamic_shared_memory = 0,
                               .local_memory_per_thread = 0,
                               .local_memory_total = 0,
                               .shared_memory_executed = 8192,
                               .shared_memory_limit = 0,
                               .cache_config = 0,
                               .launch_type = 1,
                               .grid_id = correlation});
  }
  void copy(std::int64_t correlation, trace::Interval time, std::uint64_t bytes, trace::TransferKind kind,
            trace::MemoryKind source, trace::MemoryKind destination) {
    trace().transfers.push_back({.time = time,
                                 .correlation = correlation,
                                 .process = info().process,
                                 .bytes = bytes,
                                 .queue = {0, 1, 7},
                                 .kind = kind,
                                 .source = source,
                                 .destination = destination,
                                 .count = 1});
  }
  void set(std::int64_t correlation, trace::Interval time, std::uint64_t bytes) {
    trace().transfers.push_back({.time = time,
                                 .correlation = correlation,
                                 .process = info().process,
                                 .bytes = bytes,
                                 .queue = {0, 1, 7},
                                 .kind = trace::TransferKind::set,
                                 .source = trace::MemoryKind::device,
                                 .value = 0});
  }

  trace::Recording recording;
};

/// A case of two ops, not attributed yet. It has
/// - kernels on three streams that outlive the stage that launched them, one of them launched by another
///   thread,
/// - a cache flush between two stages,
/// - a graph of two kernels,
/// - a kernel whose call is lost,
/// - a call that led to nothing and whose external id and time disagree.
inline trace::Recording sample_recording() {
  using trace::MemoryKind;
  using trace::TransferKind;
  namespace part = trace::part;
  TraceBuilder b;
  b.info().window = at(0, 10000);
  b.range(1, b.info().id, {"", part::between}, at(0, 10000));
  b.range(2, "layer1", {"layer1", part::between}, at(100, 6000));
  b.range(3, "prepare", {"layer1", part::prepare}, at(110, 1000));
  b.range(4, "pause", {"", part::pause}, at(1100, 1400));
  b.range(5, "op", {"layer1", part::op}, at(1500, 3000));
  b.range("", "user work", at(1550, 2900), b.other_thread);
  b.range("user's domain", "a mark", at(1560, 1560), b.other_thread, trace::RangeStyle::mark);
  b.range(6, "finish", {"layer1", part::finish}, at(3100, 5900));
  b.range(7, "layer2", {"layer2", part::between}, at(6100, 9000));
  b.range(8, "prepare", {"layer2", part::prepare}, at(6110, 6500));
  b.range(9, "op", {"layer2", part::op}, at(6600, 7000));
  b.range(10, "finish", {"layer2", part::finish}, at(7100, 8900));

  b.call(10, "cudaMalloc_v3020", at(120, 320), 3);
  b.call(11, "cudaMemcpyAsync_v3020", at(330, 400), 3);
  b.copy(11, at(420, 820), 4096, TransferKind::host_to_device, MemoryKind::pinned, MemoryKind::device);
  b.call(12, "cudaMemsetAsync_v3020", at(1110, 1150), 4);
  b.set(12, at(1160, 1390), 1 << 20);

  b.call(13, "cudaLaunchKernel_v7000", at(1510, 1560), 5);
  b.kernel(tiled, 13, 7, at(1600, 3400));
  b.call(14, "cudaLaunchKernel_v7000", at(1570, 1600), 5);
  b.call(14, "cuLaunchKernel", at(1575, 1595), 5, b.main_thread, trace::Api::driver);
  b.kernel(tiled, 14, 8, at(1700, 2600));
  b.call(20, "cudaLaunchKernel_v7000", at(1620, 1660), 0, b.other_thread);
  b.kernel(scale, 20, 9, at(2500, 2900));
  b.call(21, "cudaStreamSynchronize_v3020", at(2000, 2950), 5);
  b.trace().synchronizations.push_back({.time = at(2010, 2940),
                                        .correlation = 21,
                                        .process = b.info().process,
                                        .kind = trace::SynchronizationKind::stream,
                                        .context = 1,
                                        .stream = 7});

  b.call(22, "cudaMemcpyAsync_v3020", at(3110, 3150), 6);
  b.copy(22, at(3300, 3700), 2048, TransferKind::device_to_host, MemoryKind::device, MemoryKind::pageable);
  b.call(23, "cudaDeviceSynchronize_v3020", at(3160, 3800), 6);
  b.call(24, "cudaFree_v3020", at(3900, 4400), 6);
  b.trace().overheads.push_back({.time = at(5000, 5200), .thread = b.thread(b.main_thread), .kind = 4});

  b.call(30, "cudaGraphLaunch_v10000", at(6610, 6700), 9);
  b.kernel(tiled, 30, 7, at(6720, 6800), 1);
  b.kernel(scale, 30, 7, at(6800, 6950), 2);
  b.call(40, "cudaGetLastError_v3020", at(6710, 6720), 10);  // made in range 9
  b.call(31, "cudaDeviceSynchronize_v3020", at(7110, 7300), 10);
  b.kernel(scale, 99, 7, at(7150, 7250));

  b.info().counts = {.dropped = 3, .zero_time = 2, .reversed = 1};
  b.trace().gpus = {{0, "NVIDIA H200", "0000:1b:00.0", "00000000-0000-0000-0000-000000000000",
                     150'000'000'000, 62'914'560, 4'814'000'000'000, 1'980'000'000, 132, 9, 0, 32, 3}};
  return b.recording;
}

inline trace::Trace sample_trace() {
  return sample_recording().trace;
}

/// The same trace for another case, so much later.
inline trace::Trace moved(trace::Trace trace, const std::string& case_id, std::int64_t later) {
  const auto shift = [&](trace::Interval& time) {
    time.start += later;
    time.end += later;
  };
  const auto shift_all = [&](auto& rows) {
    for (auto& row : rows) shift(row.time);
  };
  shift(trace.cases[0].window);
  shift_all(trace.kernels.rows());
  shift_all(trace.transfers);
  shift_all(trace.calls);
  shift_all(trace.synchronizations);
  shift_all(trace.overheads);
  shift_all(trace.ranges);
  const std::string own = std::string(trace::own_domain) + ":";
  for (trace::Range& range : trace.ranges) {
    if (trace.names[range.name] == own + trace.cases[0].id) range.name = trace.names.index(own + case_id);
  }
  trace.cases[0].id = case_id;
  return trace;
}

/// The same trace with another name for the kernel `scale`.
inline trace::Trace with_kernel_named(trace::Trace trace, const std::string& name) {
  const trace::NameIndex old = trace.names.index(scale.mangled);
  const trace::NameIndex index = trace.names.index(name);
  trace.kernels.change_all([&](trace::Kernel& kernel) {
    if (kernel.mangled == old) kernel.name = kernel.short_name = kernel.mangled = index;
  });
  return trace;
}

/// The sample with its cache flush known as mprof's own doing, without the attribution of all else.
inline trace::Trace sample_trace_with_pause() {
  constexpr std::int64_t flush = 12;
  trace::Trace trace = sample_trace();
  const trace::PlaceIndex pause = trace.index_of({"", trace::part::pause});
  for (auto& row : trace.transfers) row.place = row.correlation == flush ? pause : row.place;
  for (auto& row : trace.calls) row.place = row.correlation == flush ? pause : row.place;
  return trace;
}

}  // namespace mprof::test
