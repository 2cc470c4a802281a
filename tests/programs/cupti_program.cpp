// SPDX-License-Identifier: MIT
// A program that has a stand-in for CUPTI in its process, and launches kernels in it.
// usage: cupti_program STANDIN TRACE_LIBRARY
// none|three|fault|refused|killed|hangs|payloads|graph|region|stacks
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iterator>
#include <limits>
#include <thread>

#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <signal.h>
#include <unistd.h>

namespace {

using Launch = void(const char* name, std::uint64_t start, std::uint32_t correlation, std::uint32_t result,
                    bool ends);
using Wait = void(std::uint64_t start, std::uint32_t correlation, std::uint32_t result);

constexpr const char* good = "_Z4goodPf";
constexpr const char* bad = "_Z3badPf";
constexpr std::uint32_t illegal_address = 700, invalid_configuration = 9;

/// ns since 1970.
std::uint64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

// --- Ranges with payloads, as NCCL has them ---

struct Size {
  std::uint64_t communicator;
  std::size_t bytes;
  std::uint32_t operation;
};
struct Ranks {
  std::uint64_t communicator;
  int ranks;
};
constexpr std::uint64_t of_size = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 5;
constexpr std::uint64_t of_ranks = of_size + 1, of_nonsense = of_size + 2, of_nobody = of_size + 3;

std::uint64_t register_schema(nvtxDomainHandle_t domain, std::uint64_t id, std::size_t size,
                              const nvtxPayloadSchemaEntry_t* entries, std::size_t count) {
  nvtxPayloadSchemaAttr_t attributes{};
  attributes.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME;
  attributes.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  attributes.entries = entries;
  attributes.numEntries = count;
  attributes.payloadStaticSize = size;
  attributes.schemaId = id;
  attributes.name = "of this test";
  return nvtxPayloadSchemaRegister(domain, &attributes);
}

nvtxEventAttributes_t attributes_of(const char* name, const nvtxPayloadData_t* payload) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name;
  if (payload != nullptr) {
    attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    attributes.reserved0 = 1;
    attributes.payload.ullValue = reinterpret_cast<std::uintptr_t>(payload);
  }
  return attributes;
}

void push(nvtxDomainHandle_t domain, const char* name, const nvtxPayloadData_t* payload) {
  const nvtxEventAttributes_t attributes = attributes_of(name, payload);
  nvtxDomainRangePushEx(domain, &attributes);
}

void pass(nvtxDomainHandle_t domain, const char* name, const nvtxPayloadData_t* payload) {
  push(domain, name, payload);
  ::usleep(100);
  nvtxDomainRangePop(domain);
}

/// Three that are right, one that is given at its end, and what nobody must follow or believe.
int say_payloads() {
  const auto nowhere = reinterpret_cast<const void*>(std::uintptr_t{16});
  nvtxDomainHandle_t domain = nvtxDomainCreateA("NCCL");
  const nvtxPayloadSchemaEntry_t size[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", nullptr, 0, 0, nullptr, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]", nullptr, 0, offsetof(Size, bytes), nullptr,
       nullptr},
      {0, of_nobody, "Reduction operation", nullptr, 0, offsetof(Size, operation), nullptr, nullptr}};
  const nvtxPayloadSchemaEntry_t ranks[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", nullptr, 0, 0, nullptr, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "No. of ranks", nullptr, 0, 0, nullptr, nullptr}};
  const nvtxPayloadSchemaEntry_t nonsense[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_SIZE, static_cast<const char*>(nowhere), nullptr, 0, 0, nullptr, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "far away", nullptr, 0, ~std::uint64_t{7}, nullptr, nullptr}};
  if (register_schema(domain, of_size, sizeof(Size), size, std::size(size)) != of_size) return 5;
  if (register_schema(domain, of_ranks, sizeof(Ranks), ranks, std::size(ranks)) != of_ranks) return 6;
  if (register_schema(domain, of_nonsense, ~std::size_t{0}, nonsense, std::size(nonsense)) != of_nonsense)
    return 7;
  if (register_schema(domain, of_nobody, 8, static_cast<const nvtxPayloadSchemaEntry_t*>(nowhere),
                      std::numeric_limits<std::size_t>::max()) != 0)
    return 8;
  const Ranks two{0xABCDEF, 2};
  const nvtxPayloadData_t of_two{of_ranks, sizeof two, &two};
  push(domain, "ncclCommInitRank", nullptr);
  push(domain, "ncclGroupStart", nullptr);
  nvtxDomainRangePop(domain);
  nvtxRangePopPayload(domain, &of_two, 1);
  const Size small{0xABCDEF, 1000, 0}, large{0xABCDEF, 25'000'000, 0};
  const nvtxPayloadData_t of_small{of_size, sizeof small, &small};
  const nvtxPayloadData_t of_large{of_size, std::numeric_limits<std::size_t>::max(), &large};
  // A range that may end on another thread counts among those that this one begins.
  const nvtxEventAttributes_t anywhere = attributes_of("anywhere", nullptr);
  nvtxDomainRangeEnd(domain, nvtxDomainRangeStartEx(domain, &anywhere));
  pass(domain, "ncclAllReduce", &of_small);
  pass(domain, "ncclAllReduce", &of_large);
  const nvtxPayloadData_t odd[] = {{of_size, sizeof small, nowhere},
                                   {of_size, 0, &small},
                                   {of_nobody, sizeof small, &small},
                                   {of_nonsense, std::numeric_limits<std::size_t>::max(), &small}};
  // Its pop must not end the range around it.
  push(domain, "around", nullptr);
  nvtxRangePushPayload(domain, &of_small, 1);
  nvtxDomainRangePop(domain);
  ::usleep(100);
  nvtxDomainRangePop(domain);
  for (const nvtxPayloadData_t& one : odd) pass(domain, "bad", &one);
  // As NCCL does: another thread pushes with what lies on this one's stack.
  std::thread([&] { pass(domain, "stale", &of_small); }).join();
  pass(domain, "bad", static_cast<const nvtxPayloadData_t*>(nowhere));
  return 0;
}

// --- Launches from several places ---

#define KEPT __attribute__((noinline))
Launch* launched_by = nullptr;
volatile std::uint32_t last_launch = 0;

KEPT void launch_directly() {
  launched_by(good, now(), last_launch + 1, 0, true);
  last_launch = last_launch + 1;  // after the call, which is no jump then
}
KEPT void launch_deeper(int depth) {
  if (depth == 0)
    launched_by(good, now(), last_launch + 1, 0, true);
  else
    launch_deeper(depth - 1);
  last_launch = last_launch + (depth == 0 ? 1 : 0);
}
KEPT void launch_many(int count) {
  for (int i = 1; i <= count; ++i) {
    if (i % 2 == 0)
      launch_directly();
    else
      launch_deeper(2);
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) return 2;
  void* const cupti = ::dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
  void* const library = ::dlopen(words[2], RTLD_NOW | RTLD_LOCAL);
  if (cupti == nullptr || library == nullptr) return 3;
  auto* const launch = reinterpret_cast<Launch*>(::dlsym(cupti, "standin_launch"));
  auto* const wait = reinterpret_cast<Wait*>(::dlsym(cupti, "standin_wait"));
  auto* const begin = reinterpret_cast<int (*)()>(::dlsym(library, "InitializeInjection"));
  if (launch == nullptr || wait == nullptr || begin == nullptr || begin() != 1) return 4;
  const auto is = [&](const char* mode) { return std::strcmp(words[3], mode) == 0; };
  if (is("none")) return 0;
  if (is("stacks")) {
    launched_by = launch;
    launch_many(400);
    return 0;
  }
  if (is("payloads")) return say_payloads();
  if (is("graph")) {
    auto* const node =
        reinterpret_cast<void (*)(std::uint64_t, std::uint64_t)>(::dlsym(cupti, "standin_graph_node"));
    auto* const kernel = reinterpret_cast<void (*)(const char*, std::uint64_t, std::uint32_t, std::uint64_t)>(
        ::dlsym(cupti, "standin_graph_kernel"));
    if (node == nullptr || kernel == nullptr) return 4;
    constexpr std::uint64_t captured = (std::uint64_t{1} << 32U) + 1, copy = (std::uint64_t{2} << 32U) + 1;
    node(captured, 0);
    node(copy, captured);
    kernel(good, now(), 7, copy);
    return 0;
  }
  std::uint32_t id = 0;
  const auto run = [&](const char* name, std::uint32_t result, bool ends) {
    launch(name, now(), ++id, result, ends);
  };
  if (is("region")) {
    auto* const profiler = reinterpret_cast<void (*)(bool)>(::dlsym(cupti, "standin_profiler"));
    auto* const range = reinterpret_cast<void (*)(const char*)>(::dlsym(cupti, "standin_range"));
    if (profiler == nullptr || range == nullptr) return 4;
    for (int i = 0; i < 3; ++i) {
      run(bad, 0, true);
      profiler(true);
      range("region");
      for (int k = 0; k <= i; ++k) run(good, 0, true);
      range(nullptr);
      profiler(false);
    }
    run(bad, 0, true);
    return 0;
  }
  if (is("refused")) {
    for (int i = 0; i < 10; ++i) run(bad, invalid_configuration, false);
    run(good, 0, true);
    return 0;
  }
  for (int i = 0; i < 3; ++i) run(good, 0, true);
  if (is("three")) return 0;
  run(bad, 0, false);
  if (is("hangs")) ::sleep(2);  // longer than the library lets pass between two looks
  if (is("killed") || is("hangs")) ::kill(::getpid(), SIGKILL);
  run(good, 0, false);
  wait(now(), ++id, illegal_address);
  return 0;
}
