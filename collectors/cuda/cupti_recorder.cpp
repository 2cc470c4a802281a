// SPDX-License-Identifier: MIT
#include "collectors/cuda/cupti_recorder.hpp"

#include <cstdlib>
#include <exception>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "cuda/cupti.hpp"
#include "system/error.hpp"

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
    CUPTI_ACTIVITY_KIND_MEMORY2,
    CUPTI_ACTIVITY_KIND_CONTEXT,
};

/// CUPTI's functions, by their names in its headers.
struct Functions {
  Functions() {
    const cuda::SharedLibrary& library = cuda::cupti_library();
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

const Functions& cupti() {
  static const Functions functions;
  return functions;
}

std::string api_name(trace::Api api, std::uint32_t id) {
  const auto domain = api == trace::Api::runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API;
  const char* name = nullptr;
  if (cupti().callback_name(domain, id, &name) == CUPTI_SUCCESS && name != nullptr) return name;
  return fmt::format("{} call {}", api == trace::Api::runtime ? "runtime" : "driver", id);
}

constexpr std::size_t most_buffers = 128;  // 512 MiB

}  // namespace

BufferPool::BufferPool() {
  constexpr int in_advance = 8;  // CUPTI has one in use for each thread
  free_.reserve(most_buffers);   // so that giving one back allocates nothing
  for (int i = 0; i < in_advance; ++i) give_back(allocate());
}

std::uint8_t* BufferPool::take() noexcept {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) return allocate();
  std::uint8_t* const buffer = free_.back();
  free_.pop_back();
  return buffer;
}

void BufferPool::give_back(std::uint8_t* buffer) noexcept {
  const std::lock_guard lock(mutex_);
  if (buffer != nullptr) free_.push_back(buffer);
}

/// Aligned to more than the 8 bytes that CUPTI wants.
std::uint8_t* BufferPool::allocate() noexcept {
  if (allocated_ == most_buffers) return nullptr;
  auto* const buffer = new (std::nothrow) std::uint8_t[buffer_size];
  if (buffer != nullptr) ++allocated_;
  return buffer;
}

CuptiRecorder& CuptiRecorder::instance() {
  static CuptiRecorder* const recorder = [] {
    active = new CuptiRecorder;
    active->start();
    return active;
  }();
  return *recorder;
}

std::int64_t CuptiRecorder::now() const {
  std::uint64_t time = 0;
  cuda::check(cupti().timestamp(&time));
  return static_cast<std::int64_t>(time);
}

void CuptiRecorder::push(std::uint64_t id) const {
  cuda::check(cupti().push_external(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, id));
}

void CuptiRecorder::pop() const noexcept {
  std::uint64_t last = 0;
  cupti().pop_external(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last);  // fails only when nothing is pushed
}

void CuptiRecorder::forget() {
  flush();
  const std::lock_guard lock(mutex_);
  records_.clear();
  dropped_ = 0;
}

trace::Recording CuptiRecorder::take(trace::Interval window) {
  flush();
  CuptiRecords records(process_);
  std::uint64_t dropped = 0;
  {
    const std::lock_guard lock(mutex_);
    if (is_broken_) {
      throw Error(ExitCode::environment,
                  fmt::format("CUPTI stopped tracing in this process: {}. Run the case alone.", why_broken_));
    }
    records = std::exchange(records_, records_.successor());
    dropped = std::exchange(dropped_, 0);
  }
  trace::Recording recording = records.take(window, api_name);
  recording.trace.cases[0].counts.dropped += dropped;
  return recording;
}

void CuptiRecorder::start() {
  const Functions& functions = cupti();  // first, so that nothing is changed where one of them is missing
  const CUpti_SubscriberHandle subscriber = cuda::subscribe(on_callback, nullptr);
  // NVTX asks this when it is first called, which must be after CUPTI was subscribed to. Whoever set it
  // already wants the ranges more.
  ::setenv("NVTX_INJECTION64_PATH", cuda::cupti_library().path().c_str(), 0);
  cuda::check(functions.enable_domain(1, subscriber, CUPTI_CB_DOMAIN_STATE));
  cuda::check(functions.set_thread_id_type(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));
  cuda::check(functions.register_callbacks(on_buffer_requested, on_buffer_completed));
  for (const CUpti_ActivityKind kind : recorded_kinds) cuda::check(functions.enable(kind));
}

/// Has CUPTI hand over all buffers, those with incomplete records as well.
void CuptiRecorder::flush() {
  cuda::check(cupti().flush_all(0));
  cuda::check(cupti().flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
  count_dropped();
}

/// CUPTI tells how many there were since it was last asked.
void CuptiRecorder::count_dropped() noexcept {
  std::size_t dropped = 0;
  cupti().dropped_records(nullptr, 0, &dropped);
  const std::lock_guard lock(mutex_);
  dropped_ += dropped;
}

void CuptiRecorder::read(std::uint8_t* buffer, std::size_t valid_size) noexcept {
  CUpti_Activity* record = nullptr;
  CUptiResult result = CUPTI_SUCCESS;
  while ((result = cupti().next_record(buffer, valid_size, &record)) == CUPTI_SUCCESS) add(*record);
  if (result != CUPTI_ERROR_MAX_LIMIT_REACHED) {
    // A record that was never completed, which hides what follows.
    const std::lock_guard lock(mutex_);
    ++dropped_;
  }
  count_dropped();
  buffers_.give_back(buffer);
}

void CuptiRecorder::add(CUpti_Activity& record) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    records_.add(record);
  } catch (const std::exception&) {  // no memory
    ++dropped_;
  }
}

void CuptiRecorder::stop(const CUpti_StateData& state) noexcept {
  const std::lock_guard lock(mutex_);
  is_broken_ = true;
  try {
    why_broken_ = state.notification.message != nullptr ? state.notification.message : "it did not say why";
  } catch (const std::exception&) {
    why_broken_.clear();  // no memory for the reason; that it is broken is known
  }
}

void CUPTIAPI CuptiRecorder::on_callback(void* /*user*/, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                         const void* data) {
  if (domain == CUPTI_CB_DOMAIN_STATE && id == CUPTI_CBID_STATE_FATAL_ERROR) {
    active->stop(*static_cast<const CUpti_StateData*>(data));
  }
}

void CUPTIAPI CuptiRecorder::on_buffer_requested(std::uint8_t** buffer, std::size_t* size,
                                                 std::size_t* most_records) {
  *buffer = active->buffers_.take();
  *size = *buffer != nullptr ? BufferPool::buffer_size : 0;
  *most_records = 0;  // as many as fit
}

void CUPTIAPI CuptiRecorder::on_buffer_completed(CUcontext /*context*/, std::uint32_t /*stream*/,
                                                 std::uint8_t* buffer, std::size_t /*size*/,
                                                 std::size_t valid_size) {
  if (buffer != nullptr) active->read(buffer, valid_size);
}

}  // namespace mprof
