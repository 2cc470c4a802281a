// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/trace/collectives.hpp"
#include "model/trace/trace.hpp"
#include "report/analysis/standing/time_budget.hpp"

/// What is kept of one rank of a distributed program: enough to tell where all ranks together wait, and a few
/// kilobytes a step. Times are in ns from the rank's own epoch, by the rank's own clock.
namespace mprof {

/// What a rank does in a moment. The first of these that holds counts.
enum class RankActivity : std::uint8_t {
  computing,      ///< a kernel runs that is no collective
  communicating,  ///< only collectives run: communication that no computing hides
  copying,        ///< only copies and memsets
  idle,           ///< its GPU has nothing to do
};
inline constexpr std::size_t rank_activities = 4;
[[nodiscard]] std::string_view to_string(RankActivity activity);

struct RankStretch {
  trace::Interval time{};
  RankActivity what = RankActivity::idle;
};

/// One rank's part of a collective.
struct RankCollective {
  trace::Interval time{};
  trace::CollectiveKind kind = trace::CollectiveKind::other;
  std::uint32_t group = 0;       ///< index into RankSummary::groups
  std::uint32_t group_size = 0;  ///< 0: not known, as the next
  std::uint64_t bytes = 0;
  /// When nothing else ran on this rank's GPU; of many moments the longest ones.
  std::vector<trace::Interval> exposed{};
};

/// The four activities add up to the step.
struct RankStep {
  trace::Interval time{};  ///< from the end of the step before to its own, as the GPU was done
  std::array<std::int64_t, rank_activities> parts{};
  std::int64_t communication = 0;                 ///< in which collectives ran, hidden or not
  std::array<std::int64_t, budget_parts> idle{};  ///< by cause, as BudgetPart
  std::uint64_t launches = 0;                     ///< kernels that are no collectives

  [[nodiscard]] std::int64_t of(RankActivity what) const { return parts.at(static_cast<std::size_t>(what)); }
};

/// The launches of one kernel in all steps.
struct RankKernel {
  std::string name{};
  std::uint64_t launches = 0;
  std::int64_t time = 0;    ///< ns, of all
  std::int64_t median = 0;  ///< ns, of one
};

struct RankSummary {
  std::string name{};   ///< of the file, with the process where it has several
  std::string clock{};  ///< ranks whose times come from one clock have the same text here
  std::optional<std::uint32_t> rank{};
  std::optional<std::uint32_t> world_size{};
  std::string host{};  ///< empty: not known, as the next two
  std::string gpu{};
  std::optional<std::uint32_t> device{};
  std::int64_t epoch = 0;         ///< ns since 1970; 0: not known
  std::string step{};             ///< what a step is: the range or the kernel that repeats; empty: no steps
  std::size_t first_step = 0;     ///< how many steps of warming up are left out
  std::vector<RankStep> steps{};  ///< the steady ones; without steps the whole as one
  std::vector<std::string> groups{};
  std::vector<RankCollective> collectives{};  ///< by their starts
  std::vector<RankStretch> stretches{};       ///< of the steps, without gaps between them
  std::vector<RankKernel> kernels{};          ///< the longest first

  /// What it does in all steps together, and the time of all of them.
  [[nodiscard]] std::int64_t total() const;
};

/// By the numbers of ranks, then by their names.
void sort_ranks(std::vector<RankSummary>& ranks);

/// Of one process of a case. Collectives before the first step and after the last one are left out.
[[nodiscard]] RankSummary summary_of_rank(const trace::Trace& trace, trace::CaseIndex index,
                                          std::int64_t process);

/// ns of sorted, disjoint intervals that lie within a part.
[[nodiscard]] std::int64_t length_within(const std::vector<trace::Interval>& intervals,
                                         const trace::Interval& part);

}  // namespace mprof
