// SPDX-License-Identifier: MIT
#include "model/trace/attribution.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

namespace mprof::trace {
namespace {

/// mprof's own ranges, to be asked for the innermost one at a moment.
class OpenRanges {
 public:
  explicit OpenRanges(const Trace& trace) {
    for (const Range& range : trace.ranges) {
      if (range.id == 0) continue;
      ranges_.push_back(&range);
      threads_.insert(range.thread);
      by_id_[range.id] = &range;
    }
    std::ranges::sort(ranges_, {}, [](const Range* range) { return range->time.start; });
  }

  [[nodiscard]] const Range* with_id(std::uint64_t id) const {
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : found->second;
  }

  /// The innermost range that was open at `time` on `thread`; on any thread, when this one never had a range.
  [[nodiscard]] const Range* innermost(std::int64_t thread, std::int64_t time) const {
    const bool any_thread = !threads_.contains(thread);
    const Range* innermost = nullptr;
    for (const Range* range : ranges_) {
      if (range->time.start > time) break;
      // Of nested ranges the one that started last is the innermost.
      if (time <= range->time.end && (any_thread || range->thread == thread)) innermost = range;
    }
    return innermost;
  }

 private:
  std::vector<const Range*> ranges_;  // by start; a handful a case
  std::set<std::int64_t> threads_;
  std::unordered_map<std::uint64_t, const Range*> by_id_;
};

/// The place of each correlation id.
class Attribution {
 public:
  explicit Attribution(Recording& recording)
      : trace_(recording.trace), counts_(trace_.cases.at(0).counts), open_(trace_) {
    for (const ExternalCorrelation& row : recording.external_correlations) {
      if (const Range* range = open_.with_id(row.external)) external_[row.correlation] = range;
    }
    for (const Call& call : trace_.calls) {
      // The outermost call is the one that the user's code made; a runtime call makes driver calls.
      const auto [first, is_new] = calls_.try_emplace(call.correlation, &call);
      if (!is_new && call.time.start < first->second->time.start) first->second = &call;
    }
  }

  void fill() {
    counts_.unattributed = 0;
    counts_.disagreements = 0;
    for (const auto& [correlation, call] : calls_) compare(correlation, *call);
    for (Call& call : trace_.calls) call.place = place(call.correlation);
    for (Synchronization& row : trace_.synchronizations) row.place = place(row.correlation);
    for (Allocation& row : trace_.allocations) row.place = place(row.correlation);
    for (KernelRow& kernel : trace_.kernels.rows()) fill(kernel, trace_.kernels.correlation(kernel));
    for (Transfer& transfer : trace_.transfers) fill(transfer, transfer.correlation);
  }

 private:
  [[nodiscard]] const Range* external(std::int64_t correlation) const {
    const auto found = external_.find(correlation);
    return found == external_.end() ? nullptr : found->second;
  }

  [[nodiscard]] const Range* by_thread_and_time(const Call& call) const {
    return open_.innermost(call.thread, call.time.start);
  }

  void compare(std::int64_t correlation, const Call& call) {
    const Range* const told = external(correlation);
    if (told == nullptr) return;
    const Range* const seen = by_thread_and_time(call);
    if (seen == nullptr || seen->place != told->place) ++counts_.disagreements;
  }

  [[nodiscard]] PlaceIndex place(std::int64_t correlation) const {
    if (const Range* told = external(correlation)) return told->place;
    const auto call = calls_.find(correlation);
    if (call == calls_.end()) return nowhere;
    const Range* const seen = by_thread_and_time(*call->second);
    return seen != nullptr ? seen->place : nowhere;
  }

  template <class Work>
  void fill(Work& work, std::int64_t correlation) {
    work.place = place(correlation);
    if (work.place == nowhere) ++counts_.unattributed;
  }

  Trace& trace_;
  Counts& counts_;
  OpenRanges open_;
  std::unordered_map<std::int64_t, const Range*> external_;
  std::unordered_map<std::int64_t, const Call*> calls_;
};

}  // namespace

void attribute(Recording& recording) {
  Attribution(recording).fill();
}

}  // namespace mprof::trace
