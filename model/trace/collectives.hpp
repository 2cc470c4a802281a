// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/trace/trace.hpp"

/// Operations that several GPUs carry out together, as NCCL's kernels tell of them.
namespace mprof::trace {

enum class CollectiveKind : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  reduce,
  send_receive,  ///< between two ranks, or a group of such messages
  other,         ///< the kernel's name does not say, or several were started as one
};

/// "AllReduce", as NCCL calls it; "Send/Recv"; "collective" of another one.
[[nodiscard]] std::string_view to_string(CollectiveKind kind);
[[nodiscard]] bool parse(std::string_view text, CollectiveKind& kind);

/// Whether no rank can be done before all have begun, so that all are done at nearly the same moment.
[[nodiscard]] constexpr bool ends_together(CollectiveKind kind) {
  using enum CollectiveKind;
  return kind == all_reduce || kind == all_gather || kind == reduce_scatter || kind == all_to_all;
}

/// Bytes on each link of a ring over bytes of the message, in a group of so many ranks. The "bus bandwidth"
/// counts them, so that it can be compared with a link's own (NVIDIA, nccl-tests, doc/PERFORMANCE.md).
[[nodiscard]] double bus_factor(CollectiveKind kind, std::uint32_t ranks);

/// nullopt of a kernel that is not one of NCCL's. `name` may be mangled or not.
[[nodiscard]] std::optional<CollectiveKind> collective_kind(std::string_view name);

/// One rank's part of such an operation.
struct Collective {
  Interval time{};
  CollectiveKind kind = CollectiveKind::other;
  NameIndex group = 0;           ///< its communicator; 0: the file does not say, as the next two
  std::uint32_t group_size = 0;  ///< ranks
  std::uint64_t bytes =
      0;  ///< of the message: of AllGather all that arrives, of ReduceScatter all that is sent
  bool is_of_one_rank = false;  ///< `bytes` is what each rank has of these
  Queue queue{};
  bool operator==(const Collective&) const = default;
};

/// Of one process, by their starts.
[[nodiscard]] std::vector<Collective> collectives_of(const Trace& trace, CaseIndex index,
                                                     std::int64_t process);

/// The rows of one process as a trace of their own with one case.
[[nodiscard]] Trace of_process(const Trace& trace, CaseIndex index, std::int64_t process);

/// The processes of a case that gave a GPU work, those with collectives alone where one has some. By their
/// numbers.
[[nodiscard]] std::vector<std::int64_t> rank_processes(const Trace& trace, CaseIndex index);

}  // namespace mprof::trace
