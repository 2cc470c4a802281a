// SPDX-License-Identifier: MIT
#include "model/trace/trace.hpp"

#include <cctype>
#include <functional>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include "model/trace/nsys_schema.hpp"

namespace mprof::trace {
namespace {

/// What the file calls a number, or else Nsight Systems; empty when neither knows it.
std::string label(const std::unordered_map<std::uint8_t, std::string>& of_file,
                  const nsys::Enumeration& known, std::uint8_t number) {
  if (const auto found = of_file.find(number); found != of_file.end()) return found->second;
  const auto row = std::ranges::find(known.rows, int{number}, &nsys::EnumRow::id);
  return row == known.rows.end() ? std::string() : std::string(row->label);
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.find(word) != text.npos; });
}

}  // namespace

NameIndex Names::index(std::string_view text) {
  if (text.empty()) return 0;
  const std::size_t hash = std::hash<std::string_view>()(text);
  const auto [begin, end] = known_.equal_range(hash);
  for (auto one = begin; one != end; ++one) {
    if (texts_[one->second] == text) return one->second;
  }
  const auto next = static_cast<NameIndex>(texts_.size());
  texts_.emplace_back(text);
  known_.emplace(hash, next);
  return next;
}

namespace {

constexpr int half = 32;  // bits

constexpr std::uint32_t lower(std::int64_t id) {
  return static_cast<std::uint32_t>(id);
}
constexpr std::int64_t upper(std::int64_t id) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(id) >> half << half);
}
constexpr std::int64_t both(std::int64_t upper_half, std::uint32_t lower_half) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(upper_half) | lower_half);
}

/// Of all that kernels share. Where something were left out, a file in which only that differs would take the
/// square of its length.
std::size_t hash_of(const Kernel& kernel) {
  constexpr std::size_t factor = 0x9E3779B97F4A7C15U;
  std::size_t hash = 0;
  const auto add = [&](auto number) {
    hash = (hash ^ static_cast<std::size_t>(number)) * factor;
    hash ^= hash >> half;
  };
  const auto add_known = [&](const auto& number) { add(number ? static_cast<std::int64_t>(*number) : -1); };
  for (const std::optional<Size>& size : {kernel.grid, kernel.block, kernel.cluster}) {
    for (const std::int32_t axis : size.value_or(Size{-1, -1, -1})) add(axis);
  }
  for (const NameIndex name : {kernel.name, kernel.short_name, kernel.mangled}) add(name);
  for (const std::uint32_t number :
       {kernel.queue.device, kernel.queue.context, kernel.queue.stream, kernel.queue.green_context})
    add(number);
  for (const std::int64_t id : {kernel.correlation, kernel.process}) add(id);
  for (const std::uint64_t id : {kernel.graph, kernel.graph_node}) add(id);
  for (const auto& number :
       {kernel.registers_per_thread, kernel.static_shared_memory, kernel.dynamic_shared_memory,
        kernel.local_memory_per_thread, kernel.shared_memory_executed, kernel.shared_memory_limit,
        kernel.cache_config, kernel.launch_type, kernel.cluster_scheduling_policy,
        kernel.max_potential_cluster_size, kernel.max_active_clusters})
    add_known(number);
  add_known(kernel.local_memory_total);
  add_known(kernel.grid_id);
  add(kernel.message);
  return hash;
}

}  // namespace

std::uint32_t Kernels::index_of_shared(const Kernel& kernel) {
  const std::size_t hash = hash_of(kernel);
  const auto [begin, end] = known_.equal_range(hash);
  for (auto one = begin; one != end; ++one) {
    if (shared_[one->second] == kernel) return one->second;
  }
  const auto next = static_cast<std::uint32_t>(shared_.size());
  shared_.push_back(kernel);
  known_.emplace(hash, next);
  return next;
}

KernelRow Kernels::row_of(const Kernel& kernel) {
  KernelRow row{.time = kernel.time,
                .in_case = kernel.in_case,
                .place = kernel.place,
                .correlation = lower(kernel.correlation),
                .low_graph_node = lower(static_cast<std::int64_t>(kernel.graph_node)),
                .grid_id = lower(kernel.grid_id.value_or(0))};
  Kernel shared = kernel;
  shared.time = {};
  shared.in_case = 0;
  shared.place = nowhere;
  shared.correlation = upper(kernel.correlation);
  shared.graph_node = static_cast<std::uint64_t>(upper(static_cast<std::int64_t>(kernel.graph_node)));
  if (shared.grid_id) shared.grid_id = upper(*shared.grid_id);
  row.shared = index_of_shared(shared);
  return row;
}

std::int64_t Kernels::correlation(const KernelRow& row) const {
  return both(shared(row).correlation, row.correlation);
}

void Kernels::set_correlation(KernelRow& row, std::int64_t id) {
  row.correlation = lower(id);
  if (upper(id) == shared(row).correlation) return;
  Kernel changed = shared(row);
  changed.correlation = upper(id);
  row.shared = index_of_shared(changed);
}

Kernel Kernels::whole(const KernelRow& row) const {
  Kernel kernel = shared(row);
  kernel.time = row.time;
  kernel.in_case = row.in_case;
  kernel.place = row.place;
  kernel.correlation = both(kernel.correlation, row.correlation);
  kernel.graph_node |= row.low_graph_node;
  if (kernel.grid_id) kernel.grid_id = both(*kernel.grid_id, row.grid_id);
  return kernel;
}

PlaceIndex Trace::index_of(const Place& place) {
  const auto found = std::ranges::find(places, place);
  if (found != places.end()) return static_cast<PlaceIndex>(found - places.begin());
  places.push_back(place);
  return static_cast<PlaceIndex>(places.size() - 1);
}

std::uint32_t Messages::index(const Message& message) {
  const auto [entry, is_new] = known_.try_emplace(message, static_cast<std::uint32_t>(all_.size()));
  if (is_new) all_.push_back(message);
  return entry->second;
}

std::string Trace::way(TransferKind kind) const {
  const std::string way = label(transfer_labels, nsys::copy_kinds, static_cast<std::uint8_t>(kind));
  return way.empty() ? "Unknown" : way;
}

std::string Trace::operation(TransferKind kind) const {
  return kind == TransferKind::set ? "[CUDA memset]" : fmt::format("[CUDA memcpy {}]", way(kind));
}

std::string Trace::memory(const std::optional<MemoryKind>& kind) const {
  return kind ? label(memory_labels, nsys::memory_kinds, static_cast<std::uint8_t>(*kind)) : std::string();
}

std::string Trace::device(std::uint32_t id) const {
  const auto gpu = std::ranges::find(gpus, id, &Gpu::id);
  return gpu == gpus.end() ? std::to_string(id) : fmt::format("{} ({})", gpu->name, id);
}

std::string_view Trace::text_of(const Range& range) const {
  return std::string_view(names[range.name]).substr(names[range.domain].size() + 1);
}

void add_rows(Trace& to, const Trace& from) {
  const auto renamed = [&](NameIndex index) { return to.names.index(from.names[index]); };
  for (Kernel kernel : from.kernels) {
    kernel.name = renamed(kernel.name);
    kernel.short_name = renamed(kernel.short_name);
    kernel.mangled = renamed(kernel.mangled);
    if (kernel.message != 0) {
      Message message = from.messages[kernel.message];
      message.group = renamed(message.group);
      kernel.message = to.messages.index(message);
    }
    to.kernels.push_back(kernel);
  }
  std::unordered_map<StackIndex, StackIndex> stacks;
  const auto restacked = [&](StackIndex index) {
    const auto [entry, is_new] = stacks.try_emplace(index, no_stack);
    if (is_new) {
      std::vector<StackFrame> frames(from.stacks[index].begin(), from.stacks[index].end());
      for (StackFrame& frame : frames) {
        frame.function = renamed(frame.function);
        frame.module = renamed(frame.module);
        frame.file = renamed(frame.file);
      }
      entry->second = to.stacks.index(frames);
    }
    return entry->second;
  };
  const auto add_calls = [&](std::vector<Call>& all, const std::vector<Call>& calls) {
    for (Call call : calls) {
      call.name = renamed(call.name);
      call.versioned_name = renamed(call.versioned_name);
      call.stack = restacked(call.stack);
      all.push_back(call);
    }
  };
  add_calls(to.calls, from.calls);
  add_calls(to.system_calls, from.system_calls);
  for (Range range : from.ranges) {
    range.name = renamed(range.name);
    range.domain = renamed(range.domain);
    range.payload = renamed(range.payload);
    to.ranges.push_back(range);
  }
  const auto add = [](auto& all, const auto& rows) { all.insert(all.end(), rows.begin(), rows.end()); };
  add(to.transfers, from.transfers);
  add(to.synchronizations, from.synchronizations);
  add(to.overheads, from.overheads);
  add(to.allocations, from.allocations);
  add(to.graphs, from.graphs);
  for (GraphNode node : from.graph_nodes) {
    node.stack = restacked(node.stack);
    to.graph_nodes.push_back(node);
  }
  add(to.contexts, from.contexts);
  add(to.gpu_samples, from.gpu_samples);
  add(to.tallies, from.tallies);
}

std::unordered_map<std::string_view, CaseIndex> case_indices(const Trace& trace) {
  std::unordered_map<std::string_view, CaseIndex> indices;
  for (CaseIndex i = 0; i < trace.cases.size(); ++i) indices.emplace(trace.cases[i].id, i);
  return indices;
}

std::string_view call_name(std::string_view versioned_name) {
  constexpr std::size_t length = 6;  // _v7000
  if (versioned_name.size() <= length) return versioned_name;
  const std::string_view tail = versioned_name.substr(versioned_name.size() - length);
  const bool digits =
      std::all_of(tail.begin() + 2, tail.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  return tail.starts_with("_v") && digits ? versioned_name.substr(0, versioned_name.size() - length)
                                          : versioned_name;
}

CallKind call_kind(std::string_view name) {
  if (has_any(name, {"Synchronize"})) return CallKind::wait;
  if (has_any(name, {"Malloc", "Free", "MemAlloc", "HostAlloc", "HostRegister", "HostUnregister"}))
    return CallKind::allocation;
  if (has_any(name, {"Memcpy", "Memset"})) return CallKind::transfer;
  if (has_any(name, {"Launch"})) return CallKind::launch;
  return CallKind::other;
}

}  // namespace mprof::trace
