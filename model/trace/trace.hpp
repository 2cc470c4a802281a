// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/trace/stacks.hpp"

/// The one model of a trace. The recorder fills it, trace.sqlite keeps it, and everything that reads a trace
/// is made from it. A trace has one case or many, and comes from mprof or from an export of Nsight Systems of
/// whatever version. It is plain rows, without CUDA's headers. Times are in nanoseconds from Trace::epoch,
/// sizes in bytes. What a file does not say is nullopt.
namespace mprof::trace {

/// In a result directory.
inline constexpr const char* file_name = "trace.sqlite";

struct Interval {
  std::int64_t start = 0;
  std::int64_t end = 0;
  [[nodiscard]] std::int64_t length() const { return end - start; }
  bool operator==(const Interval&) const = default;
};

/// An index into Trace::names.
using NameIndex = std::uint32_t;
/// An index into Trace::cases.
using CaseIndex = std::uint32_t;
/// The case of rows in a file that knows no cases.
inline constexpr CaseIndex no_case = ~CaseIndex{0};
/// An index into Trace::places.
using PlaceIndex = std::uint32_t;
/// The place of what could not be attributed, and the first of Trace::places.
inline constexpr PlaceIndex nowhere = 0;

/// Texts, each once: millions of rows share a few of them. The first is the empty one.
class Names {
 public:
  /// The index of a text, which is added when it is new.
  NameIndex index(std::string_view text);
  [[nodiscard]] const std::string& operator[](NameIndex index) const { return texts_[index]; }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }

 private:
  std::vector<std::string> texts_{std::string()};
  /// By the hashes of texts, so that no text is kept twice.
  std::unordered_multimap<std::size_t, NameIndex> known_;
};

/// Where in a case something belongs, as mprof attributed it. Both are empty for what could not be
/// attributed.
struct Place {
  std::string op{};    ///< empty: to none of them, as what a case does between two ops
  std::string part{};  ///< one of the parts below
  bool operator==(const Place&) const = default;
};

/// The parts of an op: its three stages, what lies between them, and what the runner does in a pause (which
/// is no work of the variant).
namespace part {
inline constexpr const char* prepare = "prepare";
inline constexpr const char* op = "op";
inline constexpr const char* finish = "finish";
inline constexpr const char* between = "between";
inline constexpr const char* pause = "pause";
}  // namespace part

/// Where work ran on a GPU.
struct Queue {
  std::uint32_t device = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t green_context = 0;  ///< 0: none
  bool operator==(const Queue&) const = default;
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the generated comparison with 0 for a pointer
  auto operator<=>(const Queue&) const = default;
};

using Size = std::array<std::int32_t, 3>;

/// Processes and threads are global ids, as Nsight Systems packs them (nsys_schema.hpp). Rows with the same
/// correlation id and process belong to one API call, which launched several of them in a graph.
struct Kernel {
  Interval time{};
  std::int64_t correlation = 0;
  std::int64_t process = 0;
  NameIndex name = 0;        ///< demangled, with namespaces, template arguments and parameters
  NameIndex short_name = 0;  ///< the function's own; 0: not known, as the next
  NameIndex mangled = 0;
  CaseIndex in_case = 0;
  PlaceIndex place = nowhere;
  Queue queue{};
  std::uint64_t graph_node = 0;  ///< 0: not of a graph, as the next
  std::uint64_t graph = 0;
  std::optional<Size> grid{};
  std::optional<Size> block{};
  std::optional<std::uint32_t> registers_per_thread{};
  std::optional<std::uint32_t> static_shared_memory{};
  std::optional<std::uint32_t> dynamic_shared_memory{};
  std::optional<std::uint32_t> local_memory_per_thread{};
  std::optional<std::uint64_t> local_memory_total{};
  std::optional<std::uint32_t> shared_memory_executed{};
  std::optional<std::uint32_t> shared_memory_limit{};  ///< 0: default, 1: more on request
  std::optional<std::uint32_t> cache_config{};         ///< as CUfunc_cache
  std::optional<std::uint32_t> launch_type{};          ///< as ENUM_CUDA_KERNEL_LAUNCH_TYPE
  std::optional<std::int64_t> grid_id{};
  std::optional<Size> cluster{};  ///< blocks of a cluster; 0 on each axis: the launch has none
  std::optional<std::uint32_t> cluster_scheduling_policy{};  ///< as CUclusterSchedulingPolicy
  std::optional<std::uint32_t> max_potential_cluster_size{};
  std::optional<std::uint32_t> max_active_clusters{};
  std::uint32_t message = 0;  ///< index into Trace::messages, of a kernel that carries one out
  bool operator==(const Kernel&) const = default;
};

enum class CollectiveKind : std::uint8_t;  // in collectives.hpp

/// What a file tells of a message between GPUs.
struct Message {
  NameIndex group = 0;                   ///< its communicator; 0: not known, as the next two
  std::uint32_t group_size = 0;          ///< ranks
  std::uint64_t bytes = 0;               ///< of AllGather all that arrives, of ReduceScatter all that is sent
  bool is_of_one_rank = false;           ///< `bytes` is what each rank has of these, as the size is not known
  std::optional<CollectiveKind> kind{};  ///< nullopt: as the kernel's name says
  bool operator==(const Message&) const = default;
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the generated comparison with 0 for a pointer
  auto operator<=>(const Message&) const = default;
};

/// Messages, each once. The first one says nothing.
class Messages {
 public:
  /// The index of one, which is added when it is new.
  std::uint32_t index(const Message& message);
  [[nodiscard]] const Message& operator[](std::uint32_t index) const { return all_[index]; }

 private:
  std::vector<Message> all_{Message{}};
  std::map<Message, std::uint32_t> known_{{Message{}, 0}};
};

/// What a kernel has to itself, in forty bytes; the rest is kept once for all that share it.
struct KernelRow {
  Interval time{};
  CaseIndex in_case = 0;
  PlaceIndex place = nowhere;
  std::uint32_t shared = 0;       ///< where the rest of it stands
  std::uint32_t correlation = 0;  ///< the lower half, as of the next; the upper halves are shared
  std::uint32_t low_graph_node = 0;
  std::uint32_t grid_id = 0;
};

/// Many kernels. One that is looked at is put together again: it is a value, and is not changed by changing
/// it.
class Kernels : public std::vector<KernelRow> {
 public:
  class Iterator {
   public:
    // NOLINTBEGIN(readability-identifier-naming): the standard library's names
    using iterator_concept = std::random_access_iterator_tag;
    using value_type = Kernel;
    using difference_type = std::ptrdiff_t;
    // NOLINTEND(readability-identifier-naming)
    Iterator() = default;
    Iterator(const Kernels& of, std::size_t at) : of_(&of), at_(static_cast<difference_type>(at)) {}
    Kernel operator*() const { return (*of_)[static_cast<std::size_t>(at_)]; }
    Kernel operator[](difference_type n) const { return *(*this + n); }
    Iterator& operator+=(difference_type n) {
      at_ += n;
      return *this;
    }
    Iterator& operator-=(difference_type n) { return *this += -n; }
    Iterator& operator++() { return *this += 1; }
    Iterator& operator--() { return *this -= 1; }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    Iterator operator--(int) {
      const Iterator before = *this;
      --*this;
      return before;
    }
    friend Iterator operator+(Iterator a, difference_type n) { return a += n; }
    friend Iterator operator+(difference_type n, Iterator a) { return a += n; }
    friend Iterator operator-(Iterator a, difference_type n) { return a -= n; }
    friend difference_type operator-(const Iterator& a, const Iterator& b) { return a.at_ - b.at_; }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }
    friend bool operator<(const Iterator& a, const Iterator& b) { return a.at_ < b.at_; }
    friend bool operator>(const Iterator& a, const Iterator& b) { return b < a; }
    friend bool operator<=(const Iterator& a, const Iterator& b) { return !(b < a); }
    friend bool operator>=(const Iterator& a, const Iterator& b) { return !(a < b); }

   private:
    const Kernels* of_ = nullptr;
    difference_type at_ = 0;
  };
  /// Some that stand together.
  class Span {
   public:
    Span(const Kernels& of, std::size_t first, std::size_t count)
        : begin_(of, first), end_(of, first + count) {}
    [[nodiscard]] Iterator begin() const { return begin_; }
    [[nodiscard]] Iterator end() const { return end_; }
    [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(end_ - begin_); }
    [[nodiscard]] bool empty() const { return begin_ == end_; }
    [[nodiscard]] Kernel operator[](std::size_t index) const {
      return begin_[static_cast<std::ptrdiff_t>(index)];
    }

   private:
    Iterator begin_, end_;
  };

  void push_back(const Kernel& kernel) { rows().push_back(row_of(kernel)); }
  [[nodiscard]] Kernel operator[](std::size_t index) const { return whole(rows()[index]); }
  [[nodiscard]] Kernel at(std::size_t index) const { return whole(rows().at(index)); }
  [[nodiscard]] Kernel front() const { return whole(rows().front()); }
  [[nodiscard]] Kernel back() const { return whole(rows().back()); }
  [[nodiscard]] Iterator begin() const { return {*this, 0}; }
  [[nodiscard]] Iterator end() const { return {*this, size()}; }
  bool operator==(const Kernels& other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }

  [[nodiscard]] std::vector<KernelRow>& rows() { return *this; }
  [[nodiscard]] const std::vector<KernelRow>& rows() const { return *this; }
  /// What a row shares with others: all but its times, its case, its place and its ids.
  [[nodiscard]] const Kernel& shared(const KernelRow& row) const { return shared_[row.shared]; }
  [[nodiscard]] Kernel whole(const KernelRow& row) const;
  [[nodiscard]] std::int64_t correlation(const KernelRow& row) const;
  void set_correlation(KernelRow& row, std::int64_t id);
  [[nodiscard]] std::uint64_t graph_node(const KernelRow& row) const {
    return shared(row).graph_node | row.low_graph_node;
  }
  /// Calls change(kernel) for one, or for each, and keeps what it made of it.
  template <class Change>
  void change(std::size_t index, const Change& change) {
    Kernel kernel = (*this)[index];
    change(kernel);
    rows()[index] = row_of(kernel);
  }
  template <class Change>
  void change_all(const Change& change_one) {
    for (std::size_t i = 0; i < size(); ++i) change(i, change_one);
  }

 private:
  KernelRow row_of(const Kernel& kernel);
  std::uint32_t index_of_shared(const Kernel& kernel);

  std::vector<Kernel> shared_;
  std::unordered_multimap<std::size_t, std::uint32_t> known_;  ///< by their hashes
};

/// A graph that was traced as one piece of work: its kernels are not known.
struct GraphExecution {
  Interval time{};
  std::int64_t correlation = 0;
  std::int64_t process = 0;
  std::uint64_t graph = 0;
  std::uint64_t graph_exec = 0;
  CaseIndex in_case = 0;
  PlaceIndex place = nowhere;
  Queue queue{};
  bool operator==(const GraphExecution&) const = default;
};

/// A node that a CUDA graph was given: while a stream was captured, by a call that adds it, or as a copy of
/// another one. Graphs are copied when they are instantiated, cloned, or put into another graph.
struct GraphNode {
  Interval time{};  ///< a moment: it ends when it starts
  std::int64_t thread = 0;
  std::uint64_t id = 0;        ///< as Kernel::graph_node has it; of no other node of the process
  std::uint64_t original = 0;  ///< of which it is a copy; 0: of none
  CaseIndex in_case = 0;
  StackIndex stack = no_stack;  ///< of the launch that was captured
  bool operator==(const GraphNode&) const = default;
};

/// The numbers of copies are as in CUPTI and in ENUM_CUDA_MEMCPY_OPER; a newer file may have others.
enum class TransferKind : std::uint8_t {
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
  unified_host_to_device = 11,  ///< pages of unified memory that migrate, as the next
  unified_device_to_host = 12,
  unified_device_to_device = 13,
  set = 255,  ///< no copy: memory is set to a value
};

[[nodiscard]] constexpr bool is_into_device(TransferKind kind) {
  using enum TransferKind;
  return kind == host_to_device || kind == host_to_array || kind == unified_host_to_device;
}
[[nodiscard]] constexpr bool is_out_of_device(TransferKind kind) {
  using enum TransferKind;
  return kind == device_to_host || kind == array_to_host || kind == unified_device_to_host;
}
[[nodiscard]] constexpr bool is_migration(TransferKind kind) {
  using enum TransferKind;
  return kind == unified_host_to_device || kind == unified_device_to_host || kind == unified_device_to_device;
}

/// The numbers are as in ENUM_CUDA_MEM_KIND; a newer file may have others.
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

/// A copy, or a memset.
struct Transfer {
  Interval time{};
  std::int64_t correlation = 0;
  std::int64_t process = 0;
  std::uint64_t bytes = 0;
  CaseIndex in_case = 0;
  PlaceIndex place = nowhere;
  Queue queue{};
  TransferKind kind = TransferKind::unknown;
  std::optional<MemoryKind> source{};  ///< of a memset: what is set
  std::optional<MemoryKind> destination{};
  std::uint64_t graph_node = 0;          ///< 0: not of a graph
  std::optional<std::uint64_t> count{};  ///< how many copies this row stands for
  std::optional<std::uint32_t> value{};  ///< of a memset
  [[nodiscard]] bool is_set() const { return kind == TransferKind::set; }
  bool operator==(const Transfer&) const = default;
};

enum class Api : std::uint8_t { runtime, driver };

/// A call on a host thread: of CUDA, or of the operating system.
struct Call {
  Interval time{};
  std::int64_t correlation = 0;
  std::int64_t thread = 0;
  NameIndex name = 0;            ///< as nsys prints it: call_name(versioned_name)
  NameIndex versioned_name = 0;  ///< as CUPTI and files have it: cudaLaunchKernel_v7000
  CaseIndex in_case = 0;
  PlaceIndex place = nowhere;
  StackIndex stack = no_stack;
  Api api = Api::runtime;
  std::optional<std::uint32_t> result{};  ///< the cudaError_t or CUresult
  bool operator==(const Call&) const = default;
};

/// The numbers are as in CUPTI and in ENUM_CUPTI_SYNC_TYPE.
enum class SynchronizationKind : std::uint8_t { unknown, event, stream_wait_event, stream, context };

struct Synchronization {
  Interval time{};
  std::int64_t correlation = 0;
  std::int64_t process = 0;
  CaseIndex in_case = 0;
  PlaceIndex place = nowhere;
  SynchronizationKind kind = SynchronizationKind::unknown;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t event = 0;
  std::optional<std::uint32_t> event_sync{};  ///< which recording of the event is waited for
  bool operator==(const Synchronization&) const = default;
};

/// Memory that a program was given by CUDA, or that it gave back.
struct Allocation {
  Interval time{};  ///< a moment: it ends when it starts
  std::int64_t correlation = 0;
  std::int64_t process = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  CaseIndex in_case = 0;
  PlaceIndex place = nowhere;
  Queue queue{};
  MemoryKind kind = MemoryKind::unknown;
  bool is_release = false;
  [[nodiscard]] bool is_on_gpu() const {
    return kind == MemoryKind::device || kind == MemoryKind::array || kind == MemoryKind::managed;
  }
  bool operator==(const Allocation&) const = default;
};

/// Time that tracing and lazy loading took on the host.
struct Overhead {
  Interval time{};
  std::int64_t correlation = 0;
  std::int64_t thread = 0;
  CaseIndex in_case = 0;
  std::uint32_t kind = 0;  ///< as ENUM_CUPTI_OVERHEAD_TYPE
  bool operator==(const Overhead&) const = default;
};

/// `extent`: the time of an op or of a whole program, which mprof found out; no code gave it a name.
enum class RangeStyle : std::uint8_t { push_pop, start_end, mark, extent };

/// A range of a thread's time that code gave a name: mprof's own, and what a program told NVTX. A mark is one
/// that ends when it starts; it is written, and not read again.
struct Range {
  Interval time{};
  std::int64_t thread = 0;
  std::int64_t end_thread = 0;
  NameIndex name = 0;    ///< domain:text
  NameIndex domain = 0;  ///< 0: NVTX's default domain
  CaseIndex in_case = 0;
  RangeStyle style = RangeStyle::push_pop;
  PlaceIndex place = nowhere;
  NameIndex payload = 0;  ///< what the program attached to it, as JSON; 0: nothing
  std::uint64_t id = 0;   ///< the external correlation id of mprof's own ranges; 0: somebody else's
  std::int64_t row = 0;   ///< where it stands in an export's NVTX_EVENTS; 0: it is of no export
  bool operator==(const Range&) const = default;
};

/// When the runner did work of its own between two stages, such as flushing the caches: no work of the
/// variant.
struct Pause {
  Interval time{};
  CaseIndex in_case = 0;
  bool operator==(const Pause&) const = default;
};

/// The domain of mprof's own ranges.
inline constexpr const char* own_domain = "mprof";
/// The domain of NCCL's, the only one whose payloads are read from a file.
inline constexpr const char* nccl_domain = "NCCL";

/// What the trace of a case lacks, and how sure the attribution is.
struct Counts {
  std::uint64_t dropped = 0;       ///< records that found no buffer
  std::uint64_t zero_time = 0;     ///< records without a start or an end; not used
  std::uint64_t reversed = 0;      ///< records that end before they start; not used
  std::uint64_t overlapping = 0;   ///< work that ran on beyond later work of its own stream; not used
  std::uint64_t early = 0;         ///< work that begins well before the call that launched it; used
  std::uint64_t unattributed = 0;  ///< work of the GPU that no range could be found for
  /// API calls whose thread and time say another place than their external id.
  std::uint64_t disagreements = 0;
  bool operator==(const Counts&) const = default;
};

/// A case that was traced: one execution.
struct CaseInfo {
  std::string id{};
  std::int64_t process = 0;
  Interval window{};
  Counts counts{};
  bool operator==(const CaseInfo&) const = default;
};

/// A process that the trace has something of.
struct ProcessInfo {
  std::int64_t id = 0;                        ///< global
  std::string name{};                         ///< empty: not known
  CaseIndex in_case = 0;                      ///< that it ran in
  std::optional<std::uint32_t> rank{};        ///< of a distributed program, as the next
  std::optional<std::uint32_t> world_size{};  ///< how many ranks there are
  bool operator==(const ProcessInfo&) const = default;
};

struct ThreadInfo {
  std::int64_t id = 0;  ///< global
  std::string name{};
  bool operator==(const ThreadInfo&) const = default;
};

/// A CUDA context, as far as CUPTI tells of it.
struct ContextInfo {
  std::int64_t process = 0;
  std::uint32_t device = 0;
  std::uint32_t id = 0;
  std::uint32_t parent = 0;  ///< 0: none
  std::uint32_t null_stream = 0;
  bool is_green = false;
  std::optional<std::uint32_t> multiprocessors{};  ///< of a green context
  bool operator==(const ContextInfo&) const = default;
};

/// A GPU that the trace has work of.
struct Gpu {
  std::uint32_t id = 0;  ///< the number that CUDA gives it
  std::string name{};
  std::string bus_location{};
  std::string uuid{};
  std::optional<std::uint64_t> memory{};            ///< B
  std::optional<std::uint64_t> l2_cache{};          ///< B
  std::optional<std::uint64_t> memory_bandwidth{};  ///< B/s
  std::optional<std::uint64_t> clock_rate{};        ///< Hz
  std::optional<std::uint32_t> multiprocessors{};
  std::optional<std::uint32_t> compute_major{};
  std::optional<std::uint32_t> compute_minor{};
  std::optional<std::uint32_t> threads_per_warp{};
  std::optional<std::uint32_t> copy_engines{};
  std::string chip{};  ///< "GH100"; empty: not known
  bool operator==(const Gpu&) const = default;
};

/// A metric of a GPU over time, such as how many of its multiprocessors are active. The values are in the
/// unit that the name ends with, as "SMs Active [Throughput %]".
struct GpuCurve {
  std::string name{};
  std::vector<float> values{};  ///< of each sample; NaN: not measured
  bool operator==(const GpuCurve&) const = default;
};

/// What a whole GPU counted at a fixed interval, whoever used it (gpu_samples.hpp).
struct GpuSamples {
  CaseIndex in_case = 0;
  std::uint32_t device = 0;
  std::int64_t interval = 0;      ///< ns, the usual length of a sample
  std::vector<Interval> times{};  ///< in order, and none overlaps another; between two there may be a gap
  std::vector<GpuCurve> curves{};
  bool operator==(const GpuSamples&) const = default;
};

/// What an export tells of beside kernels, copies, calls of CUDA and ranges.
/// In the order of tables: metrics have a row for each of many names.
enum class TallyKind : std::uint8_t {
  unified_memory,
  graphs,
  nccl,
  mpi,
  ucx,
  openmp,
  openacc,
  operating_system,  ///< calls of the C library
  kernel_calls,      ///< calls of the operating system's kernel, most of them within those
  unread,
  gpu_metrics,
  network,
  storage,
};

/// How much there is of one kind and name in an op. Samples of a metric come by millions, so that they are
/// summed as they are read.
struct Tally {
  TallyKind kind = TallyKind::unread;
  std::string op{};  ///< empty: the file knows no ops; outside_of_ranges: in none of them
  std::string name{};
  std::string unit{};  ///< of the amounts; empty: they have none, or their name has it
  CaseIndex in_case = 0;
  std::optional<std::uint32_t> device{};
  std::uint64_t count = 0;
  std::uint64_t timed = 0;     ///< of these so many have a duration
  std::int64_t time = 0;       ///< ns, of all of these
  std::uint64_t measured = 0;  ///< so many have an amount
  double amount = 0;           ///< of all of these
  double smallest = 0;
  double largest = 0;
  bool operator==(const Tally&) const = default;
};

/// The rows of each kind stand case by case, and within a case in the order of the file.
struct Trace {
  std::int64_t epoch = 0;  ///< ns since 1970 at which the times begin
  Names names{};
  std::vector<Place> places{Place{}};
  std::vector<CaseInfo> cases{};
  Stacks stacks{};
  Kernels kernels{};
  Messages messages{};
  std::vector<Transfer> transfers{};
  std::vector<Call> calls{};
  std::vector<Call> system_calls{};
  std::vector<Range> ranges{};
  std::vector<Range>
      frames{};  ///< functions of Python, as PyTorch's profiler saw them; in no file of mprof's
  std::vector<Pause> pauses{};  ///< read with what they are left out of, and with the ranges
  std::vector<Synchronization> synchronizations{};
  std::vector<Overhead> overheads{};
  std::vector<Allocation> allocations{};
  std::vector<GraphExecution> graphs{};
  std::vector<GraphNode> graph_nodes{};
  std::vector<GpuSamples> gpu_samples{};
  std::vector<Tally> tallies{};  ///< of an export's other tables (tallies.hpp)
  std::vector<ProcessInfo> processes{};
  std::vector<ThreadInfo> threads{};
  std::vector<ContextInfo> contexts{};
  std::vector<Gpu> gpus{};
  std::vector<std::string> unread_tables{};  ///< of the file: newer forms of tables that are known
  std::uint64_t open_ranges = 0;             ///< of the file: without an end, and not among the ranges
  std::string product{};         ///< what wrote the file, with its version; empty: it does not say
  std::string schema_version{};  ///< of the file; empty: it does not say
  /// ns; shorter calls of the operating system were left out.
  std::optional<std::int64_t> system_call_threshold{};
  std::map<std::string, std::string> system{};  ///< of the machine, as TARGET_INFO_SYSTEM_ENV names it
  /// As the file names the numbers; it may know more than nsys_schema.hpp, which has the rest.
  std::unordered_map<std::uint8_t, std::string> transfer_labels{};
  std::unordered_map<std::uint8_t, std::string> memory_labels{};

  /// The index of a place, which is added when it is new.
  [[nodiscard]] PlaceIndex index_of(const Place& place);
  /// "Host-to-Device", of a copy.
  [[nodiscard]] std::string way(TransferKind kind) const;
  /// "[CUDA memcpy Host-to-Device]", "[CUDA memset]"
  [[nodiscard]] std::string operation(TransferKind kind) const;
  /// "Pageable"; empty when it is not known.
  [[nodiscard]] std::string memory(const std::optional<MemoryKind>& kind) const;
  /// "NVIDIA H200 (0)", or the number alone.
  [[nodiscard]] std::string device(std::uint32_t id) const;
  /// The name of a range without its domain.
  [[nodiscard]] std::string_view text_of(const Range& range) const;
};

/// Adds the rows of a trace of other processes: kernels, transfers, calls, ranges, contexts and the rest, not
/// its cases, places, GPUs, processes and threads.
void add_rows(Trace& to, const Trace& from);

/// The indices of all cases by their ids, which point into the trace.
[[nodiscard]] std::unordered_map<std::string_view, CaseIndex> case_indices(const Trace& trace);

/// As nsys prints it: cudaLaunchKernel for cudaLaunchKernel_v7000; versions of five digits stay.
[[nodiscard]] std::string_view call_name(std::string_view versioned_name);

/// What a call of CUDA's runtime or driver is for.
enum class CallKind : std::uint8_t { wait, allocation, transfer, launch, other };
[[nodiscard]] CallKind call_kind(std::string_view name);

/// The same of the calls of a trace, which outlives it: each name is looked at once.
class CallKinds {
 public:
  explicit CallKinds(const Trace& trace) : trace_(trace), kinds_(trace.names.size()) {}
  [[nodiscard]] CallKind of(const Call& call) {
    std::optional<CallKind>& kind = kinds_[call.name];
    if (!kind) kind = call_kind(trace_.names[call.name]);
    return *kind;
  }

 private:
  const Trace& trace_;
  std::vector<std::optional<CallKind>> kinds_;
};

/// The rows of a case, which stand together.
template <class Row>
[[nodiscard]] std::span<const Row> of_case(const std::vector<Row>& rows, CaseIndex index) {
  return {std::ranges::lower_bound(rows, index, {}, &Row::in_case),
          std::ranges::upper_bound(rows, index, {}, &Row::in_case)};
}
[[nodiscard]] inline Kernels::Span of_case(const Kernels& kernels, CaseIndex index) {
  const std::span<const KernelRow> rows = of_case(kernels.rows(), index);
  return {kernels, static_cast<std::size_t>(rows.data() - kernels.data()), rows.size()};
}

}  // namespace mprof::trace
