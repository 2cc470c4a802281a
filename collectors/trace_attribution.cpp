#include "collectors/trace_attribution.hpp"

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
  [[nodiscard]] const Range* innermost(std::uint32_t thread, std::int64_t time) const {
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
  std::set<std::uint32_t> threads_;
  std::unordered_map<std::uint64_t, const Range*> by_id_;
};

/// The place of each correlation id.
class Attribution {
 public:
  explicit Attribution(Trace& trace) : trace_(trace), open_(trace) {
    for (const ExternalCorrelation& row : trace.external_correlations) {
      if (const Range* range = open_.with_id(row.external)) external_[row.correlation] = range;
    }
    for (const ApiCall& call : trace.calls) {
      // The outermost call is the one that the user's code made; a runtime call makes driver calls.
      const auto [first, is_new] = calls_.try_emplace(call.correlation, &call);
      if (!is_new && call.time.start < first->second->time.start) first->second = &call;
    }
  }

  void fill() {
    for (const auto& [correlation, call] : calls_) compare(correlation, *call);
    for (ApiCall& call : trace_.calls) call.place = place(call.correlation);
    for (Synchronization& row : trace_.synchronizations) row.place = place(row.correlation);
    for (Kernel& kernel : trace_.kernels) fill(kernel.work);
    for (Copy& copy : trace_.copies) fill(copy.work);
    for (Set& set : trace_.sets) fill(set.work);
  }

 private:
  [[nodiscard]] const Range* external(std::uint32_t correlation) const {
    const auto found = external_.find(correlation);
    return found == external_.end() ? nullptr : found->second;
  }

  [[nodiscard]] const Range* by_thread_and_time(const ApiCall& call) const {
    return open_.innermost(call.thread, call.time.start);
  }

  void compare(std::uint32_t correlation, const ApiCall& call) {
    const Range* const told = external(correlation);
    if (told == nullptr) return;
    const Range* const seen = by_thread_and_time(call);
    if (seen == nullptr || seen->place != told->place) ++trace_.counts.disagreements;
  }

  [[nodiscard]] PlaceIndex place(std::uint32_t correlation) const {
    if (const Range* told = external(correlation)) return told->place;
    const auto call = calls_.find(correlation);
    if (call == calls_.end()) return nowhere;
    const Range* const seen = by_thread_and_time(*call->second);
    return seen != nullptr ? seen->place : nowhere;
  }

  void fill(GpuWork& work) {
    work.place = place(work.correlation);
    if (work.place == nowhere) ++trace_.counts.unattributed;
  }

  Trace& trace_;
  OpenRanges open_;
  std::unordered_map<std::uint32_t, const Range*> external_;
  std::unordered_map<std::uint32_t, const ApiCall*> calls_;
};

}  // namespace

void attribute(Trace& trace) {
  trace.counts.unattributed = 0;
  trace.counts.disagreements = 0;
  Attribution(trace).fill();
}

}  // namespace mprof::trace
