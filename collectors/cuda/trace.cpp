// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include "collectors/collector.hpp"
#include "collectors/cuda/cupti_recorder.hpp"
#include "collectors/cuda/own_launches.hpp"
#include "collectors/os_runtime.hpp"
#include "cuda/check.hpp"
#include "cuda/cupti.hpp"
#include "cuda/gpu.hpp"
#include "model/trace/attribution.hpp"
#include "model/trace/nsys_schema.hpp"
#include "model/trace/writer.hpp"

namespace mprof {
namespace {

/// Asked for every case, tried once. Recording starts here, before the first case has a CUDA context.
std::optional<std::string> unavailable() {
  static const std::optional<std::string> reason = []() -> std::optional<std::string> {
    if (auto missing = cuda::cupti_unavailable()) return missing;
    try {
      CuptiRecorder::instance();
      return std::nullopt;
    } catch (const std::exception& error) {
      return error.what();
    }
  }();
  return reason;
}

/// The ranges of a case, nested, on the thread that runs it: as external correlation ids, by which CUPTI
/// attributes calls; as NVTX ranges, for another tool that watches mprof; and with their times.
class Ranges {
 public:
  explicit Ranges(CuptiRecorder& recorder) : recorder_(recorder) {}
  Ranges(const Ranges&) = delete;
  Ranges& operator=(const Ranges&) = delete;
  ~Ranges() {
    for (; !open_.empty(); open_.pop_back()) leave();
  }

  void push(const std::string& name, const trace::Place& place) {
    const std::uint64_t id = next_id++;
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = name.c_str();
    nvtxDomainRangePushEx(domain(), &attributes);
    try {
      recorder_.push(id);
    } catch (...) {
      nvtxDomainRangePop(domain());
      throw;
    }
    open_.push_back({.name = name, .place = place, .id = id});
    open_.back().time.start = recorder_.now();  // last: what stands above is in no stage's time
  }

  void pop() {
    open_.back().time.end = recorder_.now();
    leave();
    closed_.push_back(std::move(open_.back()));
    open_.pop_back();
  }

  /// The closed ranges, by start, become the trace's.
  void move_to(trace::Trace& trace) {
    const std::int64_t thread =
        trace::nsys::global_thread(trace.cases.at(0).process, static_cast<std::uint32_t>(::gettid()));
    const trace::NameIndex domain = trace.names.index(trace::own_domain);
    for (const Own& own : closed_) {
      trace.ranges.push_back({.time = own.time,
                              .thread = thread,
                              .end_thread = thread,
                              .name = trace.names.index(fmt::format("{}:{}", trace::own_domain, own.name)),
                              .domain = domain,
                              .place = trace.index_of(own.place),
                              .id = own.id});
    }
    closed_.clear();
    std::ranges::stable_sort(trace.ranges, {}, [](const trace::Range& range) { return range.time.start; });
  }

 private:
  struct Own {
    std::string name{};
    trace::Place place{};
    std::uint64_t id = 0;
    trace::Interval time{};
  };

  static nvtxDomainHandle_t domain() {
    static const nvtxDomainHandle_t domain = nvtxDomainCreateA(trace::own_domain);
    return domain;
  }

  void leave() const noexcept {
    recorder_.pop();
    nvtxDomainRangePop(domain());
  }

  static inline std::uint64_t next_id = 1;  // one series for all cases of the process

  CuptiRecorder& recorder_;
  std::vector<Own> open_;
  std::vector<Own> closed_;
};

const char* part_of(Stage stage) {
  switch (stage) {
    case Stage::prepare:
      return trace::part::prepare;
    case Stage::forward:
      return trace::part::op;
    case Stage::finish:
      return trace::part::finish;
  }
  return trace::part::between;
}

std::uint64_t attribute_of(cudaDeviceAttr attribute) {
  int value = 0;
  cuda::check(cudaDeviceGetAttribute(&value, attribute, 0));
  return static_cast<std::uint64_t>(value);
}

trace::Gpu gpu_facts() {
  constexpr std::uint64_t kilo = 1000;
  constexpr std::uint64_t bits_in_byte = 8;
  const cudaDeviceProp& gpu = cuda::gpu();
  // Both edges of the memory clock move data.
  const std::uint64_t bandwidth = 2 * kilo * attribute_of(cudaDevAttrMemoryClockRate) *
                                  attribute_of(cudaDevAttrGlobalMemoryBusWidth) / bits_in_byte;
  return {
      .id = 0,
      .name = gpu.name,
      .bus_location = fmt::format("{:04x}:{:02x}:{:02x}.0", gpu.pciDomainID, gpu.pciBusID, gpu.pciDeviceID),
      .uuid = cuda::gpu_uuid(),
      .memory = gpu.totalGlobalMem,
      .l2_cache = static_cast<std::uint64_t>(gpu.l2CacheSize),
      .memory_bandwidth = bandwidth,
      .clock_rate = kilo * attribute_of(cudaDevAttrClockRate),
      .multiprocessors = static_cast<std::uint32_t>(gpu.multiProcessorCount),
      .compute_major = static_cast<std::uint32_t>(gpu.major),
      .compute_minor = static_cast<std::uint32_t>(gpu.minor),
      .threads_per_warp = static_cast<std::uint32_t>(gpu.warpSize),
      .copy_engines = static_cast<std::uint32_t>(gpu.asyncEngineCount)};
}

/// What readers of exports look for: the names of the machine and of the process.
void describe_host(trace::Trace& trace) {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0) trace.system["Hostname"] = host.data();
  trace.processes = {{trace.cases.at(0).process, program_invocation_short_name, 0}};
}

/// The trace of one execution into trace.sqlite: ranges mprof / CASE / OP / PART, and records. What follows
/// from the trace is derived when the run is read; the launches alone are measured here, without CUPTI.
class TraceCollector final : public Collector {
 public:
  explicit TraceCollector(const CaseContext& context)
      : case_id_(context.subject.id),
        ops_(context.subject.ops),
        device_(context.device),
        file_(context.trace_file),
        recorder_(CuptiRecorder::instance()),
        ranges_(recorder_) {}

  void begin_sample() override {
    device_.synchronize();
    recorder_.forget();
    window_.start = recorder_.now();
    ranges_.push(case_id_, {"", trace::part::between});
  }

  void end_sample() override {
    leave_op();
    device_.synchronize();
    ranges_.pop();
    window_.end = recorder_.now();
    recording_ = recorder_.take(window_);
    recording_.trace.cases.at(0).id = case_id_;
    ranges_.move_to(recording_.trace);
    trace::attribute(recording_);
    os_runtime::add_own_calls(window_, pauses(), recording_.trace);
  }

  void begin_stage(std::string_view op, Stage stage) override {
    if (op != op_) {
      leave_op();
      op_ = op;
      ranges_.push(op_, {op_, trace::part::between});
    }
    OwnLaunches::begin_stage();
    ranges_.push(part_of(stage), {op_, part_of(stage)});
  }

  void end_stage(std::string_view op, Stage stage) override {
    ranges_.pop();
    launches_.end_stage(op, stage);
    if (stage == Stage::finish) leave_op();
  }

  void pause() override { ranges_.push(trace::part::pause, {"", trace::part::pause}); }
  void resume() override { ranges_.pop(); }

  void finish(std::vector<Measurement>& measurements) override {
    launches_.finish(ops_, measurements);
    if (file_.empty() || recording_.trace.cases.empty()) return;
    recording_.trace.gpus = {gpu_facts()};
    describe_host(recording_.trace);
    trace::write_trace(file_, recording_.trace);
  }

 private:
  void leave_op() {
    if (op_.empty()) return;
    op_.clear();
    ranges_.pop();
  }

  [[nodiscard]] std::vector<trace::Interval> pauses() const {
    std::vector<trace::Interval> times;
    for (const trace::Range& range : recording_.trace.ranges) {
      if (recording_.trace.places[range.place].part == trace::part::pause) times.push_back(range.time);
    }
    return times;
  }

  const std::string& case_id_;
  const std::vector<OpInfo>& ops_;
  const Device& device_;
  std::filesystem::path file_;
  CuptiRecorder& recorder_;
  Ranges ranges_;
  std::string op_;  ///< whose range is open; "" when none is
  OwnLaunches launches_;
  trace::Interval window_;
  trace::Recording recording_;
};

const bool registered =
    (CollectorKinds::instance().add({
         .id = "trace",
         .pass = Pass::trace,
         .device = "cuda",
         .order = 50,
         .unavailable = unavailable,
         .make = [](const CaseContext& context) { return std::make_unique<TraceCollector>(context); },
     }),
     true);

}  // namespace
}  // namespace mprof
