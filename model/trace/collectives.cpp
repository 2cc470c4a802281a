// SPDX-License-Identifier: MIT
#include "model/trace/collectives.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string>
#include <utility>

#include "model/enum_names.hpp"
#include "model/trace/nccl_messages.hpp"
#include "model/trace/nsys_schema.hpp"

namespace mprof::trace {
namespace {

using enum CollectiveKind;

constexpr EnumNames<CollectiveKind, 8> kind_names{{{all_reduce, "AllReduce"},
                                                   {all_gather, "AllGather"},
                                                   {reduce_scatter, "ReduceScatter"},
                                                   {all_to_all, "AllToAll"},
                                                   {broadcast, "Broadcast"},
                                                   {reduce, "Reduce"},
                                                   {send_receive, "Send/Recv"},
                                                   {other, "collective"}}};

/// How NCCL's kernels are called: ncclDevKernel_AllReduce_Sum_f32_RING_LL, ncclKernel_SendRecv_RING_SIMPLE.
/// What holds another one stands before it.
constexpr std::array<std::pair<std::string_view, CollectiveKind>, 8> kernel_words{
    {{"_AllReduce", all_reduce},
     {"_AllGather", all_gather},
     {"_ReduceScatter", reduce_scatter},
     {"_AllToAll", all_to_all},
     {"_Broadcast", broadcast},
     {"_Reduce", reduce},
     {"_SendRecv", send_receive},
     {"_Generic", other}}};

bool is_of(const Trace& trace, const KernelRow& row, std::int64_t process) {
  return trace.kernels.shared(row).process == process;
}

/// `to` has the calls and the ranges already, which may tell what collectives carry. The names are those of
/// the whole trace.
void copy_kernels(Trace& to, const Trace& from, CaseIndex index, std::int64_t process) {
  const auto messages = nccl_messages(to, from, index, process);
  for (const KernelRow& row : of_case(from.kernels.rows(), index)) {
    if (!is_of(from, row, process)) continue;
    Kernel kernel = from.kernels.whole(row);
    kernel.in_case = 0;
    const auto message = messages.find(kernel.correlation);
    if (kernel.message == 0 && message != messages.end()) kernel.message = to.messages.index(message->second);
    to.kernels.push_back(kernel);
  }
}

template <class Row>
void copy_rows(std::vector<Row>& to, const std::vector<Row>& from, CaseIndex index, std::int64_t process) {
  for (const Row& row : of_case(from, index)) {
    bool is_own = false;
    if constexpr (requires { row.thread; }) {
      is_own = nsys::process_of(row.thread) == process;
    } else {
      is_own = row.process == process;
    }
    if (!is_own) continue;
    to.push_back(row);
    to.back().in_case = 0;
  }
}

Interval window_of(const Trace& trace) {
  std::optional<Interval> window;
  const auto widen = [&](const auto& rows) {
    for (const auto& row : rows) {
      if (!window) window = row.time;
      window->start = std::min(window->start, row.time.start);
      window->end = std::max(window->end, row.time.end);
    }
  };
  widen(trace.kernels.rows());
  widen(trace.transfers);
  widen(trace.graphs);
  widen(trace.calls);
  return window.value_or(Interval{});
}

}  // namespace

std::string_view to_string(CollectiveKind kind) {
  return name_of(kind_names, kind);
}

bool parse(std::string_view text, CollectiveKind& kind) {
  return value_of(kind_names, text, kind);
}

double bus_factor(CollectiveKind kind, std::uint32_t ranks) {
  if (ranks < 2) return 1;
  const double others = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  switch (kind) {
    case all_reduce:
      return 2 * others;
    case all_gather:
    case reduce_scatter:
    case all_to_all:
      return others;
    default:
      return 1;
  }
}

std::optional<CollectiveKind> collective_kind(std::string_view name) {
  const std::size_t begin = name.find("nccl");
  if (begin == name.npos) return std::nullopt;
  for (const auto& [word, kind] : kernel_words) {
    if (name.find(word, begin) != name.npos) return kind;
  }
  return name.find("Kernel", begin) != name.npos ? std::optional(other) : std::nullopt;
}

std::vector<Collective> collectives_of(const Trace& trace, CaseIndex index, std::int64_t process) {
  std::vector<std::optional<std::optional<CollectiveKind>>> kinds(trace.names.size());
  std::vector<Collective> collectives;
  for (const KernelRow& row : of_case(trace.kernels.rows(), index)) {
    const Kernel& kernel = trace.kernels.shared(row);
    if (kernel.process != process) continue;
    auto& kind = kinds[kernel.name];
    if (!kind) kind = collective_kind(trace.names[kernel.name]);
    if (!*kind) continue;
    const Message& message = trace.messages[kernel.message];
    collectives.push_back({.time = row.time,
                           .kind = message.kind.value_or(**kind),
                           .group = message.group,
                           .group_size = message.group_size,
                           .bytes = message.bytes,
                           .is_of_one_rank = message.is_of_one_rank,
                           .queue = kernel.queue});
  }
  std::ranges::stable_sort(collectives, {}, [](const Collective& one) { return one.time.start; });
  return collectives;
}

Trace of_process(const Trace& trace, CaseIndex index, std::int64_t process) {
  Trace own{.epoch = trace.epoch, .names = trace.names};
  own.places = trace.places;
  own.messages = trace.messages;
  own.gpus = trace.gpus;
  copy_rows(own.transfers, trace.transfers, index, process);
  copy_rows(own.calls, trace.calls, index, process);
  copy_rows(own.system_calls, trace.system_calls, index, process);
  copy_rows(own.ranges, trace.ranges, index, process);
  copy_kernels(own, trace, index, process);
  for (const Range& frame : trace.frames) {
    if (nsys::process_of(frame.thread) == process) own.frames.push_back(frame);
  }
  copy_rows(own.synchronizations, trace.synchronizations, index, process);
  copy_rows(own.overheads, trace.overheads, index, process);
  copy_rows(own.graphs, trace.graphs, index, process);
  copy_rows(own.graph_nodes, trace.graph_nodes, index, process);
  own.cases.push_back({.id = index < trace.cases.size() ? trace.cases[index].id : std::string(),
                       .process = process,
                       .window = window_of(own)});
  return own;
}

std::vector<std::int64_t> rank_processes(const Trace& trace, CaseIndex index) {
  std::set<std::int64_t> all, with_collectives;
  for (const KernelRow& row : of_case(trace.kernels.rows(), index)) {
    const Kernel& kernel = trace.kernels.shared(row);
    all.insert(kernel.process);
    if (!with_collectives.contains(kernel.process) && collective_kind(trace.names[kernel.name]))
      with_collectives.insert(kernel.process);
  }
  for (const GraphExecution& graph : of_case(trace.graphs, index)) all.insert(graph.process);
  const std::set<std::int64_t>& ranks = with_collectives.empty() ? all : with_collectives;
  return {ranks.begin(), ranks.end()};
}

}  // namespace mprof::trace
