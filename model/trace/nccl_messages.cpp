// SPDX-License-Identifier: MIT
#include "model/trace/nccl_messages.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/trace/collectives.hpp"

namespace mprof::trace {
namespace {

constexpr std::size_t longest_payload = 4096;  // B; NCCL's have some hundred

/// What a payload of NCCL's says.
struct Payload {
  std::optional<std::uint64_t> communicator{};
  std::optional<std::uint64_t> bytes{};
  std::optional<std::uint32_t> ranks{};
  std::optional<std::uint32_t> peer{};
};

enum class RangeKind : std::uint8_t { other, group_start, group_end, send, receive, collective };

/// A call of NCCL, as its range tells of it.
struct NcclCall {
  Interval time{};
  RangeKind kind = RangeKind::other;
  CollectiveKind collective = CollectiveKind::other;
  Payload payload{};
};

std::pair<RangeKind, CollectiveKind> kind_of(std::string_view name) {
  using enum CollectiveKind;
  constexpr std::pair<std::string_view, std::pair<RangeKind, CollectiveKind>> known[] = {
      {"ncclGroupStart", {RangeKind::group_start, other}},
      {"ncclGroupEnd", {RangeKind::group_end, other}},
      {"ncclSend", {RangeKind::send, send_receive}},
      {"ncclRecv", {RangeKind::receive, send_receive}},
      {"ncclAllReduce", {RangeKind::collective, all_reduce}},
      {"ncclAllGather", {RangeKind::collective, all_gather}},
      {"ncclReduceScatter", {RangeKind::collective, reduce_scatter}},
      {"ncclAlltoAll", {RangeKind::collective, all_to_all}},
      {"ncclBroadcast", {RangeKind::collective, broadcast}},
      {"ncclReduce", {RangeKind::collective, reduce}}};
  const auto* const found = std::ranges::find(known, name, [](const auto& one) { return one.first; });
  return found == std::end(known) ? std::pair{RangeKind::other, other} : found->second;
}

template <class Value>
void take(std::optional<Value>& to, const nlohmann::json& value) {
  if (value.is_number_unsigned() && std::in_range<Value>(value.get<std::uint64_t>()))
    to = static_cast<Value>(value.get<std::uint64_t>());
  // Nsight Systems and older versions write numbers with a sign.
  else if (value.is_number_integer() && value.get<std::int64_t>() >= 0 &&
           std::in_range<Value>(value.get<std::int64_t>()))
    to = static_cast<Value>(value.get<std::int64_t>());
}

Payload parse_payload(const std::string& text) {
  Payload payload;
  if (text.empty() || text.size() > longest_payload) return payload;
  const nlohmann::json values = nlohmann::json::parse(text, nullptr, false);
  if (!values.is_object()) return payload;
  for (const auto& [name, value] : values.items()) {
    if (name == "NCCL communicator ID") take(payload.communicator, value);
    if (name == "Message size [bytes]") take(payload.bytes, value);
    if (name == "No. of ranks") take(payload.ranks, value);
    if (name == "Peer rank") take(payload.peer, value);
  }
  return payload;
}

/// Of each of these a rank says what it has itself, and the message is what all have.
bool is_said_of_one_rank(CollectiveKind kind) {
  using enum CollectiveKind;
  return kind == all_gather || kind == reduce_scatter || kind == all_to_all;
}

class Finder {
 public:
  Finder(Trace& own, const Trace& from, CaseIndex index, std::int64_t process) : trace_(own) {
    read_calls();
    if (!calls_.empty()) read_launches(from, index, process);
  }

  std::unordered_map<std::int64_t, Message> find() {
    for (const auto& [in_call, launches] : launches_of_) {
      const auto& [thread, at] = in_call;
      const std::vector<NcclCall>& calls = calls_.at(thread);
      if (calls[at].kind == RangeKind::group_end)
        take_group(operations_of_group(calls, at), launches);
      else
        take_group({&calls[at]}, launches);
    }
    return std::move(messages_);
  }

 private:
  void read_calls() {
    const NameIndex domain = trace_.names.index(nccl_domain);
    std::unordered_map<NameIndex, Payload> payloads;
    for (const Range& range : trace_.ranges) {
      if (range.domain != domain) continue;
      const auto [payload, is_new] = payloads.try_emplace(range.payload);
      if (is_new) payload->second = parse_payload(trace_.names[range.payload]);
      const auto [kind, collective] = kind_of(trace_.text_of(range));
      calls_[range.thread].push_back({range.time, kind, collective, payload->second});
      if (payload->second.communicator && payload->second.ranks)
        ranks_of_[*payload->second.communicator] = *payload->second.ranks;
    }
    for (auto& [thread, calls] : calls_)
      std::ranges::stable_sort(calls, {}, [](const NcclCall& call) { return call.time.start; });
  }

  /// Which call of NCCL each kernel of its was launched in.
  void read_launches(const Trace& from, CaseIndex index, std::int64_t process) {
    std::set<std::int64_t> of_nccl;
    std::vector<std::optional<bool>> known(from.names.size());
    for (const KernelRow& row : of_case(from.kernels.rows(), index)) {
      const Kernel& shared = from.kernels.shared(row);
      if (shared.process != process || shared.graph != 0) continue;
      if (!known[shared.name]) known[shared.name] = collective_kind(from.names[shared.name]).has_value();
      if (*known[shared.name]) of_nccl.insert(from.kernels.whole(row).correlation);
    }
    for (const Call& call : trace_.calls) {
      if (!of_nccl.contains(call.correlation)) continue;
      const auto calls = calls_.find(call.thread);
      if (calls == calls_.end()) continue;
      if (const auto at = innermost(calls->second, call.time.start))
        launches_of_[{call.thread, *at}].insert(call.correlation);
    }
  }

  /// The last call of NCCL that began before a moment and lasts beyond it.
  static std::optional<std::size_t> innermost(const std::vector<NcclCall>& calls, std::int64_t time) {
    constexpr std::size_t looked_at = 16;
    auto next = std::ranges::upper_bound(calls, time, {}, [](const NcclCall& one) { return one.time.start; });
    for (std::size_t i = 0; i < looked_at && next != calls.begin(); ++i) {
      --next;
      if (next->time.end >= time && next->kind != RangeKind::other && next->kind != RangeKind::group_start)
        return static_cast<std::size_t>(next - calls.begin());
    }
    return std::nullopt;
  }

  static std::vector<const NcclCall*> operations_of_group(const std::vector<NcclCall>& calls,
                                                          std::size_t end) {
    std::vector<const NcclCall*> operations;
    std::size_t depth = 0;
    for (std::size_t at = end; at-- > 0;) {
      const RangeKind kind = calls[at].kind;
      if (kind == RangeKind::group_end) ++depth;
      if (kind == RangeKind::group_start && depth-- == 0) return operations;
      if (kind > RangeKind::group_end) operations.push_back(&calls[at]);
    }
    return {};  // it began before the trace did
  }

  void take_group(const std::vector<const NcclCall*>& operations, const std::set<std::int64_t>& launches) {
    if (operations.empty()) return;
    const NcclCall& first = *operations.front();
    const auto is_like_first = [&](const NcclCall* one) {
      return one->payload.communicator == first.payload.communicator && one->collective == first.collective;
    };
    if (!std::ranges::all_of(operations, is_like_first)) return;
    const bool are_equal = first.collective != CollectiveKind::send_receive &&
                           std::ranges::all_of(operations, [&](const NcclCall* one) {
                             return one->payload.bytes == first.payload.bytes;
                           });
    Message message;
    if (launches.size() == 1)
      message = message_of(operations);
    else
      message =
          message_of(are_equal && launches.size() == operations.size() ? std::vector{&first}
                                                                       : std::vector<const NcclCall*>{});
    if (message.group == 0) name_group(message, first);
    for (const std::int64_t correlation : launches) messages_[correlation] = message;
  }

  /// Of operations of one kind and communicator that one kernel carries out.
  Message message_of(const std::vector<const NcclCall*>& operations) {
    Message message;
    if (operations.empty()) return message;
    name_group(message, *operations.front());
    std::uint64_t sent = 0, received = 0, all = 0;
    std::set<std::uint32_t> sent_to;
    const bool has_sizes =
        std::ranges::all_of(operations, [](const NcclCall* one) { return one->payload.bytes.has_value(); });
    for (const NcclCall* one : operations) {
      const std::uint64_t bytes = has_sizes ? *one->payload.bytes : 0;  // 0: not known
      all += bytes;
      if (one->kind == RangeKind::receive) received += bytes;
      if (one->kind != RangeKind::send) continue;
      sent += bytes;
      if (one->payload.peer) sent_to.insert(*one->payload.peer);
    }
    const CollectiveKind kind = operations.front()->collective;
    if (kind != CollectiveKind::send_receive) {
      message.kind = kind;  // the kernel's name may be of what it is made of
      message.is_of_one_rank = is_said_of_one_rank(kind) && message.group_size == 0;
      message.bytes = all * (is_said_of_one_rank(kind) && message.group_size > 0 ? message.group_size : 1);
      return message;
    }
    message.bytes = sent > 0 ? sent : received;
    // Who sends to all, and to itself, exchanges with all.
    if (message.group_size > 0 && sent_to.size() == message.group_size)
      message.kind = CollectiveKind::all_to_all;
    return message;
  }

  void name_group(Message& message, const NcclCall& call) {
    if (!call.payload.communicator) return;
    message.group = trace_.names.index(fmt::format("communicator {:x}", *call.payload.communicator));
    const auto ranks = ranks_of_.find(*call.payload.communicator);
    if (ranks != ranks_of_.end()) message.group_size = ranks->second;
  }

  Trace& trace_;
  std::map<std::int64_t, std::vector<NcclCall>> calls_;        ///< by thread, in the order of their starts
  std::unordered_map<std::uint64_t, std::uint32_t> ranks_of_;  ///< by communicator
  std::map<std::pair<std::int64_t, std::size_t>, std::set<std::int64_t>>
      launches_of_;  ///< by thread and call
  std::unordered_map<std::int64_t, Message> messages_;
};

}  // namespace

std::unordered_map<std::int64_t, Message> nccl_messages(Trace& own, const Trace& from, CaseIndex index,
                                                        std::int64_t process) {
  return Finder(own, from, index, process).find();
}

}  // namespace mprof::trace
