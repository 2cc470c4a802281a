#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

/// What one traced execution of a case left: every kernel, copy, CUDA call and range. Plain data, without
/// CUDA's headers. Times are in nanoseconds since the epoch, by the clock of the trace; sizes in bytes.
namespace mprof::trace {

struct Interval {
  std::int64_t start = 0;
  std::int64_t end = 0;
  [[nodiscard]] std::int64_t length() const { return end - start; }
  bool operator==(const Interval&) const = default;
};

/// Where in a case something belongs. Both are empty for what could not be attributed.
struct Place {
  std::string op{};    ///< empty: to none of them, as what a case does between two ops
  std::string part{};  ///< one of the parts below
  bool operator==(const Place&) const = default;
};

/// An index into Trace::places.
using PlaceIndex = std::uint32_t;
/// The place of what could not be attributed, and the first of Trace::places.
inline constexpr PlaceIndex nowhere = 0;

/// What all work on a GPU has.
struct GpuWork {
  Interval time{};
  std::uint32_t device = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t correlation = 0;  ///< the API call that launched it; several have the same in a graph
  std::uint64_t graph_node = 0;   ///< 0: not of a graph
  PlaceIndex place = nowhere;     ///< filled by attribute()
  bool operator==(const GpuWork&) const = default;
};

struct KernelSymbol {
  std::string mangled{};
  std::string demangled{};   ///< with namespaces, template arguments and parameters
  std::string short_name{};  ///< the function's own name
  bool operator==(const KernelSymbol&) const = default;
};

struct Kernel {
  GpuWork work{};
  std::uint32_t symbol = 0;  ///< index into Trace::symbols
  std::array<std::int32_t, 3> grid{};
  std::array<std::int32_t, 3> block{};
  std::uint32_t registers_per_thread = 0;
  std::int32_t static_shared_memory = 0;
  std::int32_t dynamic_shared_memory = 0;
  std::uint32_t local_memory_per_thread = 0;
  std::uint64_t local_memory_total = 0;
  std::uint32_t shared_memory_executed = 0;
  std::uint32_t shared_memory_limit = 0;  ///< 0: default, 1: more on request
  std::uint32_t cache_config = 0;         ///< as CUfunc_cache
  std::uint32_t launch_type = 0;          ///< 0: regular, 1 and 2: cooperative on one and on several devices
  std::int64_t grid_id = 0;
  bool operator==(const Kernel&) const = default;
};

/// The numbers are those of CUPTI and of ENUM_CUDA_MEMCPY_OPER.
enum class CopyKind : std::uint8_t {
  unknown = 0,
  host_to_device = 1,
  device_to_host = 2,
  host_to_array = 3,
  array_to_host = 4,
  array_to_array = 5,
  array_to_device = 6,
  device_to_array = 7,
  device_to_device = 8,
  host_to_host = 9,
  peer_to_peer = 10,
};

/// The numbers are those of ENUM_CUDA_MEM_KIND.
enum class MemoryKind : std::uint8_t {
  pageable = 0,
  pinned = 1,
  device = 2,
  array = 3,
  managed = 4,
  device_static = 5,
  managed_static = 6,
  unknown = 7,
};

struct Copy {
  GpuWork work{};
  std::uint64_t bytes = 0;
  CopyKind kind = CopyKind::unknown;
  MemoryKind source = MemoryKind::unknown;
  MemoryKind destination = MemoryKind::unknown;
  std::uint64_t count = 1;  ///< how many copies this record stands for
  bool operator==(const Copy&) const = default;
};

struct Set {
  GpuWork work{};
  std::uint32_t value = 0;
  std::uint64_t bytes = 0;
  MemoryKind memory = MemoryKind::unknown;
  bool operator==(const Set&) const = default;
};

enum class Api : std::uint8_t { runtime, driver };

struct ApiCall {
  Interval time{};
  Api api = Api::runtime;
  std::string name{};  ///< with the version, as CUPTI and nsys have it: cudaLaunchKernel_v7000
  std::uint32_t thread = 0;
  std::uint32_t correlation = 0;
  std::uint32_t result = 0;  ///< the cudaError_t or CUresult
  PlaceIndex place = nowhere;
  bool operator==(const ApiCall&) const = default;
};

/// The numbers are those of CUPTI and of ENUM_CUPTI_SYNC_TYPE.
enum class SynchronizationKind : std::uint8_t { unknown, event, stream_wait_event, stream, context };

struct Synchronization {
  Interval time{};
  SynchronizationKind kind = SynchronizationKind::unknown;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t event = 0;
  std::uint32_t correlation = 0;
  PlaceIndex place = nowhere;
  bool operator==(const Synchronization&) const = default;
};

/// Time that tracing and lazy loading took on the host.
struct Overhead {
  Interval time{};
  std::uint32_t kind = 0;  ///< as ENUM_CUPTI_OVERHEAD_TYPE
  std::uint32_t thread = 0;
  std::uint32_t correlation = 0;
  bool operator==(const Overhead&) const = default;
};

/// A range of a thread's time that code gave a name: mprof's own, and what a variant pushed by NVTX. A mark
/// is a range that ends when it starts.
struct Range {
  Interval time{};
  std::string name{};
  std::string domain{};  ///< empty: NVTX's default domain
  std::uint32_t thread = 0;
  std::uint32_t end_thread = 0;
  std::uint64_t id = 0;  ///< the external correlation id of mprof's own ranges; 0: somebody else's
  PlaceIndex place = nowhere;
  bool operator==(const Range&) const = default;
};

/// mprof's own range `external` was the innermost on the thread that made the API call `correlation`.
struct ExternalCorrelation {
  std::uint32_t correlation = 0;
  std::uint64_t external = 0;
};

/// What the trace lacks, and how sure the attribution is.
struct Counts {
  std::uint64_t dropped = 0;       ///< records that found no buffer
  std::uint64_t zero_time = 0;     ///< records without a start or an end; not used
  std::uint64_t reversed = 0;      ///< records that end before they start; not used
  std::uint64_t unattributed = 0;  ///< work of the GPU that no range could be found for
  std::uint64_t disagreements =
      0;  ///< API calls whose thread and time say another place than their external id
  bool operator==(const Counts&) const = default;
};

/// A GPU that the trace has work of.
struct Gpu {
  std::uint32_t id = 0;
  std::string name{};
  std::string bus_location{};
  std::string uuid{};
  std::uint64_t memory = 0;            ///< B
  std::uint64_t l2_cache = 0;          ///< B
  std::uint64_t memory_bandwidth = 0;  ///< B/s
  std::uint64_t clock_rate = 0;        ///< Hz
  std::uint32_t multiprocessors = 0;
  std::uint32_t compute_major = 0;
  std::uint32_t compute_minor = 0;
  std::uint32_t threads_per_warp = 0;
  std::uint32_t copy_engines = 0;
  bool operator==(const Gpu&) const = default;
};

struct Trace {
  std::string case_id{};
  std::uint32_t process = 0;
  Interval window{};  ///< the traced execution
  std::vector<Place> places{Place{}};
  std::vector<KernelSymbol> symbols{};
  std::vector<Kernel> kernels{};
  std::vector<Copy> copies{};
  std::vector<Set> sets{};
  std::vector<ApiCall> calls{};
  std::vector<Synchronization> synchronizations{};
  std::vector<Overhead> overheads{};
  std::vector<Range> ranges{};
  std::vector<ExternalCorrelation> external_correlations{};  ///< not in trace.sqlite, where places are
  std::vector<Gpu> gpus{};
  Counts counts{};

  /// The index of a place, which is added when it is new.
  [[nodiscard]] PlaceIndex index_of(const Place& place);
};

/// The domain of mprof's own ranges.
inline constexpr const char* own_domain = "mprof";

/// The parts of an op: its three stages, what lies between them, and what the runner does in a pause (which
/// is no work of the variant).
namespace part {
inline constexpr const char* prepare = "prepare";
inline constexpr const char* op = "op";
inline constexpr const char* finish = "finish";
inline constexpr const char* between = "between";
inline constexpr const char* pause = "pause";
}  // namespace part

}  // namespace mprof::trace
