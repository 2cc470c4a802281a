// SPDX-License-Identifier: MIT
// The library that the driver loads into each process of a program in its source pass
// (CUDA_INJECTION64_PATH), and NVTX before that (NVTX_INJECTION64_PATH). It has CUPTI sample program counters
// of all kernels, and writes what was sampled to a journal, and machine code with line tables beside it. It
// never prints, throws or ends the process: what it cannot do it notes.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <cuda.h>
#include <cupti.h>
#include <fcntl.h>
#include <unistd.h>

#include "injection/context_sampler.hpp"
#include "injection/cupti_functions.hpp"
#include "injection/entry.hpp"
#include "injection/journal_writer.hpp"
#include "injection/launch_calls.hpp"
#include "injection/nvtx_calls.hpp"
#include "injection/window_gate.hpp"
#include "model/trace/journal.hpp"

namespace mprof::injection {
namespace {

constexpr std::int64_t millisecond = 1'000'000;            // ns
constexpr std::int64_t take_after = 50 * millisecond;      // CUPTI holds samples by instruction meanwhile
constexpr std::int64_t write_after = 2'000 * millisecond;  // so much of the end a kill may cost
constexpr std::uint32_t usual_period = 18;                 // 2^n cycles
constexpr std::uint32_t shortest_period = 5, longest_period = 31;  // that CUPTI takes

std::uint32_t wanted_period() {
  const char* const told = std::getenv(journal::sampling_variable);
  const int period = told != nullptr ? std::atoi(told) : 0;
  const bool is_good =
      period >= static_cast<int>(shortest_period) && period <= static_cast<int>(longest_period);
  return is_good ? static_cast<std::uint32_t>(period) : usual_period;
}

/// An instruction that was sampled, with how often by what its warps waited for.
struct SampledInstruction {
  std::string symbol;
  std::map<std::uint32_t, std::uint32_t> stalls;
};

/// The sampling in this process. Never destroyed: CUPTI calls back while the process ends.
class Sampler final : public NvtxObserver {
 public:
  explicit Sampler(std::string folder)
      : folder_(std::move(folder)), journal_(folder_.c_str(), CUPTI_API_VERSION) {}

  /// At the first call of CUDA.
  void start() {
    std::string obstacle = cupti_.obstacle;
    if (obstacle.empty()) obstacle = functions_.obstacle;
    if (obstacle.empty()) obstacle = cupti_.subscribe(subscriber_, on_callback);
    if (!obstacle.empty()) return journal_.note(obstacle);
    for (const auto id : {CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
                          CUPTI_CBID_RESOURCE_MODULE_LOADED})
      cupti_.enable_callback(1, subscriber_, CUPTI_CB_DOMAIN_RESOURCE, id);
    for (const auto call : launch_calls) enable(call);
    for (const auto call : graph_calls) enable(call);
    if (gate_.needs_profiler_calls()) {
      for (const auto call : profiler_calls)
        cupti_.enable_callback(1, subscriber_, CUPTI_CB_DOMAIN_RUNTIME_API, call);
      for (const auto call : profiler_driver_calls) enable(call);
    }
    std::atexit([] { sampler->finish(); });
  }

  void begins(const NvtxRange& range) override { gate_.range_begins(range.id, range.text); }
  void ends(const NvtxRange& range, bool /*is_of_thread*/) override { gate_.range_ends(range.id); }

  static inline Sampler* sampler = nullptr;

 private:
  using Contexts = std::map<CUcontext, std::unique_ptr<ContextSampler>>;

  void enable(CUpti_driver_api_trace_cbid call) {
    cupti_.enable_callback(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API, call);
  }

  // --- contexts and their modules ---

  void open(CUcontext handle) {
    auto context =
        std::make_unique<ContextSampler>(cupti_, functions_, handle, wanted_period(), gate_.is_set());
    note_obstacle(*context);
    if (!has_reasons_ && !context->reasons().empty()) {
      has_reasons_ = true;
      Chunk chunk;
      for (const auto& [number, name] : context->reasons())
        chunk.add_value(journal::Kind::stall, number, name);
      journal_.write(chunk);
    }
    contexts_[handle] = std::move(context);
  }

  void close(Contexts::iterator context) {
    context->second->close(taker_);
    note_obstacle(*context->second);
    // CUPTI may look once more at what it was given while it takes the context down.
    closed_.push_back(std::move(context->second));
    contexts_.erase(context);
  }

  void note_obstacle(const ContextSampler& context) {
    if (!context.obstacle().empty()) note_once("Not sampled: " + context.obstacle() + ".");
    if (context.has_lost())
      note_once("The GPU's buffer of samples ran over: parts of the program were not sampled.");
  }

  void note_once(const std::string& sentence) {
    if (noted_.insert(sentence).second) journal_.note(sentence);
  }

  /// Keeps machine code that has a line table; of other code no line can be told.
  void keep(const CUpti_ModuleResourceData& module) {
    const std::lock_guard lock(keeping_);
    if (module.pCubin == nullptr ||
        std::string_view(module.pCubin, module.cubinSize).find(".debug_line") == std::string_view::npos)
      return;
    CUpti_GetCubinCrcParams params{};
    params.size = CUpti_GetCubinCrcParamsSize;
    params.cubin = module.pCubin;
    params.cubinSize = module.cubinSize;
    if (functions_.checksum(&params) != CUPTI_SUCCESS || !kept_.insert(params.cubinCrc).second) return;
    std::array<char, 17> name{};
    std::snprintf(name.data(), name.size(), "%llx", static_cast<unsigned long long>(params.cubinCrc));
    write_whole(folder_ + "/" + name.data() + journal::code_extension, {module.pCubin, module.cubinSize});
  }

  /// Another process may write the same file.
  static void write_whole(const std::string& path, std::string_view bytes) {
    const std::string part = path + "." + std::to_string(::getpid());
    const int file = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) return;
    while (!bytes.empty()) {
      const ssize_t written = ::write(file, bytes.data(), bytes.size());
      if (written <= 0) break;
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    ::close(file);
    if (!bytes.empty() || ::rename(part.c_str(), path.c_str()) != 0) ::unlink(part.c_str());
  }

  // --- samples ---

  void add(const CUpti_PCSamplingPCData& record) {
    if (record.functionName == nullptr) return;
    SampledInstruction& sampled = sampled_[{record.cubinCrc, record.functionIndex, record.pcOffset}];
    if (sampled.symbol.empty()) sampled.symbol = record.functionName;
    for (std::size_t i = 0; i < record.stallReasonCount; ++i) {
      const CUpti_PCSamplingStallReason stall = record.stallReason[i];
      if (stall.samples > 0) sampled.stalls[stall.pcSamplingStallReasonIndex] += stall.samples;
    }
  }

  /// What was sampled since the last time.
  void write() {
    Chunk chunk;
    for (const auto& [place, sampled] : sampled_) {
      std::string counts;
      for (const auto& [stall, samples] : sampled.stalls) {
        const journal::StallCount count{stall, samples};
        counts.append(reinterpret_cast<const char*>(&count), sizeof count);
      }
      const journal::SampledPlace entry{.code = std::get<0>(place),
                                        .function = journal_.text(sampled.symbol.c_str(), chunk),
                                        .offset = std::get<2>(place)};
      chunk.add_value(journal::Kind::sampled, entry, counts);
    }
    sampled_.clear();
    chunk.add_value(journal::Kind::until, now());
    journal_.write(chunk);
    written_ = now();
  }

  void take_all() {
    for (const auto& [handle, context] : contexts_) context->take(taker_);
    taken_ = now();
  }

  // --- called by CUPTI, on any thread ---

  static void CUPTIAPI on_callback(void* /*user*/, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                   const void* data) {
    if (is_inside) return;  // a call of this library's own
    is_inside = true;
    if (domain == CUPTI_CB_DOMAIN_RESOURCE)
      sampler->see(id, *static_cast<const CUpti_ResourceData*>(data));
    else if (domain == CUPTI_CB_DOMAIN_DRIVER_API || domain == CUPTI_CB_DOMAIN_RUNTIME_API)
      sampler->on_call(domain, id, *static_cast<const CUpti_CallbackData*>(data));
    is_inside = false;
  }

  void see(CUpti_CallbackId id, const CUpti_ResourceData& resource) {
    if (id == CUPTI_CBID_RESOURCE_MODULE_LOADED) return see_module(resource);
    const std::lock_guard lock(mutex_);
    if (is_ending_) return;
    const auto context = contexts_.find(resource.context);
    if (id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED && context == contexts_.end()) open(resource.context);
    if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING && context != contexts_.end()) close(context);
  }

  /// The driver may hold a lock here that whoever takes samples waits for: never waits for that one.
  void see_module(const CUpti_ResourceData& resource) {
    if (resource.resourceDescriptor != nullptr)
      keep(*static_cast<const CUpti_ModuleResourceData*>(resource.resourceDescriptor));
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock() || is_ending_ || gate_.is_set()) return;
    // An instruction of a module that is unloaded may be where another one was.
    const auto context = contexts_.find(resource.context);
    if (context != contexts_.end()) context->second->take(taker_);
  }

  void on_call(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& call) {
    if (take_profiler_call(domain, id, call, gate_) || domain != CUPTI_CB_DOMAIN_DRIVER_API) return;
    const bool enters = call.callbackSite == CUPTI_API_ENTER;
    if (enters && gate_.is_set()) {
      const std::lock_guard lock(mutex_);
      if (!is_ending_) follow_window(call.context);
    } else if (!enters) {
      const std::unique_lock lock(mutex_, std::try_to_lock);
      if (!lock.owns_lock() || is_ending_) return;
      if (!gate_.is_set() && now() - taken_ > take_after) take_all();
      if (now() - written_ > write_after) write();
    }
  }

  /// Before a launch.
  void follow_window(CUcontext handle) {
    const auto found = contexts_.find(handle);
    if (found == contexts_.end()) return;
    ContextSampler& context = *found->second;
    if (gate_.is_open() && !context.is_on()) context.start();
    if (!gate_.is_open() && context.is_on()) {
      context.stop();
      context.take(taker_);
    }
    note_obstacle(context);
  }

  void finish() {
    if (journal_.is_of_another_process()) return;
    const std::lock_guard lock(mutex_);
    is_inside = true;
    is_ending_ = true;
    while (!contexts_.empty()) close(contexts_.begin());
    write();
    Chunk chunk;
    chunk.add(journal::Kind::end, {});
    journal_.write(chunk);
    is_inside = false;
  }

  std::string folder_;
  JournalWriter journal_;
  WindowGate gate_{journal_};
  CuptiFunctions cupti_{CuptiFunctions::Use::counters};
  SamplingFunctions functions_{cupti_};
  CUpti_SubscriberHandle subscriber_ = nullptr;
  const ContextSampler::Take taker_ = [this](const CUpti_PCSamplingPCData& record) { add(record); };

  std::mutex keeping_;  ///< of what follows
  std::set<std::uint64_t> kept_{};

  std::mutex mutex_;  ///< of what follows
  Contexts contexts_{};
  std::vector<std::unique_ptr<ContextSampler>> closed_{};
  std::map<std::tuple<std::uint64_t, std::uint32_t, std::uint64_t>, SampledInstruction>
      sampled_{};  ///< by module, function and offset; since it was written last
  std::set<std::string> noted_{};
  std::int64_t taken_ = 0, written_ = now();  ///< ns since 1970
  bool has_reasons_ = false;
  bool is_ending_ = false;

  static inline thread_local bool is_inside = false;  ///< one of CUPTI's callbacks
};

Entry<Sampler> entry([](const char* folder) {
  Sampler::sampler = new (std::nothrow) Sampler(folder);
  return Sampler::sampler;
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
