// SPDX-License-Identifier: MIT
#include "model/trace/launches.hpp"

#include <algorithm>
#include <unordered_map>
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

/// The ids of all work of GPUs, in order.
std::vector<std::int64_t> worked_on(const Trace& trace, CaseIndex index) {
  std::vector<std::int64_t> ids;
  const auto add = [&](const auto& rows) {
    for (const auto& row : of_case(rows, index)) ids.push_back(row.correlation);
  };
  add(trace.kernels);
  add(trace.graphs);
  add(trace.transfers);
  if (!std::ranges::is_sorted(ids)) std::ranges::sort(ids);
  return ids;
}

/// The first call of each correlation id that launches a kernel or a graph: a runtime call and the driver
/// calls in it are one.
std::vector<const Call*> launching_calls(const Trace& trace, CaseIndex index) {
  std::unordered_map<NameIndex, bool> launch;
  std::vector<const Call*> calls;
  for (const Call& call : of_case(trace.calls, index)) {
    const auto [entry, is_new] = launch.try_emplace(call.name, false);
    if (is_new) {
      const std::string& name = trace.names[call.name];
      entry->second = call_kind(name) == CallKind::launch && name.find("HostFunc") == std::string::npos;
    }
    if (entry->second && call.result.value_or(0) == 0) calls.push_back(&call);
  }
  if (!std::ranges::is_sorted(calls, {}, &Call::correlation))
    std::ranges::stable_sort(calls, {}, &Call::correlation);
  // Clang 14 has no std::ranges::unique.
  calls.erase(std::unique(calls.begin(), calls.end(),
                          [](const Call* a, const Call* b) { return a->correlation == b->correlation; }),
              calls.end());
  return calls;
}

}  // namespace

std::map<std::string, Launches> launches_by_op(const Trace& trace, CaseIndex index) {
  const Captures captures(trace, index);
  const std::vector<std::int64_t> worked = worked_on(trace, index);
  std::map<PlaceIndex, Launches> by_place;
  for (const Call* const call : launching_calls(trace, index)) {
    Launches& there = by_place[call->place];
    if (std::ranges::binary_search(worked, call->correlation)) {
      ++there.with_work;
    } else if (captures.hold(*call)) {
      ++there.captured;
    } else {
      ++there.without_work;
    }
  }
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
