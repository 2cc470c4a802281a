// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
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

/// Stretches without gaps between them, in nine bytes each: a thousand ranks have a hundred million.
class RankStretches {
 public:
  /// When the first one begins; before any is added.
  void begin_at(std::int64_t start) { start_ = start; }
  /// From the end of the last one on; `end` is no earlier.
  void add(std::int64_t end, RankActivity what) {
    ends_.push_back(end);
    what_.push_back(what);
  }
  [[nodiscard]] std::size_t size() const { return ends_.size(); }
  [[nodiscard]] RankStretch operator[](std::size_t index) const {
    return {{index == 0 ? start_ : ends_[index - 1], ends_[index]}, what_[index]};
  }
  /// The first one that ends at a moment or later; size(): none does.
  [[nodiscard]] std::size_t at(std::int64_t moment) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(ends_, moment) - ends_.begin());
  }
  void reserve(std::size_t count) {
    ends_.reserve(count);
    what_.reserve(count);
  }

 private:
  std::int64_t start_ = 0;
  std::vector<std::int64_t> ends_;
  std::vector<RankActivity> what_;
};

/// One rank's part of a collective, in forty bytes.
struct RankCollective {
  trace::Interval time{};
  std::uint64_t bytes = 0;  ///< 0: not known, as the next
  std::uint32_t group_size = 0;
  std::uint32_t group = 0;          ///< index into RankSummary::groups
  std::uint32_t first_exposed = 0;  ///< index into RankSummary::exposed
  std::uint8_t exposed = 0;         ///< so many from there on
  trace::CollectiveKind kind = trace::CollectiveKind::other;
  bool is_of_one_rank = false;  ///< `bytes` is what each rank has: all together have a multiple
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

/// Where the host was while the GPU was idle.
struct RankPlace {
  std::string name{};  ///< of a function with its file and line, or of a range
  BudgetPart part = BudgetPart::idle_host;
  bool is_line = false;
  std::int64_t time = 0;  ///< ns, in all steps
};

struct RankSummary {
  std::string name{};   ///< of the file, with the process where it has several
  std::string clock{};  ///< ranks whose times come from one clock have the same text here
  std::optional<std::uint32_t> rank{};
  std::optional<std::uint32_t> world_size{};
  std::string host{};  ///< empty: not known, as the next two
  std::string gpu{};
  std::optional<std::uint32_t> device{};
  std::optional<double> sm_clock{};  ///< Hz of its GPU, the mean over the trace
  std::int64_t epoch = 0;            ///< ns since 1970; 0: not known
  std::string step{};             ///< what a step is: the range or the kernel that repeats; empty: no steps
  std::size_t first_step = 0;     ///< how many steps of warming up are left out
  std::vector<RankStep> steps{};  ///< the steady ones; without steps the whole as one
  std::vector<std::string> groups{};
  std::vector<RankCollective> collectives{};  ///< by their starts
  /// When collectives are alone on the GPU. Each has a few moments, of many the longest ones.
  std::vector<trace::Interval> exposed{};
  RankStretches stretches{};          ///< of the steps
  std::vector<RankKernel> kernels{};  ///< the longest first
  std::vector<RankPlace> places{};    ///< the longest first

  [[nodiscard]] std::span<const trace::Interval> exposed_of(const RankCollective& one) const {
    return std::span(exposed).subspan(one.first_exposed, one.exposed);
  }
  /// Adds a collective, and when it is exposed: at most 255 moments.
  void add(RankCollective one, std::span<const trace::Interval> moments);
  /// ns, of all steps together.
  [[nodiscard]] std::int64_t total() const;
};

/// By the numbers of ranks, then by their names.
void sort_ranks(std::vector<RankSummary>& ranks);

/// Of one process of a case. Collectives before the first step and after the last one are left out.
[[nodiscard]] RankSummary summary_of_rank(const trace::Trace& trace, trace::CaseIndex index,
                                          std::int64_t process);

/// ns of sorted, disjoint intervals that lie within a part.
[[nodiscard]] std::int64_t length_within(std::span<const trace::Interval> intervals,
                                         const trace::Interval& part);

}  // namespace mprof
