// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/analysis/ranks/clocks.hpp"
#include "report/analysis/ranks/meetings.hpp"
#include "report/analysis/ranks/parallelism.hpp"
#include "report/analysis/ranks/rank_summary.hpp"

/// All ranks of a distributed program together: where a step goes, who is late and why, and what the links
/// carry. docs/how-it-works/ranks.md says by what rules.
namespace mprof {

/// What one rank does in one step, in ns. `waiting` is the part of its exposed communication before the last
/// rank of a collective began; computing, exposed, copying and idle add up to the length.
struct RankCell {
  std::int64_t length = 0;  ///< 0: the rank has no such step
  std::int64_t computing = 0;
  std::int64_t communication = 0;  ///< hidden or not
  std::int64_t exposed = 0;
  std::int64_t waiting = 0;
  std::int64_t copying = 0;
  std::int64_t idle = 0;
};

/// One rank in its usual step: medians over steps, in ns.
struct UsualRank {
  RankCell cell{};
  std::array<double, budget_parts> idle{};  ///< by cause
  double launches = 0;
};

/// Why a rank is late, by what it has more of than the others.
struct LateCause {
  enum class What : std::uint8_t {
    unknown,        ///< its own trace has nothing that the others' have not
    all_kernels,    ///< its kernels take longer, all of them alike
    some_launches,  ///< some launches do, and others of the same kernels do not
    some_kernel,    ///< one does, most of all
    more_kernels,   ///< it launches more of them
    copies,
    idle,  ///< its GPU has nothing to do, by `part`
  };
  What what = What::unknown;
  double more = 0;            ///< ns a step, than the median of the other ranks
  double factor = 1;          ///< of times of kernels, or of their number
  double sm_clock = 0;        ///< Hz, where it explains slower kernels; else 0, as the next
  double usual_sm_clock = 0;  ///< of the other ranks' GPUs, in the median
  std::string kernel{};       ///< the one that takes longer
  BudgetPart part = BudgetPart::idle_host;
  std::string place{};         ///< where its host is in the idle time; empty: not known
  bool place_is_line = false;  ///< "train.py(42): load", and no range's name
};

/// A rank for which others wait over and over.
struct LateRank {
  std::uint32_t rank = 0;              ///< index into the summaries
  std::size_t last = 0;                ///< collectives in which it arrived last and others waited
  std::size_t of = 0;                  ///< its collectives in which anybody was waited for
  double cost = 0;                     ///< ns a step that the others would not have waited without it
  std::optional<std::size_t> since{};  ///< the step from which on it costs more than before, if there is one
  LateCause cause{};
};

/// Collectives of one communicator, kind and size.
struct LinkRate {
  trace::CollectiveKind kind = trace::CollectiveKind::other;
  std::uint32_t group = 0;  ///< index into Meetings::groups
  std::uint32_t ranks = 0;
  std::uint64_t bytes = 0;  ///< 0: not known
  std::size_t count = 0;
  double transfer = 0;           ///< ns in the median: the shortest over its ranks, which waits for nobody
  double waiting = 0;            ///< ns in the median, of a rank in the middle
  std::optional<double> rate{};  ///< B/s on the bus, in the median
  std::optional<double> best{};
  bool is_small = false;  ///< it takes hardly longer than the shortest of its kind: latency, and no bandwidth
  bool is_large = false;  ///< its bytes are known, and it takes far longer than the shortest: bandwidth
};

/// What the steps' critical path consists of. A step is no shorter than the chain of what had to happen one
/// after the other, over all ranks.
struct CriticalPath {
  std::size_t steps = 0;
  std::array<double, rank_activities> parts{};  ///< shares; of communication only transfers
  std::vector<double> by_rank{};                ///< shares, without transfers
};

struct World {
  std::span<const RankSummary> ranks{};  ///< by their numbers
  Meetings meetings{};
  std::vector<GroupUse> uses{};  ///< of Meetings::groups
  RankClocks clocks;
  std::size_t steps = 0;
  std::vector<std::ptrdiff_t> first{};  ///< by rank: which of its own steps is the first of all
  /// By rank: its trace has fewer than half the steps of the median one, so that its steps say nothing.
  std::vector<bool> is_left_out{};
  std::vector<RankCell> cells{};   ///< rank by rank, `steps` of each
  std::vector<UsualRank> usual{};  ///< by rank
  double step = 0;                 ///< ns, the median over steps of the ranks' median
  RankCell all{};                  ///< the usual rank's usual step: medians over ranks
  std::vector<LateRank> late{};    ///< what costs most first
  std::size_t waited = 0;          ///< collectives in which others waited for the last one
  double waiting_cost = 0;         ///< ns a step, for the last ranks of all of them
  std::vector<LinkRate> rates{};   ///< what takes most time first
  CriticalPath path{};
  std::optional<std::size_t> slowest{};  ///< the step that took longest

  [[nodiscard]] const RankCell& cell(std::size_t rank, std::size_t step_number) const {
    return cells[rank * steps + step_number];
  }
  /// The rank's own step, or nullptr; also of a rank that is left out.
  [[nodiscard]] const RankStep* step_of(std::size_t rank, std::size_t step_number) const;
  /// "3", or the name of its file where the number is not known.
  [[nodiscard]] std::string label(std::size_t rank) const;
};

/// `ranks` must be sorted and outlive the world.
[[nodiscard]] World world_of(std::span<const RankSummary> ranks);

/// The moment at which the last rank of a meeting began, in ns of the common clock, and which one it was, by
/// its place among the parts.
struct Arrival {
  double last = 0;
  double before = 0;  ///< when the one before it began
  std::size_t part = 0;
};
[[nodiscard]] Arrival last_arrival(const World& world, const Meeting& meeting);

/// When a rank waits for the last one, by its own clock. Empty where it was done before the last one began,
/// as the root of a Broadcast may be, and where the wait is within the resolution of the clocks.
[[nodiscard]] trace::Interval waiting_in(const World& world, const MeetingPart& part, const Arrival& arrival);

/// ns of that in which it has nothing else to do.
[[nodiscard]] std::int64_t exposed_wait(const World& world, const MeetingPart& part, const Arrival& arrival);

/// Which of the world's steps a moment of a rank lies in, by the rank's own clock.
[[nodiscard]] std::optional<std::size_t> world_step_at(const World& world, std::size_t rank,
                                                       std::int64_t time);

}  // namespace mprof
