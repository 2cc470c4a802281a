// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace/interval_set.hpp"
#include "report/analysis/analysis.hpp"
#include "report/analysis/evidence.hpp"

/// Where the time of one traced execution goes: each nanosecond of it belongs to exactly one part, so that
/// the parts add up to the whole.
namespace mprof {

/// Streams, contexts and GPUs count as one: what any of them did in a moment. Where several causes of
/// idleness held on different threads, the first one in this order counts, as in the metrics of the trace
/// pass (model/derive/trace_metrics.cpp).
enum class BudgetPart : std::uint8_t {
  kernels,             ///< a kernel ran, and nothing beside it
  kernels_and_copies,  ///< a kernel ran beside a copy or a memset
  copies_in,           ///< host to device, beside neither kernels nor copies out
  copies_out,          ///< device to host, beside neither kernels nor copies in
  copies_both_ways,    ///< host to device beside device to host, without a kernel
  other_work,          ///< nothing of the above: memsets, copies within a device or between two
  idle_tracing,        ///< the GPU had nothing while recording the trace or loading code kept the host
  idle_waiting,     ///< ... while the host was in a call that waits for the GPU: before work began, after it
                    ///< ended
  idle_allocation,  ///< ... while the host was in a call that allocates, frees, or pins memory
  idle_calls,       ///< ... while the host was in any other CUDA call: launches, the staging of copies
  idle_system,      ///< ... while each thread of the host that calls CUDA was in the operating system
  idle_host,        ///< ... and the host was in no CUDA call, nor known to be in the operating system
  idle_before,  ///< ... before anything was asked of CUDA; this and the next count before all of the above
  idle_start,   ///< ... while CUDA came up in a process
};
inline constexpr std::size_t budget_parts = static_cast<std::size_t>(BudgetPart::idle_start) + 1;

/// Whether the GPU had nothing to do.
[[nodiscard]] constexpr bool is_idle(BudgetPart part) {
  return part >= BudgetPart::idle_tracing;
}

/// Calls of the operating system of one name, and the time in which the GPU was idle for them, in ns.
struct SystemTime {
  std::string name;
  std::int64_t time = 0;
};

/// What one of several GPUs did, ns of the window.
struct GpuShare {
  std::uint32_t gpu = 0;     ///< its number in the trace
  std::int64_t kernels = 0;  ///< a kernel ran on it
  std::int64_t copies = 0;   ///< it copied or set memory, and ran none
  /// Of the idle parts: while this GPU had nothing to do, whatever the others did. With the two above they
  /// add up to the window.
  std::array<std::int64_t, budget_parts> idle{};
};

/// What a process ran on a GPU that others used too, in ns.
struct ProcessShare {
  std::uint32_t gpu = 0;
  std::int64_t process = 0;  ///< as the operating system numbers it
  std::int64_t kernels = 0;  ///< one of its kernels ran; others' may have run at the same moment
};

/// Times in ns.
struct TimeBudget {
  std::array<std::int64_t, budget_parts> parts{};
  std::int64_t window = 0;                ///< one execution without the runner's pauses: the sum of the parts
  std::int64_t paused = 0;                ///< what the runner itself did within it, and is in no part
  std::size_t executions = 1;             ///< that the trace holds of the case
  std::size_t execution = 1;              ///< the one that this is, from 1: the one of median length
  std::vector<GpuShare> gpus{};           ///< where several had work: each by itself, by their numbers
  std::vector<ProcessShare> processes{};  ///< of the GPUs that several processes used, by their numbers
  std::uint64_t lacking = 0;              ///< records that the trace lacks: what they stood for looks idle
  std::int64_t host_outside_ops = 0;      ///< of idle_host, what lies in no stage of an op; 0 without ops
  double copied = 0;                      ///< B, between host and device, both ways
  std::int64_t copying = 0;               ///< in which they were copied: the time of each way, one after the
                                          ///< other
  /// Of idle_system, the longest first. Threads wait at once, so their sum may exceed the part.
  std::vector<SystemTime> system{};

  [[nodiscard]] std::int64_t of(BudgetPart part) const { return parts.at(static_cast<std::size_t>(part)); }
  /// s, of the window.
  [[nodiscard]] double seconds() const;
  /// Of the window, from 0 to 1.
  [[nodiscard]] double share(BudgetPart part) const;
  /// ns, all parts in which the GPU had nothing to do.
  [[nodiscard]] std::int64_t idle() const;
  /// B/s while something was copied between host and device; nullopt where nothing was.
  [[nodiscard]] std::optional<double> copy_rate() const;
};

/// Of one case in a trace. An execution is what a range of mprof's own that is called like the case holds;
/// without such a range it is all that was recorded of the case. Of an even number of executions it is the
/// shorter of the middle two. Work that reaches beyond the execution counts as far as it lies within. nullopt
/// without any activity.
[[nodiscard]] std::optional<TimeBudget> time_budget(const trace::Trace& trace, trace::CaseIndex index);

/// Moments by the part of the budget that they belong to.
using MomentsOfParts = std::array<trace::IntervalSet, budget_parts>;

/// What was traced of a case, shared out among the parts once, for the budget of any part of it.
class SharedTime {
 public:
  /// The trace must outlive it. `within` is all that may be asked for; without it anything may.
  SharedTime(const trace::Trace& trace, trace::CaseIndex index,
             const std::optional<trace::Interval>& within = std::nullopt);
  SharedTime(SharedTime&&) noexcept;
  SharedTime& operator=(SharedTime&&) noexcept;
  ~SharedTime();

  /// As time_budget() has it.
  [[nodiscard]] std::optional<TimeBudget> of_execution() const;
  /// Of a part of what was traced; nullopt where that is empty.
  [[nodiscard]] std::optional<TimeBudget> of(const trace::Interval& part) const;
  /// When no GPU had anything to do in it, by the cause. Nothing for the parts in which one worked.
  [[nodiscard]] MomentsOfParts idle_in(const trace::Interval& part) const;

 private:
  struct Rows;
  std::unique_ptr<const Rows> rows_;
};

/// SharedTime::idle_in(), of one part.
[[nodiscard]] MomentsOfParts idle_moments(const trace::Trace& trace, trace::CaseIndex index,
                                          const trace::Interval& part);

/// The budget of a case, or the reason why it has none.
struct CaseBudget {
  const CaseResult* result = nullptr;
  std::optional<TimeBudget> budget{};
  Why absent{};
  /// Of a program with steps: how many steady ones it is of; 0: of the whole beside them.
  std::optional<std::size_t> steps{};
};

[[nodiscard]] CaseBudget budget_of(const CaseResult& result, const Evidence& evidence);

/// The family's first baseline and its best variant by total time.
struct BudgetComparison {
  std::vector<CaseBudget> cases{};  ///< the baseline first; it alone where it is the best; each has a budget
  Problem problem{};                ///< the largest one at which both were traced
  const CaseResult* faster =
      nullptr;   ///< a variant that is faster there and was not traced; nullptr: none is
  Why absent{};  ///< why there is nothing to compare
};

/// The best is the fastest verified one at a problem that was traced; the baseline is the first one of its
/// chain of baselines that was traced. Where nothing was timed, as in imported runs, it is the first two that
/// were traced. The family must outlive the result, which points into it.
[[nodiscard]] BudgetComparison compare_budgets(const FamilyResult& family, const Evidence& evidence);

}  // namespace mprof
