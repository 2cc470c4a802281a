// SPDX-License-Identifier: MIT
// The library that the driver loads into each process of a program in its counters pass
// (CUDA_INJECTION64_PATH), and NVTX before that (NVTX_INJECTION64_PATH). It has CUPTI count launches of
// kernels, one launch of each for a pass of the metrics, and writes what was counted to a journal: no launch
// is run twice, and no memory saved. It never prints, throws or ends the process: what it cannot do it notes.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <cuda.h>
#include <cupti.h>
#include <cxxabi.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "injection/cupti_functions.hpp"
#include "injection/driver_functions.hpp"
#include "injection/entry.hpp"
#include "injection/journal_writer.hpp"
#include "injection/launch_calls.hpp"
#include "injection/nvtx_calls.hpp"
#include "injection/open_ranges.hpp"
#include "injection/range_profiler.hpp"
#include "injection/session_plan.hpp"
#include "injection/window_gate.hpp"
#include "model/trace/counter_request.hpp"
#include "model/trace/journal.hpp"

namespace mprof::injection {
namespace {

constexpr std::int64_t second = 1'000'000'000;      // ns
constexpr std::int64_t longest_wait = 5 * second;   // for the GPU to have done all that it was given
constexpr std::int64_t longest_stop = 15 * second;  // of a program by a launch that is counted
constexpr unsigned glance = 250'000;                // us, of the thread that watches
constexpr std::size_t most_launches = 64;           // of a pass: CUPTI keeps 1.8 MB for each
constexpr std::uint64_t launches_before = 2;  // of a kernel that is counted: one that comes time and again

std::optional<journal::CounterRequest> read_request(const std::string& folder) {
  std::ifstream file(folder + "/" + journal::counter_request_file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return journal::read_counter_request(bytes);
}

std::string demangled(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol, nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : symbol;
}

/// Which of the program's kernels a launch is of.
struct KernelKey {
  CUcontext context = nullptr;
  CUfunction function = nullptr;
  std::string op;
  std::array<std::uint32_t, 6> shape{};  ///< of grid and block
  [[nodiscard]] auto tied() const { return std::tie(context, function, op, shape); }
  bool operator<(const KernelKey& other) const { return tied() < other.tied(); }
};

struct CountedKernel {
  std::string symbol;
  bool is_chosen = false;  ///< by --kernels and --max-kernels, and for a replay
  std::size_t number = 0;  ///< in the plan
  journal::Launches launches{};
  bool has_changed = false;  ///< since its launches were written
};

/// A context whose kernels are counted.
struct Context {
  std::optional<RangeProfiler> profiler;
  CUevent event = nullptr;
  std::string obstacle;  ///< why nothing is counted there; empty: it is
};

/// The counting in this process. Never destroyed: CUPTI calls back while the process ends.
class Counter final : public NvtxObserver {
 public:
  Counter(std::string folder, journal::CounterRequest request)
      : folder_(std::move(folder)),
        request_(std::move(request)),
        journal_(folder_.c_str(), CUPTI_API_VERSION),
        ranges_(request_.ops, request_.ranges),
        plan_(most_in_pass(), request_.replays ? 0 : launches_before),
        left_out_(request_.left_out.begin(), request_.left_out.end()),
        wanted_(request_.wanted.begin(), request_.wanted.end()) {
    if (!request_.kernels.empty()) kernels_.emplace(request_.kernels, std::regex::optimize);
  }

  /// At the first call of CUDA.
  void start() {
    if (!cupti_.obstacle.empty()) return journal_.note(cupti_.obstacle);
    if (!driver_.has_all) return journal_.note("The driver is older than mprof's counting needs.");
    if (!subscribe()) return;
    for (const auto call : launch_calls) enable(call);
    for (const auto call : graph_calls) enable(call);
    for (const auto call : capture_begins) enable(call);
    for (const auto call : capture_ends) enable(call);
    if (gate_.needs_profiler_calls()) {
      for (const auto call : profiler_driver_calls) enable(call);
    }
    cupti_.enable_callback(1, subscriber_, CUPTI_CB_DOMAIN_RESOURCE,
                           CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
    std::atexit([] { counter->finish(); });
    start_watching();
  }

  void begins(const NvtxRange& range) override {
    ranges_.begins(static_cast<std::uint64_t>(::gettid()), range.id, range.domain == nullptr, range.text);
    gate_.range_begins(range.id, range.text);
  }
  void ends(const NvtxRange& range, bool /*is_of_thread*/) override {
    ranges_.ends(range.id);
    gate_.range_ends(range.id);
  }

  static inline Counter* counter = nullptr;

 private:
  bool subscribe() {
    const std::string obstacle = cupti_.subscribe(subscriber_, on_callback);
    if (!obstacle.empty()) journal_.note(obstacle);
    return obstacle.empty();
  }

  void enable(CUpti_driver_api_trace_cbid call) {
    cupti_.enable_callback(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API, call);
  }

  [[nodiscard]] std::size_t most_in_pass() const { return request_.replays ? 1 : most_launches; }

  // --- kernels ---

  CountedKernel& kernel_of(const CUpti_CallbackData& call, const Launch& launch) {
    const char* const symbol = call.symbolName != nullptr ? call.symbolName : "unknown kernel";
    KernelKey key{call.context, launch.function, ranges_.op_of(static_cast<std::uint64_t>(::gettid()))};
    std::copy(std::begin(launch.grid), std::end(launch.grid), key.shape.begin());
    std::copy(std::begin(launch.block), std::end(launch.block), key.shape.begin() + 3);
    const auto found = by_key_.find(key);
    // A module may be where another one was.
    if (found != by_key_.end() && found->second->symbol == symbol) return *found->second;
    CountedKernel& kernel = add_kernel(symbol, key, launch);
    by_key_[std::move(key)] = &kernel;
    return kernel;
  }

  CountedKernel& add_kernel(const char* symbol, const KernelKey& key, const Launch& launch) {
    CountedKernel& kernel = *all_.emplace_back(std::make_unique<CountedKernel>());
    kernel.symbol = symbol;
    kernel.launches.kernel = all_.size() - 1;
    Chunk chunk;
    journal::Kernel entry{.number = kernel.launches.kernel};
    entry.symbol = journal_.text(symbol, chunk);
    entry.op = key.op.empty() ? 0 : journal_.text(key.op.c_str(), chunk);
    std::copy(std::begin(launch.grid), std::end(launch.grid), std::begin(entry.grid));
    std::copy(std::begin(launch.block), std::end(launch.block), std::begin(entry.block));
    entry.dynamic_shared_memory = launch.dynamic_shared_memory;
    add_attributes(launch.function, entry);
    chunk.add_value(journal::Kind::kernel, entry);
    journal_.write(chunk);
    choose(kernel, key.context);
    return kernel;
  }

  void add_attributes(CUfunction function, journal::Kernel& entry) const {
    // What is launched is a CUfunction, or a CUkernel that goes by its type.
    const auto value = [&](CUfunction_attribute attribute) -> std::int32_t {
      int number = 0;
      if (driver_.function_attribute(&number, attribute, function) == CUDA_SUCCESS) return number;
      auto* const kernel = reinterpret_cast<CUkernel>(function);
      return driver_.kernel_attribute(&number, attribute, kernel, 0) == CUDA_SUCCESS ? number : -1;
    };
    entry.registers = value(CU_FUNC_ATTRIBUTE_NUM_REGS);
    entry.static_shared_memory = value(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    entry.max_dynamic_shared_memory = value(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    entry.max_threads_per_block = value(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    entry.shared_memory_carveout = value(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
  }

  /// Whether it is one of those that are counted.
  void choose(CountedKernel& kernel, CUcontext context) {
    const bool fits = !kernels_ || std::regex_search(demangled(kernel.symbol.c_str()), *kernels_);
    const bool is_asked = wanted_.empty() || wanted_.contains(kernel.symbol);
    const bool has_room = request_.max_kernels == 0 || chosen_ < request_.max_kernels;
    kernel.is_chosen = fits && is_asked && has_room;
    kernel.number = plan_.add_kernel(context, kernel.is_chosen);
    by_number_.push_back(&kernel);
    if (left_out_.contains(kernel.symbol)) {
      plan_.leave_out(kernel.number);
      say(kernel, "it does not end while it is counted: it waits for the host, or for a kernel beside it");
    } else if (!kernel.is_chosen) {
      say(kernel, "--kernels or --max-kernels leaves it out");
    } else if (request_.replays && journal::is_of_communication(kernel.symbol)) {
      plan_.leave_out(kernel.number);
      say(kernel, "it waits for kernels of other processes, so it cannot be replayed");
    } else {
      ++chosen_;
    }
  }

  void say(const CountedKernel& kernel, const std::string& reason) {
    Chunk chunk;
    const journal::Uncounted entry{kernel.launches.kernel, kernel.is_chosen ? 1U : 0U};
    chunk.add_value(journal::Kind::uncounted, entry, reason);
    journal_.write(chunk);
  }

  void leave_out(const CountedKernel& kernel, const std::string& reason) {
    plan_.leave_out(kernel.number);
    say(kernel, reason);
  }

  // --- contexts ---

  Context& context_of(CUcontext handle) {
    const auto [entry, is_new] = contexts_.try_emplace(handle);
    Context& context = entry->second;
    if (is_new && driver_.create_event(&context.event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
      context.obstacle = "CUDA gives no event to wait for";
    return context;
  }

  /// While nothing runs there: CUPTI waits for what does, without end where that waits for the launch at
  /// hand.
  RangeProfiler::Obstacle open(CUcontext handle, Context& context) {
    if (!functions_) functions_.emplace(cupti_);
    if (!functions_->obstacle.empty()) return functions_->obstacle;
    CUdevice device = 0;
    driver_.device_of_context(&device);
    CUpti_Device_GetChipName_Params chip{};
    chip.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE;
    chip.deviceIndex = static_cast<std::size_t>(device);
    if (functions_->chip_name(&chip) != CUPTI_SUCCESS || chip.pChipName != request_.chip)
      return "its GPU is of another kind than the first one (" + request_.chip +
             "), whose counters mprof has chosen";
    // One more, to see that CUPTI counts no launch that the plan does not know of.
    context.profiler.emplace(cupti_, *functions_, request_, most_in_pass() + 1);
    return context.profiler->open(handle);
  }

  /// Whether all that the GPU was given in the context has ended, or does within the time.
  bool is_idle(CUcontext handle, const Context& context, std::int64_t wait) const {
    if (driver_.record_context(handle, context.event) != CUDA_SUCCESS) return false;
    return has_happened(context.event, wait);
  }

  [[nodiscard]] bool has_happened(CUevent event, std::int64_t wait) const {
    constexpr std::int64_t briefly = 200'000;  // ns
    const std::int64_t start = now();
    while (driver_.query_event(event) == CUDA_ERROR_NOT_READY) {
      const std::int64_t waited = now() - start;
      if (waited >= wait) return false;
      if (waited < briefly)
        ::sched_yield();
      else
        ::usleep(50);
    }
    return true;
  }

  // --- launches ---

  void launching(CUpti_CallbackId id, const CUpti_CallbackData& call) {
    mutex_.lock();
    const bool holds = counts(call, launch_of(id, call.functionParams));
    if (!holds) return mutex_.unlock();
    is_launching = true;
    correlation_ = call.correlationId;
  }

  /// Whether this launch is counted: the lock is then kept until it is over.
  bool counts(const CUpti_CallbackData& call, const Launch& launch) {
    if (!gate_.is_open()) return interrupt_pass(), false;
    CountedKernel& kernel = kernel_of(call, launch);
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    const bool asked = driver_.is_capturing(launch.stream, &status) == CUDA_SUCCESS;
    kernel.has_changed = true;
    if (asked && status != CU_STREAM_CAPTURE_STATUS_NONE) {
      ++kernel.launches.in_graphs;
      return false;
    }
    if (kernel.is_chosen && skipped_ < request_.launch_skip) return ++skipped_, false;
    ++kernel.launches.launches;
    if (captures_ > 0 || is_dead_ || is_stopped()) return false;
    const SessionPlan::Choice choice = plan_.at_launch(kernel.number);
    if (choice.ends_pass) end_pass();
    if (choice.ends_session) end_session();
    return choice.counts && begins_counting(kernel, choice.begins_session, call.context);
  }

  bool begins_counting(CountedKernel& kernel, bool begins_session, CUcontext handle) {
    stopped_by_ = kernel.launches.kernel;
    begun_ = now();
    Context& context = context_of(handle);
    const bool is_ready = !context.obstacle.empty() || is_idle(handle, context, longest_wait);
    if (is_ready && context.obstacle.empty() && !context.profiler)
      context.obstacle = open(handle, context).value_or("");
    RangeProfiler::Obstacle obstacle;
    if (!context.obstacle.empty()) obstacle = context.obstacle;
    if (!is_ready) obstacle = "what runs on the GPU when it is launched does not end before it";
    if (!obstacle && begins_session) obstacle = context.profiler->begin();
    if (!obstacle && !context.profiler->is_started()) obstacle = context.profiler->start();
    if (obstacle) {
      begun_ = 0;
      if (is_ready) note_once(*obstacle);
      leave_out(kernel, *obstacle);
      give_up();
      return false;
    }
    current_ = {&kernel, handle};
    return true;
  }

  void launched() {
    is_launching = false;
    const auto [kernel, handle] = current_;
    if (is_idle(handle, context_of(handle), longest_wait)) {
      begun_ = 0;
      if (plan_.counted()) end_pass();
    } else {  // it goes on, with the profiler in it, and is looked at again at later launches
      stopped_in_ = handle;
      leave_out(*kernel,
                "it did not end within 5 s of its launch while nothing else ran: it waits for the "
                "host, or for a kernel beside it");
    }
    mutex_.unlock();
  }

  /// Of the session that goes on.
  [[nodiscard]] RangeProfiler* profiler() {
    const auto found = contexts_.find(static_cast<CUcontext>(plan_.context()));
    return plan_.is_in_session() && found != contexts_.end() && found->second.profiler
               ? &*found->second.profiler
               : nullptr;
  }

  /// While nothing runs in its context: of a pass each launch has been waited for.
  void end_pass() {
    RangeProfiler* const profiler = this->profiler();
    if (profiler == nullptr) return give_up();
    if (const auto obstacle = profiler->stop()) return refuse(*obstacle);
    if (plan_.passed(profiler->is_complete())) end_session();
  }

  /// Writes what it has counted, be it of all passes or not.
  void end_session() {
    RangeProfiler* const profiler = this->profiler();
    if (profiler == nullptr) return give_up();
    const std::size_t launches = plan_.launches();
    const RangeProfiler::Obstacle obstacle = profiler->decode();
    if (obstacle) note_once(*obstacle);
    const auto counted = plan_.finish(!obstacle && profiler->ranges() == launches);
    if (counted.empty()) return;
    Chunk chunk;
    chunk.add_value(journal::Kind::counts, sessions_, profiler->data());
    for (const SessionPlan::Counted& one : counted) {
      CountedKernel& kernel = *by_number_[one.kernel];
      chunk.add_value(journal::Kind::counted,
                      journal::Counted{kernel.launches.kernel, sessions_, one.range, one.passes});
      add_launches(kernel, chunk);
    }
    ++sessions_;
    journal_.write(chunk);
  }

  /// Leaves a session that cannot go on.
  void give_up() {
    RangeProfiler* const profiler = this->profiler();
    if (profiler != nullptr && profiler->is_started() && profiler->stop()) is_dead_ = true;
    plan_.finish(false);
  }

  /// Its kernels are not counted, and why.
  void refuse(const std::string& obstacle) {
    note_once(obstacle);
    for (const std::size_t member : plan_.members()) leave_out(*by_number_[member], obstacle);
    give_up();
  }

  /// Before something is launched that is no kernel of the plan's.
  void interrupt_pass() {
    if (plan_.is_in_pass() && !is_stopped()) end_pass();
  }

  /// Whether the launch that was counted last has not ended yet.
  bool is_stopped() {
    if (stopped_in_ == nullptr) return false;
    Context& context = context_of(stopped_in_);
    if (!has_happened(context.event, 0)) return true;
    begun_ = 0;
    stopped_in_ = nullptr;
    give_up();
    return is_dead_;
  }

  void note_once(const std::string& obstacle) {
    if (noted_.insert(obstacle).second) journal_.note("Not counted: " + obstacle + ".");
  }

  static void add_launches(CountedKernel& kernel, Chunk& chunk) {
    chunk.add_value(journal::Kind::launches, kernel.launches);
    kernel.has_changed = false;
  }

  // --- the end ---

  /// Of all kernels whose launches have become more. Asks for the lock.
  void write_launches() {
    Chunk chunk;
    for (const auto& kernel : all_) {
      if (kernel->has_changed) add_launches(*kernel, chunk);
    }
    if (!chunk.bytes().empty()) journal_.write(chunk);
  }

  /// Keeps what the passes of a session have counted until now.
  void end_early() {
    if (is_dead_ || stopped_in_ != nullptr || !plan_.is_in_session()) return;
    interrupt_pass();
    if (plan_.is_in_session()) end_session();
  }

  void finish() {
    if (journal_.is_of_another_process()) return;
    is_ending_ = true;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock.owns_lock()) {
      end_early();
      is_dead_ = true;
      write_launches();
    }
    if (graphs_ > 0)
      journal_.note("CUDA graphs were launched " + std::to_string(graphs_) +
                    " times; a graph's kernels run as one piece, and are not counted. The trace has "
                    "their times.");
    Chunk chunk;
    chunk.add_value(journal::Kind::until, now());
    chunk.add(journal::Kind::end, {});
    journal_.write(chunk);
  }

  /// On a thread that takes none of the program's signals.
  void start_watching() {
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread{};
    const auto body = [](void* /*nothing*/) -> void* {
      while (!counter->is_ending_ && counter->watch()) ::usleep(glance);
      return nullptr;
    };
    if (::pthread_create(&thread, nullptr, body, nullptr) == 0) ::pthread_detach(thread);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  /// False when it has asked mprof to end the program.
  bool watch() {
    {
      const std::unique_lock lock(mutex_, std::try_to_lock);
      if (lock.owns_lock()) {
        write_launches();
        // It has ended since, though the program launches nothing more; the profiler is stopped at a launch.
        if (stopped_in_ != nullptr && has_happened(contexts_[stopped_in_].event, 0)) begun_ = 0;
      }
    }
    const std::int64_t begun = begun_;
    if (begun != 0 && now() - begun > longest_stop) {
      Chunk chunk;
      chunk.add_value(journal::Kind::stopped, stopped_by_.load());
      journal_.write(chunk);
      const int pipe =
          ::open((folder_ + "/" + journal::stopped_pipe).c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
      if (pipe >= 0) {
        [[maybe_unused]] const ssize_t written = ::write(pipe, "s", 1);
        ::close(pipe);
      }
      return false;
    }
    return true;
  }

  // --- called by CUPTI, on any thread ---

  static void CUPTIAPI on_callback(void* /*user*/, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                   const void* data) {
    if (is_inside) return;  // a call of this library's own
    is_inside = true;
    if (domain == CUPTI_CB_DOMAIN_RESOURCE)
      counter->forget(static_cast<const CUpti_ResourceData*>(data)->context);
    else if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
      counter->on_call(id, *static_cast<const CUpti_CallbackData*>(data));
    is_inside = false;
  }

  void on_call(CUpti_CallbackId id, const CUpti_CallbackData& call) {
    const bool enters = call.callbackSite == CUPTI_API_ENTER;
    const auto is_one_of = [&](const auto& calls) {
      return std::find(std::begin(calls), std::end(calls), static_cast<CUpti_driver_api_trace_cbid>(id)) !=
             std::end(calls);
    };
    if (take_profiler_call(CUPTI_CB_DOMAIN_DRIVER_API, id, call, gate_)) return;
    if (is_one_of(launch_calls)) {
      if (enters && !is_launching) launching(id, call);
      if (!enters && is_launching && call.correlationId == correlation_) launched();
    } else if (enters) {  // nothing of these while a launch is counted
      if (!is_launching) {
        mutex_.lock();
        interrupt_pass();
      }
    } else if (!is_launching) {
      const bool succeeded = call.functionReturnValue != nullptr &&
                             *static_cast<const CUresult*>(call.functionReturnValue) == CUDA_SUCCESS;
      if (is_one_of(graph_calls)) ++graphs_;
      if (is_one_of(capture_begins) && succeeded) ++captures_;
      if (is_one_of(capture_ends) && captures_ > 0) --captures_;
      mutex_.unlock();
    }
  }

  void forget(CUcontext handle) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock() || stopped_in_ == handle) return;
    if (plan_.is_in_session() && plan_.context() == handle) end_early();
    // CUPTI may look once more at what it was given while it takes the context down.
    if (auto context = contexts_.extract(handle)) gone_.push_back(std::move(context));
  }

  /// The launch that is being counted.
  struct Current {
    CountedKernel* kernel = nullptr;
    CUcontext context = nullptr;
  };

  std::string folder_;
  journal::CounterRequest request_;
  JournalWriter journal_;
  WindowGate gate_{journal_};
  OpenRanges ranges_;
  std::optional<std::regex> kernels_{};
  CuptiFunctions cupti_{CuptiFunctions::Use::counters};
  DriverFunctions driver_;
  std::optional<ProfilerFunctions> functions_{};
  CUpti_SubscriberHandle subscriber_ = nullptr;

  std::mutex mutex_;  ///< of what follows; held from before a launch that is counted until after it
  SessionPlan plan_;
  std::vector<CountedKernel*> by_number_{};  ///< in the plan
  std::uint64_t sessions_ = 0;               ///< that were written
  std::set<std::string> left_out_;
  std::set<std::string> wanted_;  ///< empty: all
  std::vector<std::unique_ptr<CountedKernel>> all_{};
  std::map<KernelKey, CountedKernel*> by_key_{};
  std::map<CUcontext, Context> contexts_{};
  std::vector<std::map<CUcontext, Context>::node_type> gone_{};  ///< of contexts that were destroyed
  std::set<std::string> noted_{};
  Current current_{};
  std::uint32_t correlation_ = 0;   ///< of the launch that is counted
  CUcontext stopped_in_ = nullptr;  ///< where it has not ended in time
  std::uint64_t skipped_ = 0;       ///< launches, for --launch-skip
  std::uint64_t chosen_ = 0;        ///< kernels
  std::uint64_t captures_ = 0;      ///< streams that are being recorded for graphs
  std::uint64_t graphs_ = 0;        ///< launches of them
  bool is_dead_ = false;            ///< nothing is counted any more

  std::atomic<std::int64_t> begun_ = 0;        ///< ns since 1970, of the launch that is counted; 0: none is
  std::atomic<std::uint64_t> stopped_by_ = 0;  ///< its kernel
  std::atomic<bool> is_ending_ = false;

  static inline thread_local bool is_inside = false;     ///< one of CUPTI's callbacks
  static inline thread_local bool is_launching = false;  ///< a kernel that is counted
};

Entry<Counter> entry([](const char* folder) {
  std::optional<journal::CounterRequest> request = read_request(folder);
  if (request) Counter::counter = new (std::nothrow) Counter(folder, std::move(*request));
  return Counter::counter;
});

}  // namespace
}  // namespace mprof::injection

#define MPROF_EXPORTED extern "C" __attribute__((visibility("default")))

// NOLINTNEXTLINE(readability-identifier-naming): the driver's name
MPROF_EXPORTED int InitializeInjection() {
  mprof::injection::entry.cuda_begins();
  return 1;
}

// NOLINTNEXTLINE(readability-identifier-naming): NVTX's name
MPROF_EXPORTED int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table) {
  return mprof::injection::entry.take_nvtx(get_export_table);
}
