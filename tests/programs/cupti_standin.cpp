// SPDX-License-Identifier: MIT
// A library that stands in for a CUPTI of the version MPROF_STANDIN_VERSION: it has the functions of that
// version, and gives records in its layouts. A test launches kernels in it by standin_launch().
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <cupti.h>
#include <cupti_pcsampling.h>
#include <generated_nvtx_meta.h>
#include <nvtx3/nvToolsExt.h>
#include <time.h>
#include <unistd.h>

#define STANDIN extern "C" __attribute__((visibility("default")))

namespace {

constexpr std::uint32_t version = MPROF_STANDIN_VERSION;

/// With what a later version than the headers' may have added.
struct KernelOfLater : CUpti_ActivityKernel10 {
  std::uint64_t later[4];
};
struct MemcpyOfLater : CUpti_ActivityMemcpy6 {
  std::uint64_t later[2];
};

template <class Old, class Middle, class New, class Later>
using of_version = std::conditional_t<
    (version < 19), Old,
    std::conditional_t<(version < 130000), Middle, std::conditional_t<(version < 130100), New, Later>>>;
using KernelRecord =
    of_version<CUpti_ActivityKernel8, CUpti_ActivityKernel9, CUpti_ActivityKernel10, KernelOfLater>;
using MemcpyRecord =
    of_version<CUpti_ActivityMemcpy5, CUpti_ActivityMemcpy5, CUpti_ActivityMemcpy6, MemcpyOfLater>;
using OverheadRecord = of_version<CUpti_ActivityOverhead, CUpti_ActivityOverhead2, CUpti_ActivityOverhead3,
                                  CUpti_ActivityOverhead3>;
using ContextRecord =
    of_version<CUpti_ActivityContext, CUpti_ActivityContext2, CUpti_ActivityContext3, CUpti_ActivityContext3>;

struct Standin {
  CUpti_CallbackFunc callback = nullptr;
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  std::vector<std::string> records{};  ///< not delivered yet
  std::vector<std::size_t> sizes{};    ///< of those of the buffer that is read
  bool has_context = false;
  bool watches_pushes = false;
  bool watches_starts = false;
  bool has_control = false;              ///< samples are taken between starts and stops alone
  bool samples = false;                  ///< kernels that are launched now
  std::vector<std::string> sampled{};    ///< kernels whose samples nobody has taken yet
  CUpti_PCSamplingData* rest = nullptr;  ///< what is filled when sampling ends
};
Standin& standin = *new Standin;  // never destroyed: the library flushes while the process ends
/// The library flushes on a thread of its own. Recursive: its callbacks read the records meanwhile.
std::recursive_mutex records_mutex;

template <class Record>
void keep(const Record& record) {
  const std::lock_guard lock(records_mutex);
  standin.records.emplace_back(reinterpret_cast<const char*>(&record), sizeof record);
}

/// What a field of a later version would be read from, were it read.
template <class Record>
Record new_record(CUpti_ActivityKind kind) {
  Record record;
  std::memset(static_cast<void*>(&record), 0, sizeof record);
  record.kind = kind;
  return record;
}

}  // namespace

STANDIN CUptiResult cuptiGetVersion(std::uint32_t* to) {
  *to = version;
  return CUPTI_SUCCESS;
}
STANDIN CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* /*to*/, CUpti_CallbackFunc callback,
                                   void* /*user*/) {
  standin.callback = callback;
  return CUPTI_SUCCESS;
}
#if MPROF_STANDIN_VERSION >= 130000
STANDIN CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* /*to*/, CUpti_CallbackFunc callback,
                                      void* /*user*/, CUpti_SubscriberParams* params) {
  if (params == nullptr || std::strcmp(params->subscriberName, "mprof") != 0)
    return CUPTI_ERROR_INVALID_PARAMETER;
  standin.callback = callback;
  return CUPTI_SUCCESS;
}
#endif
STANDIN CUptiResult cuptiEnableCallback(std::uint32_t enable, CUpti_SubscriberHandle /*subscriber*/,
                                        CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  if (domain == CUPTI_CB_DOMAIN_NVTX && id == CUPTI_CBID_NVTX_nvtxDomainRangePushEx)
    standin.watches_pushes = enable != 0;
  if (domain == CUPTI_CB_DOMAIN_NVTX && id == CUPTI_CBID_NVTX_nvtxDomainRangeStartEx)
    standin.watches_starts = enable != 0;
  return CUPTI_SUCCESS;
}
STANDIN CUptiResult cuptiEnableDomain(std::uint32_t /*enable*/, CUpti_SubscriberHandle /*subscriber*/,
                                      CUpti_CallbackDomain domain) {
  return version < 20 && domain == CUPTI_CB_DOMAIN_STATE ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS;
}
STANDIN CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType /*type*/) {
  return CUPTI_SUCCESS;
}
STANDIN CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute /*attribute*/, std::size_t* /*size*/,
                                              void* /*value*/) {
  return CUPTI_SUCCESS;
}
STANDIN CUptiResult cuptiGetStreamIdEx(CUcontext /*context*/, CUstream /*stream*/,
                                       std::uint8_t /*is_per_thread*/, std::uint32_t* id) {
  *id = 13;
  return CUPTI_SUCCESS;
}
/// Of a node whose handle is its id.
STANDIN CUptiResult cuptiGetGraphNodeId(CUgraphNode node, std::uint64_t* id) {
  *id = reinterpret_cast<std::uint64_t>(node);
  return CUPTI_SUCCESS;
}
STANDIN CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                                   CUpti_BuffersCallbackCompleteFunc complete) {
  standin.request = request;
  standin.complete = complete;
  return CUPTI_SUCCESS;
}
STANDIN CUptiResult cuptiActivityEnable(CUpti_ActivityKind /*kind*/) {
  return CUPTI_SUCCESS;
}
STANDIN CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext /*context*/, std::uint32_t /*stream*/,
                                                      std::size_t* dropped) {
  *dropped = 0;
  return CUPTI_SUCCESS;
}
STANDIN CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, std::uint32_t id, const char** name) {
  *name = domain == CUPTI_CB_DOMAIN_DRIVER_API                    ? "cuLaunchKernel"
          : id == CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000 ? "cudaLaunchKernel_v7000"
                                                                  : "cudaStreamSynchronize_v3020";
  return CUPTI_SUCCESS;
}
STANDIN CUptiResult cuptiGetResultString(CUptiResult /*result*/, const char** text) {
  *text = "CUPTI_ERROR_OF_THE_STANDIN";
  return CUPTI_SUCCESS;
}

// --- NVTX: ranges in domains, and their texts ---

namespace {

std::uint64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

struct OpenRange {
  std::uint32_t id = 0;
  const std::string* domain = nullptr;
};
std::vector<OpenRange> open_ranges;

/// The caller's may be gone before the record is read.
const char* kept_text(const char* text) {
  const std::lock_guard lock(records_mutex);
  static auto& texts = *new std::set<std::string>;
  return texts.insert(text).first->c_str();
}

void mark(const OpenRange& range, CUpti_ActivityFlag flag, const char* name) {
  auto marker = new_record<CUpti_ActivityMarker2>(CUPTI_ACTIVITY_KIND_MARKER);
  marker.flags = flag;
  marker.timestamp = now();
  marker.id = range.id;
  marker.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  marker.objectId.pt.threadId = static_cast<std::uint32_t>(::gettid());
  marker.name = name;
  marker.domain = range.domain->c_str();
  keep(marker);
}

nvtxDomainHandle_t create_domain(const char* name) {
  return reinterpret_cast<nvtxDomainHandle_t>(new std::string(name));
}

OpenRange begin(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  static std::uint32_t last = 0;
  const OpenRange range{++last, reinterpret_cast<const std::string*>(domain)};
  mark(range, CUPTI_ACTIVITY_FLAG_MARKER_START, kept_text(attributes->message.ascii));
  return range;
}

template <class Params>
void tell(CUpti_CallbackId id, nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  Params parameters{};
  parameters.domain = domain;
  parameters.core.eventAttrib = attributes;
  CUpti_NvtxData data{};
  data.functionParams = &parameters;
  standin.callback(nullptr, CUPTI_CB_DOMAIN_NVTX, id, &data);
}

int push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  open_ranges.push_back(begin(domain, attributes));
  if (standin.watches_pushes)
    tell<nvtxDomainRangePushEx_params>(CUPTI_CBID_NVTX_nvtxDomainRangePushEx, domain, attributes);
  return 0;
}

nvtxRangeId_t start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  const OpenRange range = begin(domain, attributes);
  if (standin.watches_starts)
    tell<nvtxDomainRangeStartEx_params>(CUPTI_CBID_NVTX_nvtxDomainRangeStartEx, domain, attributes);
  return range.id;
}

void end(nvtxDomainHandle_t domain, nvtxRangeId_t id) {
  mark({static_cast<std::uint32_t>(id), reinterpret_cast<const std::string*>(domain)},
       CUPTI_ACTIVITY_FLAG_MARKER_END, nullptr);
}

int pop(nvtxDomainHandle_t /*domain*/) {
  if (open_ranges.empty()) return NVTX_NO_PUSH_POP_TRACKING;
  mark(open_ranges.back(), CUPTI_ACTIVITY_FLAG_MARKER_END, nullptr);
  open_ranges.pop_back();
  return 0;
}

}  // namespace

STANDIN int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table) {
  const auto* const callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr || callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0)
    return 0;
  *table[NVTX_CBID_CORE2_DomainCreateA] = reinterpret_cast<NvtxFunctionPointer>(create_domain);
  *table[NVTX_CBID_CORE2_DomainRangePushEx] = reinterpret_cast<NvtxFunctionPointer>(push);
  *table[NVTX_CBID_CORE2_DomainRangePop] = reinterpret_cast<NvtxFunctionPointer>(pop);
  *table[NVTX_CBID_CORE2_DomainRangeStartEx] = reinterpret_cast<NvtxFunctionPointer>(start);
  *table[NVTX_CBID_CORE2_DomainRangeEnd] = reinterpret_cast<NvtxFunctionPointer>(end);
  return 1;
}

/// Of a buffer that holds nothing but whole records, one behind the other.
STANDIN CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t /*valid_size*/,
                                               CUpti_Activity** record) {
  std::size_t at = 0;
  for (const std::size_t size : standin.sizes) {
    const bool is_next = *record == nullptr || reinterpret_cast<std::uint8_t*>(*record) < buffer + at;
    if (is_next) {
      *record = reinterpret_cast<CUpti_Activity*>(buffer + at);
      return CUPTI_SUCCESS;
    }
    at += size;
  }
  return CUPTI_ERROR_MAX_LIMIT_REACHED;
}

STANDIN CUptiResult cuptiActivityFlushAll(std::uint32_t /*how*/) {
  const std::lock_guard lock(records_mutex);
  if (standin.request == nullptr || standin.records.empty()) return CUPTI_SUCCESS;
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0, most = 0;
  standin.request(&buffer, &size, &most);
  if (buffer == nullptr) return CUPTI_SUCCESS;
  std::size_t used = 0;
  standin.sizes.clear();
  std::memset(buffer, 0xEE, size);  // what lies behind the records is nobody's
  for (const std::string& record : standin.records) {
    std::memcpy(buffer + used, record.data(), record.size());
    used += record.size();
    standin.sizes.push_back(record.size());
  }
  standin.records.clear();
  standin.complete(nullptr, 0, buffer, size, used);
  return CUPTI_SUCCESS;
}

// --- Program counters: each kernel was found four times at one instruction, and once at another ---

STANDIN CUptiResult cuptiGetCubinCrc(CUpti_GetCubinCrcParams* params) {
  params->cubinCrc = params->cubinSize;
  return CUPTI_SUCCESS;
}
STANDIN CUptiResult cuptiPCSamplingEnable(CUpti_PCSamplingEnableParams* /*params*/) {
  standin.samples = true;
  return std::getenv("STANDIN_IS_BUSY") == nullptr ? CUPTI_SUCCESS : CUPTI_ERROR_HARDWARE_BUSY;
}
STANDIN CUptiResult cuptiPCSamplingGetNumStallReasons(CUpti_PCSamplingGetNumStallReasonsParams* params) {
  *params->numStallReasons = 3;
  return CUPTI_SUCCESS;
}
STANDIN CUptiResult cuptiPCSamplingGetStallReasons(CUpti_PCSamplingGetStallReasonsParams* params) {
  constexpr std::array names{"smsp__pcsamp_warps_issue_stalled_long_scoreboard",
                             "smsp__pcsamp_warps_issue_stalled_selected",
                             "smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued"};
  for (std::uint32_t i = 0; i < names.size(); ++i) {
    params->stallReasonIndex[i] = 20 + i;
    std::strcpy(params->stallReasons[i], names[i]);
  }
  return CUPTI_SUCCESS;
}
STANDIN CUptiResult
cuptiPCSamplingSetConfigurationAttribute(CUpti_PCSamplingConfigurationInfoParams* params) {
  for (std::size_t i = 0; i < params->numAttributes; ++i) {
    const CUpti_PCSamplingConfigurationInfo& one = params->pPCSamplingConfigurationInfo[i];
    if (one.attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL) {
      standin.has_control = one.attributeData.enableStartStopControlData.enableStartStopControl != 0;
      standin.samples = !standin.has_control;
    }
    if (one.attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER)
      standin.rest =
          static_cast<CUpti_PCSamplingData*>(one.attributeData.samplingDataBufferData.samplingDataBuffer);
  }
  return CUPTI_SUCCESS;
}
STANDIN CUptiResult cuptiPCSamplingStart(CUpti_PCSamplingStartParams* /*params*/) {
  if (!standin.has_control || standin.samples) return CUPTI_ERROR_INVALID_OPERATION;
  standin.samples = true;
  return CUPTI_SUCCESS;
}
STANDIN CUptiResult cuptiPCSamplingStop(CUpti_PCSamplingStopParams* /*params*/) {
  if (!standin.has_control || !standin.samples) return CUPTI_ERROR_INVALID_OPERATION;
  standin.samples = false;
  return CUPTI_SUCCESS;
}

namespace {

/// One kernel's samples fit: two instructions.
void fill(CUpti_PCSamplingData& data, const char* kernel) {
  const auto put = [&](std::size_t at, std::uint64_t offset, std::uint32_t waiting, std::uint32_t issuing) {
    CUpti_PCSamplingPCData& one = data.pPcData[at];
    one.cubinCrc = 77;
    one.functionIndex = kernel == kept_text("_Z4goodPf") ? 1 : 2;
    one.pcOffset = offset;
    one.functionName = const_cast<char*>(kernel);
    one.stallReasonCount = 2;
    one.stallReason[0] = {20, waiting};
    one.stallReason[1] = {21, issuing};
  };
  put(0, 16, 3, 1);
  put(1, 32, 0, 1);
  data.totalNumPcs = 2;
}

}  // namespace

/// A kernel's at a time, and the last one's only when sampling ends.
STANDIN CUptiResult cuptiPCSamplingGetData(CUpti_PCSamplingGetDataParams* params) {
  auto& data = *static_cast<CUpti_PCSamplingData*>(params->pcSamplingData);
  data.totalNumPcs = data.remainingNumPcs = 0;
  if (standin.sampled.size() < 2) return CUPTI_SUCCESS;
  fill(data, kept_text(standin.sampled.front().c_str()));
  standin.sampled.erase(standin.sampled.begin());
  data.remainingNumPcs = 2 * (standin.sampled.size() - 1);
  return CUPTI_SUCCESS;
}
STANDIN CUptiResult cuptiPCSamplingDisable(CUpti_PCSamplingDisableParams* /*params*/) {
  if (standin.rest != nullptr && !standin.sampled.empty())
    fill(*standin.rest, kept_text(standin.sampled.back().c_str()));
  standin.sampled.clear();
  return CUPTI_SUCCESS;
}

// --- What a test does with it ---

/// Launches a kernel at `start`, in ns since 1970, with this correlation id. `result`: what the call returns,
/// 0 for success. Without `ends` no record of it comes, as of one that faulted.
STANDIN void standin_launch(const char* name, std::uint64_t start, std::uint32_t correlation,
                            std::uint32_t result, bool ends) {
  name = kept_text(name);
  if (!standin.has_context) {
    standin.has_context = true;
    CUpti_ResourceData resource{};
    standin.callback(nullptr, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED, &resource);
    auto context = new_record<ContextRecord>(CUPTI_ACTIVITY_KIND_CONTEXT);
    context.contextId = 1;
    keep(context);
    constexpr std::string_view code = "machine code with a .debug_line that nobody can read";
    CUpti_ModuleResourceData module{};
    module.pCubin = code.data();
    module.cubinSize = code.size();
    resource.resourceDescriptor = &module;
    standin.callback(nullptr, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED, &resource);
  }
  cudaLaunchKernel_v7000_params runtime{};
  runtime.gridDim = dim3(7, 1, 65536);
  runtime.blockDim = dim3(32, 1, 1);
  cuLaunchKernel_params driver{};
  driver.gridDimX = 7;
  driver.gridDimY = driver.gridDimZ = driver.blockDimY = driver.blockDimZ = 1;
  driver.blockDimX = 32;
  CUpti_CallbackData call{};
  call.symbolName = name;
  call.correlationId = correlation;
  call.contextUid = 1;
  call.functionReturnValue = &result;
  const auto calls_back = [&](CUpti_CallbackDomain domain, CUpti_CallbackId id, CUpti_ApiCallbackSite site,
                              const void* parameters) {
    call.callbackSite = site;
    call.functionParams = parameters;
    standin.callback(nullptr, domain, id, &call);
  };
  constexpr auto of_runtime = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
  constexpr auto of_driver = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel;
  calls_back(CUPTI_CB_DOMAIN_RUNTIME_API, of_runtime, CUPTI_API_ENTER, &runtime);
  if (result == 0) {
    calls_back(CUPTI_CB_DOMAIN_DRIVER_API, of_driver, CUPTI_API_ENTER, &driver);
    if (standin.samples) standin.sampled.emplace_back(name);
    calls_back(CUPTI_CB_DOMAIN_DRIVER_API, of_driver, CUPTI_API_EXIT, &driver);
  }
  calls_back(CUPTI_CB_DOMAIN_RUNTIME_API, of_runtime, CUPTI_API_EXIT, &runtime);
  auto api = new_record<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME);
  api.cbid = of_runtime;
  api.start = start;
  api.end = start + 5;
  api.threadId = 1;
  api.correlationId = correlation;
  api.returnValue = result;
  keep(api);
  if (!ends) return;
  auto kernel = new_record<KernelRecord>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  kernel.start = start + 10;
  kernel.end = start + 30;
  kernel.correlationId = correlation;
  kernel.contextId = 1;
  kernel.streamId = 13;
  kernel.gridX = 7;
  kernel.name = name;
  kernel.localMemoryTotal_v2 = 4096;
  keep(kernel);
  auto copy = new_record<MemcpyRecord>(CUPTI_ACTIVITY_KIND_MEMCPY);
  copy.start = start + 40;
  copy.end = start + 50;
  copy.bytes = 1000;
  copy.copyKind = 1;
  copy.correlationId = correlation;
  keep(copy);
  auto overhead = new_record<OverheadRecord>(CUPTI_ACTIVITY_KIND_OVERHEAD);
  overhead.start = start + 60;
  overhead.end = start + 70;
  keep(overhead);
}

/// Waits for the stream: `result` is what the call returns.
STANDIN void standin_wait(std::uint64_t start, std::uint32_t correlation, std::uint32_t result) {
  auto api = new_record<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME);
  api.cbid = CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020;
  api.start = start;
  api.end = start + 5;
  api.threadId = 1;
  api.correlationId = correlation;
  api.returnValue = result;
  keep(api);
}

/// Gives a graph a node: by capture, or with `original` as a copy of that node.
STANDIN void standin_graph_node(std::uint64_t id, std::uint64_t original) {
  CUpti_GraphData graph{};
  graph.node = reinterpret_cast<CUgraphNode>(id);
  graph.originalNode = reinterpret_cast<CUgraphNode>(original);
  CUpti_ResourceData resource{};
  resource.resourceDescriptor = &graph;
  standin.callback(
      nullptr, CUPTI_CB_DOMAIN_RESOURCE,
      original == 0 ? CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED : CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED,
      &resource);
}

/// A kernel of a graph that was launched with this correlation id.
STANDIN void standin_graph_kernel(const char* name, std::uint64_t start, std::uint32_t correlation,
                                  std::uint64_t node) {
  auto kernel = new_record<KernelRecord>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  kernel.start = start;
  kernel.end = start + 20;
  kernel.correlationId = correlation;
  kernel.name = name;
  kernel.graphNodeId = node;
  keep(kernel);
}

/// cudaProfilerStart(), or cudaProfilerStop().
STANDIN void standin_profiler(bool starts) {
  CUpti_CallbackData call{};
  for (const auto site : {CUPTI_API_ENTER, CUPTI_API_EXIT}) {
    call.callbackSite = site;
    standin.callback(nullptr, CUPTI_CB_DOMAIN_RUNTIME_API,
                     starts ? CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStart_v4000
                            : CUPTI_RUNTIME_TRACE_CBID_cudaProfilerStop_v4000,
                     &call);
  }
}

/// nvtxRangePushA(), or nvtxRangePop() without a name.
STANDIN void standin_range(const char* name) {
  const nvtxRangePushA_params pushed{name};
  const nvtxRangePop_params popped{};
  CUpti_NvtxData data{};
  data.functionParams = name != nullptr ? static_cast<const void*>(&pushed) : &popped;
  standin.callback(nullptr, CUPTI_CB_DOMAIN_NVTX,
                   name != nullptr ? CUPTI_CBID_NVTX_nvtxRangePushA : CUPTI_CBID_NVTX_nvtxRangePop, &data);
}
