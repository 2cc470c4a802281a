// SPDX-License-Identifier: MIT
#include "model/trace/range_payloads.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/trace/nsys_schema.hpp"

namespace mprof::trace {
namespace {

/// ns: clocks of records and of payloads agree to microseconds, unless the thread is held in between.
constexpr std::int64_t near = 20'000, held = 10'000'000;

/// The ranges that a thread began in named domains, and of them those that it pushed by their ends.
struct OfThread {
  std::vector<Range*> by_start{};
  std::vector<Range*> by_end{};
};

std::unordered_map<std::int64_t, OfThread> begun_ranges(Trace& trace) {
  std::unordered_map<std::int64_t, OfThread> threads;
  for (Range& range : trace.ranges) {
    const bool is_pushed = range.style == RangeStyle::push_pop;
    if (range.domain == 0 || (!is_pushed && range.style != RangeStyle::start_end)) continue;
    OfThread& of = threads[range.thread];
    of.by_start.push_back(&range);
    if (is_pushed) of.by_end.push_back(&range);
  }
  for (auto& [thread, of] : threads) {
    std::ranges::stable_sort(of.by_start, {}, [](const Range* range) { return range->time.start; });
    std::ranges::stable_sort(of.by_end, {}, [](const Range* range) { return range->time.end; });
  }
  return threads;
}

/// The range whose moment lies nearest; nullptr where it is farther than the limit.
template <class Moment>
Range* nearest_range(const std::vector<Range*>& sorted, std::int64_t time, std::int64_t limit,
                     const Moment& moment) {
  auto after = std::ranges::lower_bound(sorted, time, {}, moment);
  Range* found = nullptr;
  std::int64_t distance = limit + 1;
  const auto consider = [&](Range* range) {
    const std::int64_t own = std::abs(moment(range) - time);
    if (own < distance) {
      distance = own;
      found = range;
    }
  };
  if (after != sorted.end()) consider(*after);
  if (after != sorted.begin()) consider(*std::prev(after));
  return found;
}

Range* range_of(const OfThread& of, const journal::Payload& payload) {
  const auto start = [](const Range* range) { return range->time.start; };
  const auto end = [](const Range* range) { return range->time.end; };
  if (payload.is_end != 0) {  // it is given just before the range ends, and those within have ended
    const auto after = std::ranges::lower_bound(of.by_end, payload.time, {}, end);
    const bool is_open = after != of.by_end.end() && (*after)->time.start <= payload.time &&
                         (*after)->time.end - payload.time <= held;
    if (is_open) return *after;
    return nearest_range(of.by_end, payload.time, near, end);
  }
  Range* counted = nullptr;
  if (payload.number > 0 && payload.number <= of.by_start.size()) counted = of.by_start[payload.number - 1];
  const auto is_within = [&](std::int64_t limit) {
    return counted != nullptr && std::abs(counted->time.start - payload.time) <= limit;
  };
  if (is_within(near)) return counted;
  // However long the thread was held in between: it is the last range that began before.
  const Range* const next = payload.number < of.by_start.size() ? of.by_start[payload.number] : nullptr;
  if (counted != nullptr && counted->time.start <= payload.time &&
      (next == nullptr || next->time.start >= payload.time))
    return counted;
  Range* const by_time = nearest_range(of.by_start, payload.time, near, start);
  return by_time == nullptr && is_within(held) ? counted : by_time;
}

}  // namespace

void add_payloads(Trace& trace, const journal::Journal& journal) {
  if (journal.payloads.empty()) return;
  const auto threads = begun_ranges(trace);
  for (const auto& [payload, bytes] : journal.payloads) {
    const auto schema = journal.schemas.find({payload.domain, payload.schema});
    const auto of =
        threads.find(nsys::global_thread(nsys::global_process(journal.head.process), payload.thread));
    if (schema == journal.schemas.end() || of == threads.end()) continue;
    Range* const range = range_of(of->second, payload);
    if (range != nullptr && range->payload == 0)
      range->payload = trace.names.index(payload_json(schema->second, bytes));
  }
}

}  // namespace mprof::trace
