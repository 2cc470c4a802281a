// SPDX-License-Identifier: MIT
#include "injection/launch_log.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "injection/launch_calls.hpp"

namespace mprof::injection {
namespace {

using launch_log::Head;
using launch_log::kept;
using launch_log::most_failures;
using Noted = launch_log::Launch;

/// The runtime's functions that launch one kernel: it may refuse what never gets to the driver.
constexpr CUpti_runtime_api_trace_cbid runtime_launches[] = {
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_ptsz_v7000,
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_v9000,
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_ptsz_v9000,
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060,
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_ptsz_v11060,
    CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000,
    CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_ptsz_v13000};

constexpr CUpti_driver_api_trace_cbid per_thread_launches[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz};

template <class Calls>
bool is_one_of(const Calls& calls, CUpti_CallbackId id) {
  return std::any_of(std::begin(calls), std::end(calls),
                     [&](auto call) { return static_cast<CUpti_CallbackId>(call) == id; });
}

struct Shape {
  std::uint32_t grid[3] = {};
  std::uint32_t block[3] = {};
  std::uint32_t dynamic_shared_memory = 0;  ///< B
};

Shape shape_of(dim3 grid, dim3 block, std::size_t shared_memory) {
  return {{grid.x, grid.y, grid.z},
          {block.x, block.y, block.z},
          static_cast<std::uint32_t>(std::min<std::size_t>(shared_memory, ~std::uint32_t{0}))};
}

/// What a call of one of runtime_launches launches.
Shape shape_of_runtime(CUpti_CallbackId id, const void* parameters) {
  if (id == CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060 ||
      id == CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_ptsz_v11060) {
    const auto& p = *static_cast<const cudaLaunchKernelExC_v11060_params*>(parameters);
    if (p.config == nullptr) return {};
    return shape_of(p.config->gridDim, p.config->blockDim, p.config->dynamicSmemBytes);
  }
  // The others' parameters begin alike.
  const auto& p = *static_cast<const cudaLaunchKernel_v7000_params*>(parameters);
  return shape_of(p.gridDim, p.blockDim, p.sharedMem);
}

/// What a thread is launching. A launch of the runtime's holds one of the driver's.
struct Launching {
  bool is_in_runtime = false;
  std::uint32_t stack = 0;
  Noted launch{};
};
thread_local Launching launching;

/// This process was forked from the one that the log is of, whose locks may be held for ever here.
std::atomic<bool> is_child = false;

std::uint32_t result_of(const CUpti_CallbackData& call) {
  std::uint32_t result = 0;
  if (call.functionReturnValue != nullptr) std::memcpy(&result, call.functionReturnValue, sizeof result);
  return result;
}

}  // namespace

LaunchLog::LaunchLog(JournalWriter& journal, const CuptiFunctions& cupti, CallStacks* stacks)
    : journal_(journal), cupti_(cupti), stacks_(stacks) {
  (void)::pthread_atfork(nullptr, nullptr, [] { is_child = true; });
}

/// Calls that this CUPTI does not know are refused, and the program has none of them.
void LaunchLog::watch(CUpti_SubscriberHandle subscriber) {
  open();
  for (const auto call : launch_calls)
    cupti_.enable_callback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, call);
  for (const auto call : graph_calls) cupti_.enable_callback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, call);
  for (const auto call : runtime_launches)
    cupti_.enable_callback(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, call);
}

bool LaunchLog::take(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& call) {
  const bool begins_now = call.callbackSite == CUPTI_API_ENTER;
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API) {
    if (!is_one_of(runtime_launches, id)) return false;
    if (is_child.load(std::memory_order_relaxed)) return true;
    launching.is_in_runtime = begins_now;
    const std::uint32_t result = begins_now ? 0 : result_of(call);
    if (begins_now) launching.launch = {};
    if (result != 0) {
      Noted launch = launching.launch;
      if (launch.number == 0) {  // it never got to the driver
        const Shape shape = shape_of_runtime(id, call.functionParams);
        launch.time = now();
        launch.thread = static_cast<std::uint32_t>(::gettid());
        launch.symbol = call.symbolName != nullptr ? symbol_of(call.symbolName).number : launch_log::unnamed;
        std::copy(std::begin(shape.grid), std::end(shape.grid), std::begin(launch.grid));
        std::copy(std::begin(shape.block), std::end(shape.block), std::begin(launch.block));
        launch.dynamic_shared_memory = shape.dynamic_shared_memory;
      }
      ends(result, launch);
    }
    return true;
  }
  if (!is_one_of(launch_calls, id) && !is_one_of(graph_calls, id)) return false;
  if (is_child.load(std::memory_order_relaxed)) return true;
  launching.stack = begins_now && stacks_ != nullptr ? stacks_->take(call.correlationId) : 0;
  if (begins_now) {
    begins(id, call);
  } else if (const std::uint32_t result = result_of(call); result != 0) {
    if (launch_log::is_of_kernel(result)) has_faulted_ = true;
    const std::uint64_t number = launching.launch.number;
    if (places_ != nullptr && number != 0) {
      Noted& place = places_[(number - 1) % kept];
      if (place.number == number) place.result = result;
    }
    if (!launching.is_in_runtime) ends(result, launching.launch);
  }
  return true;
}

std::uint32_t LaunchLog::stack_of_launching() {
  return launching.stack;
}

void LaunchLog::begins(CUpti_CallbackId id, const CUpti_CallbackData& call) {
  Noted launch = launch_of(id, call);
  launching.launch = launch;
  Head* const head = head_.load(std::memory_order_relaxed);
  // After a kernel's fault nothing runs any more, and what is refused then would overwrite the culprit.
  if (head == nullptr || has_faulted_.load(std::memory_order_relaxed)) return;
  launch.number = std::atomic_ref(head->launches).fetch_add(1, std::memory_order_relaxed) + 1;
  launching.launch = launch;
  Noted& place = places_[(launch.number - 1) % kept];
  std::atomic_ref(place.number).store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  const std::uint64_t number = std::exchange(launch.number, 0);
  place = launch;
  std::atomic_ref(place.number).store(number, std::memory_order_release);
}

/// CUDA refused it.
void LaunchLog::ends(std::uint32_t result, const Noted& launch) {
  if (failures_.fetch_add(1, std::memory_order_relaxed) >= most_failures) return;
  Noted failed = launch;
  failed.result = result;
  Chunk chunk;
  chunk.add_value(journal::Kind::failed, failed);
  journal_.write(chunk);
}

Noted LaunchLog::launch_of(CUpti_CallbackId id, const CUpti_CallbackData& call) {
  Noted launch;
  launch.time = now();
  thread_local const auto thread = static_cast<std::uint32_t>(::gettid());
  launch.thread = thread;
  launch.correlation = call.correlationId;
  launch.context = call.contextUid;
  CUstream stream = nullptr;
  if (is_one_of(graph_calls, id)) {
    stream = static_cast<const cuGraphLaunch_params*>(call.functionParams)->hStream;
  } else {
    const injection::Launch asked = injection::launch_of(id, call.functionParams);
    stream = asked.stream;
    std::copy(std::begin(asked.grid), std::end(asked.grid), std::begin(launch.grid));
    std::copy(std::begin(asked.block), std::end(asked.block), std::begin(launch.block));
    launch.dynamic_shared_memory = asked.dynamic_shared_memory;
    launch.symbol = launch_log::unnamed;
    if (call.symbolName != nullptr) {
      Symbol& symbol = symbol_of(call.symbolName);
      launch.symbol = symbol.number;
      launch.nth = symbol.launches.fetch_add(1, std::memory_order_relaxed) + 1;
    }
  }
  launch.stream = stream_of(call.context, stream, is_one_of(per_thread_launches, id));
  return launch;
}

/// A thread looks those up itself that it has launched: programs have few.
LaunchLog::Symbol& LaunchLog::symbol_of(const char* name) {
  // Kernels may be launched while a thread ends, when what it had is gone already.
  thread_local bool is_gone = false;
  struct Known {
    std::unordered_map<std::string_view, Symbol*> symbols{};
    bool& is_gone;
    ~Known() { is_gone = true; }
  };
  thread_local Known known{.is_gone = is_gone};
  if (!is_gone) {
    const auto found = known.symbols.find(name);
    if (found != known.symbols.end()) return *found->second;
  }
  const std::lock_guard lock(mutex_);
  const auto [entry, is_new] = symbols_.try_emplace(name);
  if (is_new) {
    Chunk chunk;
    entry->second.number = journal_.text(name, chunk);
    journal_.write(chunk);
  }
  if (!is_gone) known.symbols.emplace(entry->first, &entry->second);
  return entry->second;
}

/// CUPTI's number of the stream. Most launches of a thread go to one stream.
std::uint32_t LaunchLog::stream_of(CUcontext context, CUstream stream, bool is_per_thread) const {
  struct Known {
    bool is_set = false;
    bool is_per_thread = false;
    CUcontext context = nullptr;
    CUstream stream = nullptr;
    std::uint32_t id = 0;
  };
  thread_local Known known;
  if (known.is_set && known.context == context && known.stream == stream &&
      known.is_per_thread == is_per_thread)
    return known.id;
  std::uint32_t id = 0;
  if (cupti_.stream_id(context, stream, is_per_thread ? 1 : 0, &id) != CUPTI_SUCCESS) return 0;
  known = {true, is_per_thread, context, stream, id};
  return id;
}

/// Makes the file. Without it launches are not noted.
void LaunchLog::open() {
  const std::string& journal = journal_.path();
  if (journal.empty()) return;
  const std::string path =
      journal.substr(0, journal.size() - std::strlen(journal::extension)) + launch_log::extension;
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return;
  constexpr std::size_t size = sizeof(Head) + kept * sizeof(Noted);
  void* memory = MAP_FAILED;
  // With its blocks: a write to a page that the disk has no room for would end the process.
  if (::posix_fallocate(file, 0, size) == 0)
    memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (memory == MAP_FAILED) return;
  auto* const head = static_cast<Head*>(memory);
  std::copy(std::begin(launch_log::magic), std::end(launch_log::magic), std::begin(head->magic));
  places_ = reinterpret_cast<Noted*>(head + 1);
  head_ = head;
}

}  // namespace mprof::injection
