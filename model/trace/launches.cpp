// SPDX-License-Identifier: MIT
#include "model/trace/launches.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/trace/interval_set.hpp"
#include "model/trace/nsys_schema.hpp"

namespace mprof::trace {
namespace {

/// When the processes of a case captured a graph: from the call that begins it to the one that ends it.
class Captures {
 public:
  Captures(const Trace& trace, CaseIndex index) {
    std::unordered_map<std::int64_t, std::int64_t> open;  // by thread
    std::unordered_map<std::int64_t, std::vector<Interval>> times;
    for (const Call& call : of_case(trace.calls, index)) {
      const std::string& name = trace.names[call.name];
      if (name.find("StreamBeginCapture") != name.npos) open.try_emplace(call.thread, call.time.start);
      if (name.find("StreamEndCapture") == name.npos) continue;
      const auto begun = open.find(call.thread);
      if (begun == open.end()) continue;
      times[nsys::process_of(call.thread)].push_back({begun->second, call.time.end});
      open.erase(begun);
    }
    for (auto& [process, all] : times) times_.emplace(process, IntervalSet(std::move(all)));
  }

  /// Another thread than the one that captures may launch into its graph.
  [[nodiscard]] bool hold(const Call& call) const {
    const auto found = times_.find(nsys::process_of(call.thread));
    return found != times_.end() && !(found->second & IntervalSet({call.time})).empty();
  }

 private:
  std::unordered_map<std::int64_t, IntervalSet> times_;
};

/// Correlation ids, a bit each where they lie close together, as those of millions of calls do.
class Ids {
 public:
  Ids(const Trace& trace, CaseIndex index) {
    std::int64_t last = std::numeric_limits<std::int64_t>::min();
    std::size_t count = 0;
    first_ = std::numeric_limits<std::int64_t>::max();
    for (const Call& call : of_case(trace.calls, index)) {
      first_ = std::min(first_, call.correlation);
      last = std::max(last, call.correlation);
      ++count;
    }
    constexpr std::uint64_t bits_of_one = 64;
    if (count == 0) return;
    const std::uint64_t range = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first_);
    if (range / bits_of_one < count) close_.resize(static_cast<std::size_t>(range) + 1);
  }

  /// False when it is there already. Ids that no call has may be left out.
  bool insert(std::int64_t id) {
    if (close_.empty()) return far_.insert(id).second;
    const std::uint64_t place = place_of(id);
    if (place >= close_.size() || close_[static_cast<std::size_t>(place)]) return false;
    return close_[static_cast<std::size_t>(place)] = true;
  }
  [[nodiscard]] bool contains(std::int64_t id) const {
    if (close_.empty()) return far_.contains(id);
    const std::uint64_t place = place_of(id);
    return place < close_.size() && close_[static_cast<std::size_t>(place)];
  }

 private:
  [[nodiscard]] std::uint64_t place_of(std::int64_t id) const {
    return static_cast<std::uint64_t>(id) - static_cast<std::uint64_t>(first_);
  }

  std::int64_t first_ = 0;
  std::vector<bool> close_;
  std::unordered_set<std::int64_t> far_;
};

/// The ids of all work of GPUs that calls have.
Ids worked_on(const Trace& trace, CaseIndex index) {
  Ids ids(trace, index);
  for (const KernelRow& row : of_case(trace.kernels.rows(), index))
    ids.insert(trace.kernels.correlation(row));
  for (const GraphExecution& row : of_case(trace.graphs, index)) ids.insert(row.correlation);
  for (const Transfer& row : of_case(trace.transfers, index)) ids.insert(row.correlation);
  return ids;
}

/// Calls visit(call) for the first call of each correlation id that launches a kernel or a graph: a runtime
/// call and the driver calls in it are one.
template <class Visit>
void each_launching_call(const Trace& trace, CaseIndex index, const Visit& visit) {
  std::unordered_map<NameIndex, bool> launch;
  Ids seen(trace, index);
  for (const Call& call : of_case(trace.calls, index)) {
    const auto [entry, is_new] = launch.try_emplace(call.name, false);
    if (is_new) {
      const std::string& name = trace.names[call.name];
      entry->second = call_kind(name) == CallKind::launch && name.find("HostFunc") == std::string::npos;
    }
    if (entry->second && call.result.value_or(0) == 0 && seen.insert(call.correlation)) visit(call);
  }
}

}  // namespace

std::map<std::string, Launches> launches_by_op(const Trace& trace, CaseIndex index) {
  const Captures captures(trace, index);
  const Ids worked = worked_on(trace, index);
  std::map<PlaceIndex, Launches> by_place;
  each_launching_call(trace, index, [&](const Call& call) {
    Launches& there = by_place[call.place];
    if (worked.contains(call.correlation)) {
      ++there.with_work;
    } else if (captures.hold(call)) {
      ++there.captured;
    } else {
      ++there.without_work;
    }
  });
  std::map<std::string, Launches> by_op;
  for (const auto& [place, there] : by_place) by_op[trace.places[place].op] += there;
  return by_op;
}

Launches launches_of(const Trace& trace, CaseIndex index) {
  Launches all;
  for (const auto& [op, of_op] : launches_by_op(trace, index)) all += of_op;
  return all;
}

Launches& Launches::operator+=(const Launches& other) {
  with_work += other.with_work;
  captured += other.captured;
  without_work += other.without_work;
  return *this;
}

std::uint64_t unseen_launches(const Trace& trace, CaseIndex index) {
  if (!of_case(trace.kernels, index).empty() || !of_case(trace.graphs, index).empty()) return 0;
  const Launches launches = launches_of(trace, index);
  return launches.with_work == 0 ? launches.without_work : 0;
}

}  // namespace mprof::trace
