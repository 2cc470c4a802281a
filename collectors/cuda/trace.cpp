#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>
#include <cupti.h>
#include <fmt/format.h>
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include "collectors/collector.hpp"
#include "collectors/cuda/cupti_records.hpp"
#include "collectors/trace_attribution.hpp"
#include "collectors/trace_metrics.hpp"
#include "cuda/check.hpp"
#include "cuda/cupti.hpp"
#include "cuda/gpu.hpp"
#include "model/error.hpp"
#include "model/trace_file.hpp"

namespace mprof {
namespace {

/// What is recorded. External correlations come only with both kinds of API calls.
constexpr CUpti_ActivityKind recorded_kinds[] = {
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
    CUPTI_ACTIVITY_KIND_MEMCPY,
    CUPTI_ACTIVITY_KIND_MEMCPY2,
    CUPTI_ACTIVITY_KIND_MEMSET,
    CUPTI_ACTIVITY_KIND_RUNTIME,
    CUPTI_ACTIVITY_KIND_DRIVER,
    CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
    CUPTI_ACTIVITY_KIND_MARKER,
    CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
    CUPTI_ACTIVITY_KIND_OVERHEAD,
};

/// CUPTI's functions, by their names in its headers.
struct Cupti {
  explicit Cupti(const cuda::SharedLibrary& library) {
    library.import(enable_domain, "cuptiEnableDomain");
    library.import(set_thread_id_type, "cuptiSetThreadIdType");
    library.import(register_callbacks, "cuptiActivityRegisterCallbacks");
    library.import(enable, "cuptiActivityEnable");
    library.import(flush_all, "cuptiActivityFlushAll");
    library.import(next_record, "cuptiActivityGetNextRecord");
    library.import(dropped_records, "cuptiActivityGetNumDroppedRecords");
    library.import(timestamp, "cuptiGetTimestamp");
    library.import(push_external, "cuptiActivityPushExternalCorrelationId");
    library.import(pop_external, "cuptiActivityPopExternalCorrelationId");
    library.import(callback_name, "cuptiGetCallbackName");
  }

  decltype(::cuptiEnableDomain)* enable_domain = nullptr;
  decltype(::cuptiSetThreadIdType)* set_thread_id_type = nullptr;
  decltype(::cuptiActivityRegisterCallbacks)* register_callbacks = nullptr;
  decltype(::cuptiActivityEnable)* enable = nullptr;
  decltype(::cuptiActivityFlushAll)* flush_all = nullptr;
  decltype(::cuptiActivityGetNextRecord)* next_record = nullptr;
  decltype(::cuptiActivityGetNumDroppedRecords)* dropped_records = nullptr;
  decltype(::cuptiGetTimestamp)* timestamp = nullptr;
  decltype(::cuptiActivityPushExternalCorrelationId)* push_external = nullptr;
  decltype(::cuptiActivityPopExternalCorrelationId)* pop_external = nullptr;
  decltype(::cuptiGetCallbackName)* callback_name = nullptr;
};

/// The buffers that CUPTI writes records to: some made in advance, so that an application thread rarely waits
/// for one to be allocated, and an end to how many there may be.
class BufferPool {
 public:
  static constexpr std::size_t buffer_size = std::size_t{4} << 20;  // CUPTI advises 1 to 10 MB

  BufferPool() {
    constexpr int in_advance = 8;  // CUPTI has one in use for each thread
    free_.reserve(most);           // so that giving one back allocates nothing
    for (int i = 0; i < in_advance; ++i) give_back(allocate());
  }

  /// nullptr when there is no memory or there are too many in use: CUPTI then counts what it drops.
  std::uint8_t* take() noexcept {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return allocate();
    std::uint8_t* const buffer = free_.back();
    free_.pop_back();
    return buffer;
  }

  void give_back(std::uint8_t* buffer) noexcept {
    const std::lock_guard lock(mutex_);
    if (buffer != nullptr) free_.push_back(buffer);
  }

 private:
  static constexpr std::size_t most = 128;  // 512 MiB

  /// Aligned to more than the 8 bytes that CUPTI wants.
  std::uint8_t* allocate() noexcept {
    if (allocated_ == most) return nullptr;
    auto* const buffer = new (std::nothrow) std::uint8_t[buffer_size];
    if (buffer != nullptr) ++allocated_;
    return buffer;
  }

  std::mutex mutex_;
  std::vector<std::uint8_t*> free_;
  std::size_t allocated_ = 0;
};

/// CUPTI, recording from before there is a CUDA context until the process ends, as what it instruments is
/// then instrumented once. One recording a process for another reason, too: from the second on, CUPTI 13.0
/// gives graph launches wrong correlation ids. What belongs to a case is cut out by flushing before and
/// after.
class Recorder {
 public:
  /// Starts to record at the first call. Throws Error(environment) when CUPTI cannot; the process then stays
  /// as it is. Never destroyed: CUPTI may call back while the process ends.
  static Recorder& instance() {
    static Recorder* const recorder = [] {
      active = new Recorder;
      active->start();
      return active;
    }();
    return *recorder;
  }

  /// ns since the epoch, by the clock of the records.
  [[nodiscard]] std::int64_t now() const {
    std::uint64_t time = 0;
    cuda::check(cupti_.timestamp(&time));
    return static_cast<std::int64_t>(time);
  }

  /// From now on, what the calling thread asks of CUDA belongs to `id`; until popped.
  void push(std::uint64_t id) const {
    cuda::check(cupti_.push_external(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, id));
  }
  void pop() const noexcept {
    std::uint64_t last = 0;
    cupti_.pop_external(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last);  // fails only when nothing is pushed
  }

  /// Forgets all that was recorded so far. The device must be idle.
  void forget() {
    flush();
    const std::lock_guard lock(mutex_);
    records_.clear();
    dropped_ = 0;
  }

  /// What was recorded since forget(), of `window`. The device must be idle.
  trace::Trace take(trace::Interval window) {
    flush();
    CuptiRecords records;
    std::uint64_t dropped = 0;
    {
      const std::lock_guard lock(mutex_);
      if (is_broken_) {
        throw Error(
            ExitCode::environment,
            fmt::format("CUPTI stopped tracing in this process: {}. Run the case alone.", why_broken_));
      }
      std::swap(records, records_);
      dropped = std::exchange(dropped_, 0);
    }
    trace::Trace trace =
        records.take(window, [this](trace::Api api, std::uint32_t id) { return api_name(api, id); });
    trace.counts.dropped += dropped;
    return trace;
  }

 private:
  void start() {
    CUpti_SubscriberHandle const subscriber = cuda::subscribe(on_callback, nullptr);
    // NVTX asks this when it is first called, which must be after CUPTI was subscribed to. Whoever set it
    // already wants the ranges more.
    ::setenv("NVTX_INJECTION64_PATH", cuda::cupti_library().path().c_str(), 0);
    cuda::check(cupti_.enable_domain(1, subscriber, CUPTI_CB_DOMAIN_STATE));
    cuda::check(cupti_.set_thread_id_type(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));
    cuda::check(cupti_.register_callbacks(on_buffer_requested, on_buffer_completed));
    for (const CUpti_ActivityKind kind : recorded_kinds) cuda::check(cupti_.enable(kind));
  }

  /// Has CUPTI hand over all buffers, those with incomplete records as well.
  void flush() {
    cuda::check(cupti_.flush_all(0));
    cuda::check(cupti_.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
    count_dropped();
  }

  /// CUPTI tells how many there were since it was last asked.
  void count_dropped() noexcept {
    std::size_t dropped = 0;
    cupti_.dropped_records(nullptr, 0, &dropped);
    const std::lock_guard lock(mutex_);
    dropped_ += dropped;
  }

  [[nodiscard]] std::string api_name(trace::Api api, std::uint32_t id) const {
    const auto domain = api == trace::Api::runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API;
    const char* name = nullptr;
    if (cupti_.callback_name(domain, id, &name) == CUPTI_SUCCESS && name != nullptr) return name;
    return fmt::format("{} call {}", api == trace::Api::runtime ? "runtime" : "driver", id);
  }

  void read(std::uint8_t* buffer, std::size_t valid_size) noexcept {
    CUpti_Activity* record = nullptr;
    CUptiResult result = CUPTI_SUCCESS;
    while ((result = cupti_.next_record(buffer, valid_size, &record)) == CUPTI_SUCCESS) add(*record);
    if (result != CUPTI_ERROR_MAX_LIMIT_REACHED) {
      // A record that was never completed, which hides what follows.
      const std::lock_guard lock(mutex_);
      ++dropped_;
    }
    count_dropped();
    buffers_.give_back(buffer);
  }

  void add(CUpti_Activity& record) noexcept {
    const std::lock_guard lock(mutex_);
    try {
      records_.add(record);
    } catch (const std::exception&) {  // no memory
      ++dropped_;
    }
  }

  void stop(const CUpti_StateData& state) noexcept {
    const std::lock_guard lock(mutex_);
    is_broken_ = true;
    try {
      why_broken_ = state.notification.message != nullptr ? state.notification.message : "it did not say why";
    } catch (const std::exception&) {
      why_broken_.clear();  // no memory for the reason; that it is broken is known
    }
  }

  // --- called by CUPTI, on any thread ---

  static void CUPTIAPI on_callback(void* /*user*/, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                   const void* data) {
    if (domain == CUPTI_CB_DOMAIN_STATE && id == CUPTI_CBID_STATE_FATAL_ERROR) {
      active->stop(*static_cast<const CUpti_StateData*>(data));
    }
  }

  static void CUPTIAPI on_buffer_requested(std::uint8_t** buffer, std::size_t* size,
                                           std::size_t* most_records) {
    *buffer = active->buffers_.take();
    *size = *buffer != nullptr ? BufferPool::buffer_size : 0;
    *most_records = 0;  // as many as fit
  }

  static void CUPTIAPI on_buffer_completed(CUcontext /*context*/, std::uint32_t /*stream*/,
                                           std::uint8_t* buffer, std::size_t /*size*/,
                                           std::size_t valid_size) {
    if (buffer != nullptr) active->read(buffer, valid_size);
  }

  /// The one that the callbacks work for: they come while instance() still makes it.
  static inline Recorder* active = nullptr;

  Cupti cupti_{cuda::cupti_library()};
  BufferPool buffers_;
  /// Of what follows. Never held in a call of CUPTI: that takes a lock of its own, under which it may be
  /// calling back here.
  std::mutex mutex_;
  CuptiRecords records_;
  std::uint64_t dropped_ = 0;
  bool is_broken_ = false;
  std::string why_broken_;
};

/// Asked for every case, tried once. Recording starts here, before the first case has a CUDA context.
std::optional<std::string> unavailable() {
  static const std::optional<std::string> reason = []() -> std::optional<std::string> {
    if (auto missing = cuda::cupti_unavailable()) return missing;
    try {
      Recorder::instance();
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
  explicit Ranges(Recorder& recorder)
      : recorder_(recorder), thread_(static_cast<std::uint32_t>(::gettid())) {}
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
    open_.push_back(
        {{.name = name, .domain = trace::own_domain, .thread = thread_, .end_thread = thread_, .id = id},
         place});
    open_.back().range.time.start = recorder_.now();  // last: what stands above is in no stage's time
  }

  void pop() {
    open_.back().range.time.end = recorder_.now();
    leave();
    closed_.push_back(std::move(open_.back()));
    open_.pop_back();
  }

  /// The closed ranges, by start, become the trace's.
  void move_to(trace::Trace& trace) {
    for (Placed& placed : closed_) {
      placed.range.place = trace.index_of(placed.place);
      trace.ranges.push_back(std::move(placed.range));
    }
    closed_.clear();
    std::ranges::stable_sort(trace.ranges, {}, [](const trace::Range& range) { return range.time.start; });
  }

 private:
  struct Placed {
    trace::Range range;
    trace::Place place;
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

  Recorder& recorder_;
  std::uint32_t thread_;
  std::vector<Placed> open_;
  std::vector<Placed> closed_;
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

/// The trace of one execution: ranges mprof / CASE / layer1 / op, records, metrics, trace.sqlite.
class TraceCollector final : public Collector {
 public:
  explicit TraceCollector(const CaseContext& context)
      : subject_(context.subject),
        device_(context.device),
        file_(context.trace_file),
        recorder_(Recorder::instance()),
        ranges_(recorder_) {}

  void begin_sample() override {
    device_.synchronize();
    recorder_.forget();
    window_.start = recorder_.now();
    ranges_.push(subject_.id, {"", trace::part::between});
  }

  void end_sample() override {
    leave_op();
    device_.synchronize();
    ranges_.pop();
    window_.end = recorder_.now();
    trace_ = recorder_.take(window_);
    trace_.case_id = subject_.id;
    trace_.process = static_cast<std::uint32_t>(::getpid());
    ranges_.move_to(trace_);
    trace::attribute(trace_);
  }

  void begin_stage(std::string_view op, Stage stage) override {
    if (op != op_) {
      leave_op();
      op_ = op;
      ranges_.push(op_, {op_, trace::part::between});
    }
    ranges_.push(part_of(stage), {op_, part_of(stage)});
  }

  void end_stage(std::string_view /*op*/, Stage stage) override {
    ranges_.pop();
    if (stage == Stage::finish) leave_op();
  }

  void pause() override { ranges_.push(trace::part::pause, {"", trace::part::pause}); }
  void resume() override { ranges_.pop(); }

  void finish(std::vector<Measurement>& measurements) override {
    std::vector<Measurement> rows = trace::measure(trace_, subject_.ops);
    rows.push_back(trace::trace_overhead(subject_, rows));
    for (Measurement& row : rows) measurements.push_back(std::move(row));
    if (file_.empty()) return;
    trace_.gpus = {gpu_facts()};
    trace::write_trace(file_, trace_);
  }

 private:
  void leave_op() {
    if (op_.empty()) return;
    op_.clear();
    ranges_.pop();
  }

  const Case& subject_;
  const Device& device_;
  std::string file_;
  Recorder& recorder_;
  Ranges ranges_;
  std::string op_;  ///< whose range is open; "" when none is
  trace::Interval window_;
  trace::Trace trace_;
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
