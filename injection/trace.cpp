// SPDX-License-Identifier: MIT
// The library that the driver loads into each process of a program in its trace pass (CUDA_INJECTION64_PATH),
// and NVTX before that where the program calls it first (NVTX_INJECTION64_PATH). It has CUPTI record what the
// process asks of CUDA, and writes that to a journal. It never prints, throws or ends the process: what it
// cannot do it notes.
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cupti.h>
#include <dlfcn.h>
#include <generated_nvtx_meta.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "injection/abrupt_end.hpp"
#include "injection/call_stacks.hpp"
#include "injection/cupti_functions.hpp"
#include "injection/device_launches.hpp"
#include "injection/graph_nodes.hpp"
#include "injection/journal_writer.hpp"
#include "injection/launch_calls.hpp"
#include "injection/launch_log.hpp"
#include "injection/nvtx_callbacks.hpp"
#include "injection/nvtx_payloads.hpp"
#include "injection/records.hpp"
#include "injection/window_gate.hpp"

namespace mprof::injection {
namespace {

constexpr std::size_t buffer_size = std::size_t{4} << 20;  // CUPTI advises 1 to 10 MB
constexpr std::size_t most_buffers = 128;                  // 512 MiB
constexpr std::uint32_t first_to_bear_none = 27;           // CUPTI 12.9
constexpr std::chrono::milliseconds flush_period{200};     // so much of the end a kill may cost
constexpr unsigned longest_hurry = 2'000'000;              // us, of a process that ends at once
constexpr std::size_t api_calls = 4096;                    // of an API; there are fewer

/// As of collectors/cuda/, but for external correlations: the program's ranges have none.
constexpr CUpti_ActivityKind recorded_kinds[] = {
    CUPTI_ACTIVITY_KIND_DEVICE,          CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
    CUPTI_ACTIVITY_KIND_MEMCPY,          CUPTI_ACTIVITY_KIND_MEMCPY2,
    CUPTI_ACTIVITY_KIND_MEMSET,          CUPTI_ACTIVITY_KIND_RUNTIME,
    CUPTI_ACTIVITY_KIND_DRIVER,          CUPTI_ACTIVITY_KIND_MARKER,
    CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_OVERHEAD,
    CUPTI_ACTIVITY_KIND_MEMORY2,         CUPTI_ACTIVITY_KIND_CONTEXT};

bool wants_stacks() {
  const char* const told = std::getenv(journal::stacks_variable);
  return told == nullptr || std::string_view(told) != "0";
}

/// The recording of this process. Never destroyed: CUPTI calls back while the process ends.
class Recorder {
 public:
  explicit Recorder(const char* folder) : journal_(folder, CUPTI_API_VERSION) {}

  void start() {
    if (!cupti_.obstacle.empty()) return journal_.note(cupti_.obstacle);
    if (const std::string obstacle = cupti_.subscribe(subscriber_, on_callback); !obstacle.empty())
      return journal_.note(obstacle);
    is_recording_ = true;
    note_library();
    // CUPTI before 12 has no such domain, and reports no errors.
    const CUptiResult watched = cupti_.enable_domain(1, subscriber_, CUPTI_CB_DOMAIN_STATE);
    if (cupti_.number() >= CUPTI_API_VERSION) try_to(watched, "watch for errors of CUPTI");
    // What a device still holds is lost when it is reset.
    enable(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaDeviceReset_v3020);
    enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
    enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED);
    launches_.watch(subscriber_);
    enable(CUPTI_CB_DOMAIN_NVTX, CUPTI_CBID_NVTX_nvtxDomainRangePushEx);
    enable(CUPTI_CB_DOMAIN_NVTX, CUPTI_CBID_NVTX_nvtxDomainRangeStartEx);
    nodes_.watch(subscriber_);
    watch_window();
    keep_on_host();
    try_to(cupti_.set_thread_id_type(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM), "have threads' ids");
    try_to(cupti_.register_callbacks(on_buffer_requested, on_buffer_completed), "have records");
    for (const CUpti_ActivityKind kind : recorded_kinds) try_to(cupti_.enable(kind), "record an activity");
    std::atexit([] { recorder->finish(); });
    auto* const before_abrupt_end =
        reinterpret_cast<BeforeAbruptEnd*>(::dlsym(RTLD_DEFAULT, before_abrupt_end_symbol));
    if (before_abrupt_end != nullptr) before_abrupt_end([] { recorder->keep_all(); });
    write_beginning();
    write_until(now());
    start_flushing();
  }

  /// The driver is starting.
  void cuda_begins(std::int64_t time) {
    if (beginning_.cuda != 0) return;
    beginning_.cuda = time;
    write_beginning();
  }

  /// 1 when CUPTI has taken the NVTX calls.
  int take_nvtx(void* get_export_table) {
    return is_recording_ ? cupti_.initialize_nvtx(get_export_table) : 0;
  }

  /// 1 when it has taken the functions of an extension of NVTX.
  int take_nvtx_extension(const nvtxExtModuleInfo_t* module) {
    return is_recording_ && payloads_.take_functions(module) ? 1 : 0;
  }

  static inline Recorder* recorder = nullptr;

 private:
  void enable(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
    cupti_.enable_callback(1, subscriber_, domain, id);
  }

  void watch_window() {
    if (gate_.needs_ranges())
      try_to(cupti_.enable_domain(1, subscriber_, CUPTI_CB_DOMAIN_NVTX), "watch NVTX");
    if (!gate_.needs_profiler_calls()) return;
    for (const auto call : profiler_calls) enable(CUPTI_CB_DOMAIN_RUNTIME_API, call);
    for (const auto call : profiler_driver_calls) enable(CUPTI_CB_DOMAIN_DRIVER_API, call);
  }

  /// Times that lie on a GPU are lost when a kernel faults: CUPTI keeps them in the host's memory. Where it
  /// cannot, it says so by an error that changes nothing.
  void keep_on_host() {
    std::uint8_t yes = 1;
    std::size_t size = sizeof yes;
    cupti_.set_attribute(CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED, &size, &yes);
  }

  /// Where it is another CUPTI than the one that mprof is used to.
  void note_library() {
    if (cupti_.number() / 100 != CUPTI_API_VERSION / 100)
      journal_.note("Recorded by CUPTI " + cupti_version_text(cupti_.number()) + ", which the program has (" +
                    cupti_.library().path + ").");
    for (const std::string& other : cupti_.library().others)
      journal_.note("The program has loaded a second CUPTI, " + other +
                    ": what is recorded is what the first one sees.");
  }

  void write_beginning() {
    Chunk chunk;
    chunk.add_value(journal::Kind::begin, beginning_);
    journal_.write(chunk);
  }

  void try_to(CUptiResult result, const char* what) {
    if (result != CUPTI_SUCCESS) journal_.note(cupti_.described(what, result) + ".");
  }

  /// All that has ended is in the journal now.
  void flush(std::uint32_t how) {
    const std::int64_t time = now();
    cupti_.flush_all(how);
    payloads_.flush();
    nodes_.write();
    stacks_.write();
    std::size_t dropped = 0;
    if (cupti_.dropped_records(nullptr, 0, &dropped) == CUPTI_SUCCESS && dropped > 0) {
      Chunk chunk;
      chunk.add_value(journal::Kind::dropped, std::uint64_t{dropped});
      journal_.write(chunk);
    }
    write_until(time);
  }

  void write_until(std::int64_t time) {
    Chunk chunk;
    chunk.add_value(journal::Kind::until, time);
    journal_.write(chunk);
  }

  /// Before the process ends at once. Whoever ends it may hold locks that CUPTI needs, so the thread that
  /// flushes does it, for which it is waited a while.
  void keep_all() {
    if (journal_.is_of_another_process() || is_ending_) return;
    {
      // In a handler of a signal this thread may have the lock; the other one then wakes up by itself.
      const std::unique_lock lock(waking_, std::try_to_lock);
      is_hurried_ = true;
    }
    wake_.notify_all();
    constexpr unsigned glance = 1000;  // us
    for (unsigned waited = 0; waited < longest_hurry && is_hurried_; waited += glance) ::usleep(glance);
  }

  void finish() {
    if (journal_.is_of_another_process()) return;
    const std::lock_guard lock(flushing_);  // CUPTI may be gone soon: nobody calls it any more
    is_ending_ = true;
    flush(0);
    flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    Chunk chunk;
    chunk.add(journal::Kind::end, {});
    journal_.write(chunk);
  }

  void flush_later() {
    std::unique_lock waking(waking_);
    wake_.wait_for(waking, flush_period, [&] { return is_hurried_.load(); });
    waking.unlock();
    const std::lock_guard lock(flushing_);
    if (is_ending_) return;
    flush(0);
    if (!is_hurried_) return;
    flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    is_hurried_ = false;
  }

  /// On a thread that takes none of the program's signals.
  void start_flushing() {
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread{};
    const auto body = [](void* /*nothing*/) -> void* {
      while (!recorder->is_ending_) recorder->flush_later();
      return nullptr;
    };
    if (::pthread_create(&thread, nullptr, body, nullptr) == 0) ::pthread_detach(thread);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void read(std::uint8_t* buffer, std::size_t valid_size) {
    Chunk chunk;
    std::uint64_t unread = 0;
    const bool is_whole = for_each_record(cupti_.next_record, buffer, valid_size,
                                          [&](CUpti_Activity& record, std::size_t size) {
                                            name_call(record, chunk);
                                            if (!is_kept(record, gate_)) return;
                                            if (!add_record(record, size, journal_, chunk)) ++unread;
                                          });
    if (!is_whole) ++unread;  // a record that was never completed, which hides what follows
    if (unread > 0) chunk.add_value(journal::Kind::dropped, unread);
    chunk.add_value(journal::Kind::until, now());
    journal_.write(chunk);
  }

  /// The name of a call that is seen for the first time. Asked for here, where no lock is held.
  void name_call(const CUpti_Activity& record, Chunk& chunk) {
    const bool is_driver = record.kind == CUPTI_ACTIVITY_KIND_DRIVER;
    if (!is_driver && record.kind != CUPTI_ACTIVITY_KIND_RUNTIME) return;
    const std::uint32_t id = reinterpret_cast<const CUpti_ActivityAPI&>(record).cbid;
    if (id >= api_calls || named_[is_driver ? 1 : 0][id].exchange(true)) return;
    const char* name = nullptr;
    cupti_.callback_name(is_driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API, id, &name);
    if (name != nullptr) chunk.add_value(journal::Kind::call, journal::Call{is_driver ? 1U : 0U, id}, name);
  }

  std::uint8_t* take_buffer() {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      std::uint8_t* const buffer = free_.back();
      free_.pop_back();
      return buffer;
    }
    // Older versions do not bear it to be given none.
    if (buffers_ == most_buffers && cupti_.number() >= first_to_bear_none) return nullptr;
    auto* const buffer = new (std::nothrow) std::uint8_t[buffer_size];
    if (buffer != nullptr) ++buffers_;
    return buffer;
  }

  void give_back(std::uint8_t* buffer) {
    const std::lock_guard lock(mutex_);
    free_.push_back(buffer);
  }

  void see(CUpti_CallbackId id, const CUpti_ResourceData& resource) {
    if (nodes_.take(id, resource)) return;
    if (id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED && !has_context_.exchange(true)) {
      beginning_.context = now();
      write_beginning();
    } else if (id == CUPTI_CBID_RESOURCE_MODULE_LOADED && resource.resourceDescriptor != nullptr) {
      const auto& module = *static_cast<const CUpti_ModuleResourceData*>(resource.resourceDescriptor);
      if (launches_from_device(module.pCubin, module.cubinSize) && !has_noted_children_.exchange(true))
        journal_.note(
            "A module of the program has kernels that launch kernels. CUPTI records the parents; their "
            "children are not in the trace.");
    }
  }

  void see_range(CUpti_CallbackId id, const CUpti_NvtxData& call) {
    if (gate_.needs_ranges()) take_nvtx_callback(id, call, gate_);
    if (call.functionParams == nullptr) return;
    const auto begins = [&](const auto& range) { payloads_.begins(range.domain, range.core.eventAttrib); };
    if (id == CUPTI_CBID_NVTX_nvtxDomainRangePushEx)
      begins(*static_cast<const nvtxDomainRangePushEx_params*>(call.functionParams));
    if (id == CUPTI_CBID_NVTX_nvtxDomainRangeStartEx)
      begins(*static_cast<const nvtxDomainRangeStartEx_params*>(call.functionParams));
  }

  // --- called by CUPTI, on any thread ---

  static void CUPTIAPI on_callback(void* /*user*/, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                   const void* data) {
    if (domain == CUPTI_CB_DOMAIN_STATE && id == CUPTI_CBID_STATE_FATAL_ERROR) {
      const auto* const message = static_cast<const CUpti_StateData*>(data)->notification.message;
      recorder->journal_.note(std::string("CUPTI stopped recording: ") +
                              (message != nullptr ? message : "it does not say why") + ".");
    } else if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
      recorder->see(id, *static_cast<const CUpti_ResourceData*>(data));
    } else if (domain == CUPTI_CB_DOMAIN_NVTX) {
      recorder->see_range(id, *static_cast<const CUpti_NvtxData*>(data));
    } else if (domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API) {
      const auto& call = *static_cast<const CUpti_CallbackData*>(data);
      if (recorder->launches_.take(domain, id, call)) return;
      if (take_profiler_call(domain, id, call, recorder->gate_)) return;
      if (call.callbackSite == CUPTI_API_ENTER) recorder->flush(0);  // before a reset
    }
  }

  static void CUPTIAPI on_buffer_requested(std::uint8_t** buffer, std::size_t* size,
                                           std::size_t* most_records) {
    *buffer = recorder->take_buffer();
    *size = *buffer != nullptr ? buffer_size : 0;
    *most_records = 0;  // as many as fit
  }

  static void CUPTIAPI on_buffer_completed(CUcontext /*context*/, std::uint32_t /*stream*/,
                                           std::uint8_t* buffer, std::size_t /*size*/,
                                           std::size_t valid_size) {
    if (buffer == nullptr) return;
    recorder->read(buffer, valid_size);
    recorder->give_back(buffer);
  }

  JournalWriter journal_;
  CuptiFunctions cupti_{CuptiFunctions::Use::records};
  CallStacks stacks_{journal_};
  LaunchLog launches_{journal_, cupti_, wants_stacks() ? &stacks_ : nullptr};
  NvtxPayloads payloads_{journal_};
  GraphNodes nodes_{journal_, cupti_};
  WindowGate gate_{journal_};
  journal::Beginning beginning_{};
  std::atomic<bool> has_context_ = false;
  std::atomic<bool> has_noted_children_ = false;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  std::atomic<bool> is_recording_ = false;
  std::mutex flushing_;  ///< held by the thread that flushes, and at the end
  std::atomic<bool> is_ending_ = false;
  std::mutex waking_;  ///< of is_hurried_, where it becomes true
  std::condition_variable wake_;
  std::atomic<bool> is_hurried_ = false;  ///< the process ends once all is in the journal
  std::array<std::array<std::atomic<bool>, api_calls>, 2> named_{};
  std::mutex mutex_;  ///< of what follows
  std::vector<std::uint8_t*> free_{};
  std::size_t buffers_ = 0;
};

/// Held while it starts. The driver calls within that, on the same thread, where NVTX came first.
std::recursive_mutex starting;

/// Starts it, once. nullptr where mprof did not start the program.
Recorder* started() {
  static bool has_begun = false;
  if (std::exchange(has_begun, true)) return Recorder::recorder;
  const char* const folder = std::getenv(journal::folder_variable);
  if (folder == nullptr) return nullptr;
  Recorder::recorder = new (std::nothrow) Recorder(folder);
  if (Recorder::recorder != nullptr) Recorder::recorder->start();
  return Recorder::recorder;
}

}  // namespace
}  // namespace mprof::injection

#define MPROF_EXPORTED extern "C" __attribute__((visibility("default")))

/// The driver's, in cuInit. Never waits, since the driver holds a lock here that starting may need.
// NOLINTNEXTLINE(readability-identifier-naming): the driver's name
MPROF_EXPORTED int InitializeInjection() {
  const std::int64_t time = mprof::injection::now();
  const std::unique_lock lock(mprof::injection::starting, std::try_to_lock);
  auto* const recorder = lock.owns_lock() ? mprof::injection::started() : nullptr;
  if (recorder != nullptr) recorder->cuda_begins(time);
  return 1;
}

/// NVTX's, in the first call of each module that has it: 0 turns NVTX off there.
// NOLINTNEXTLINE(readability-identifier-naming): NVTX's name
MPROF_EXPORTED int InitializeInjectionNvtx2(void* get_export_table) {
  const std::lock_guard lock(mprof::injection::starting);
  auto* const recorder = mprof::injection::started();
  return recorder != nullptr ? recorder->take_nvtx(get_export_table) : 0;
}

/// NVTX's, in the first call of an extension's function in each module that has it.
// NOLINTNEXTLINE(readability-identifier-naming): NVTX's name
MPROF_EXPORTED int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  const std::lock_guard lock(mprof::injection::starting);
  auto* const recorder = mprof::injection::started();
  return recorder != nullptr ? recorder->take_nvtx_extension(module) : 0;
}
