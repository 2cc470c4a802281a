// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "report/analysis/ranks/meetings.hpp"
#include "report/analysis/ranks/rank_summary.hpp"

/// What a communicator is for.
namespace mprof {

enum class Parallelism : std::uint8_t {
  unknown,       ///< what it is used for does not tell
  data,          ///< gradients are summed
  sharded_data,  ///< parameters are gathered and gradients scattered: FSDP, ZeRO
  tensor,        ///< ranks put together the parts of each result
  pipeline,      ///< results go from stage to stage
  expert,        ///< each rank sends another share to each other one
};
inline constexpr std::size_t parallelisms = 6;
/// "sharded_data"
[[nodiscard]] std::string_view to_string(Parallelism parallelism);

/// How a communicator is used, as one of its ranks sees it.
struct GroupUse {
  Parallelism parallelism = Parallelism::unknown;
  trace::CollectiveKind kind = trace::CollectiveKind::other;  ///< most of its collectives are of this kind
  double per_step = 0;                                        ///< its collectives, of all kinds
  double of_kind = 0;                                         ///< of these so many are of `kind`, as a share
  double gathers = 0;        ///< AllGather and ReduceScatter, as a share, as the next two
  double of_usual_size = 0;  ///< of the collectives of `kind` so many have the most frequent size
  double early = 0;  ///< of all of them so many begin in the first third of a step, from its first kernel on
  double early_scatters = 0;  ///< of the ReduceScatter so many begin there
  double uneven = 0;          ///< so many have other sizes on each rank
  std::uint64_t bytes = 0;    ///< the most frequent size; 0: not known, or other ones on each rank
  std::uint32_t stride = 0;  ///< from each of its ranks to the next; 0: not the same everywhere, or not known
};

/// One for each of Meetings::groups. A parallelism is named where nothing else is used like this.
[[nodiscard]] std::vector<GroupUse> uses_of_groups(std::span<const RankSummary> ranks,
                                                   const Meetings& meetings);

}  // namespace mprof
