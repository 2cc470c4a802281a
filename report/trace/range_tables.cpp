#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/trace/nsys_schema.hpp"
#include "report/trace/table_parts.hpp"

namespace mprof::profile {
namespace {

using trace::Range;
using trace::RangeStyle;
using trace::Trace;

/// A range and where it stands among those of its thread, and the work of GPUs that was launched in it.
struct Nested {
  const Range* range = nullptr;
  std::int64_t id = 0;      ///< from 1, by start
  std::int64_t parent = 0;  ///< id of the push/pop range around it; 0: none
  std::int64_t level = 0;
  std::int64_t children = 0;
  std::int64_t in_children = 0;  ///< ns
  std::string stack{};           ///< ids from the outermost on, ":1:2"
  std::int64_t works = 0;
  std::optional<trace::Interval> projected{};
};

/// Of a style that code gave, on one thread, by start; what opens the stack comes before what lies in it.
std::vector<Nested> nested_ranges(const Trace& trace, const ProfileScope& scope) {
  std::vector<Nested> all;
  for (const Range& range : scope.of(trace.ranges)) {
    const bool is_one = range.style == RangeStyle::push_pop || range.style == RangeStyle::start_end;
    if (is_one && range.thread == range.end_thread) all.push_back({&range});
  }
  std::ranges::stable_sort(all, {}, [&](const Nested& one) {
    return std::tuple(one.range->time.start, -one.range->time.end, one.range->thread,
                      std::string_view(trace.names[one.range->name]));
  });
  std::unordered_map<std::int64_t, std::vector<std::size_t>> open;  // of each thread: push/pop ranges
  for (std::size_t i = 0; i < all.size(); ++i) {
    Nested& one = all[i];
    one.id = static_cast<std::int64_t>(i) + 1;
    std::vector<std::size_t>& stack = open[one.range->thread];
    while (!stack.empty() && all[stack.back()].range->time.end < one.range->time.end) stack.pop_back();
    one.stack = fmt::format(":{}", one.id);
    if (one.range->style != RangeStyle::push_pop) continue;
    if (!stack.empty()) {
      Nested& parent = all[stack.back()];
      one.parent = parent.id;
      one.level = parent.level + 1;
      one.stack = parent.stack + one.stack;
      ++parent.children;
      parent.in_children += one.range->time.length();
    }
    stack.push_back(i);
  }
  return all;
}

/// What a call led to: how many pieces of work of GPUs, and from when to when.
struct CallWork {
  std::int64_t works = 0;
  trace::Interval time{};
};

/// Gives each range the work that was launched in it.
class Projector {
 public:
  Projector(const Trace& trace, const ProfileScope& scope) : trace_(trace), scope_(scope) {
    add(scope.of(trace.kernels));
    add(scope.of(trace.graphs));
    add(scope.of(trace.transfers));
  }

  void project(std::vector<Nested>& ranges) const {
    std::map<std::int64_t, std::vector<const trace::Call*>> calls;  // by thread; one a correlation id
    std::map<std::pair<std::int64_t, std::int64_t>, const trace::Call*> outer;
    for (const trace::Call& call : scope_.of(trace_.calls)) {
      const auto key = std::pair(trace::nsys::process_of(call.thread), call.correlation);
      if (!works_.contains(key)) continue;
      const auto [entry, is_new] = outer.try_emplace(key, &call);
      if (!is_new && call.api == trace::Api::runtime && entry->second->api == trace::Api::driver)
        entry->second = &call;
    }
    for (const auto& [key, call] : outer) calls[call->thread].push_back(call);
    for (auto& [thread, of_thread] : calls)
      std::ranges::sort(of_thread, {}, [](const trace::Call* call) { return call->time.start; });
    for (Nested& one : ranges) {
      const auto found = calls.find(one.range->thread);
      if (found != calls.end()) project(one, found->second);
    }
  }

 private:
  template <class Row>
  void add(std::span<const Row> rows) {
    for (const Row& row : rows) {
      CallWork& work = works_[{row.process, row.correlation}];
      if (work.works++ == 0) work.time = row.time;
      work.time = {std::min(work.time.start, row.time.start), std::max(work.time.end, row.time.end)};
    }
  }

  void project(Nested& one, const std::vector<const trace::Call*>& calls) const {
    const trace::Interval& range = one.range->time;
    auto call =
        std::ranges::lower_bound(calls, range.start, {}, [](const trace::Call* c) { return c->time.start; });
    for (; call != calls.end() && (*call)->time.start <= range.end; ++call) {
      if ((*call)->time.end > range.end) continue;
      const CallWork& work = works_.at({trace::nsys::process_of((*call)->thread), (*call)->correlation});
      one.works += work.works;
      if (!one.projected) one.projected = work.time;
      one.projected = trace::Interval{std::min(one.projected->start, work.time.start),
                                      std::max(one.projected->end, work.time.end)};
    }
  }

  const Trace& trace_;
  const ProfileScope& scope_;
  std::map<std::pair<std::int64_t, std::int64_t>, CallWork> works_;
};

std::vector<Nested> projected_ranges(const Trace& trace, const ProfileScope& scope) {
  std::vector<Nested> ranges = nested_ranges(trace, scope);
  Projector(trace, scope).project(ranges);
  std::erase_if(ranges, [](const Nested& one) { return one.works == 0; });
  return ranges;
}

ProfileCell id_cell(std::int64_t id) {
  return id == 0 ? ProfileCell() : ProfileCell(id);
}

}  // namespace

ProfileTable range_sum(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  std::map<std::pair<trace::NameIndex, RangeStyle>, std::vector<std::int64_t>> times;
  for (const Range& range : scope.of(trace.ranges)) {
    if (range.style == RangeStyle::push_pop || range.style == RangeStyle::start_end)
      times[{range.name, range.style}].push_back(range.time.length());
  }
  std::vector<Summed> groups;
  for (auto& [key, durations] : times)
    groups.push_back({spread_of(durations), {style_text(key.second), trace.names[key.first]}});
  return summary(report, "Instances", {words("Style"), words("Range")}, std::move(groups));
}

ProfileTable push_pop_trace(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  ProfileTable table = empty_table(report);
  table.columns = {whole("Start", "ns"),
                   whole("End", "ns"),
                   whole("Duration", "ns"),
                   whole("DurChild", "ns"),
                   whole("DurNonChild", "ns"),
                   words("Name"),
                   whole("PID"),
                   whole("TID"),
                   whole("Lvl"),
                   whole("NumChild"),
                   whole("RangeId"),
                   whole("ParentId"),
                   words("RangeStack"),
                   words("NameTree")};
  std::vector<ProfileRow> rows;
  for (const Nested& one : nested_ranges(trace, scope)) {
    const Range& range = *one.range;
    if (range.style != RangeStyle::push_pop) continue;
    std::string indent;
    for (std::int64_t i = 0; i < one.level; ++i) indent += "--";
    rows.push_back({range.time.start, range.time.end, range.time.length(), one.in_children,
                    range.time.length() - one.in_children, trace.names[range.name],
                    trace::nsys::native_process(range.thread), trace::nsys::native_thread(range.thread),
                    one.level, one.children, one.id, id_cell(one.parent), one.stack,
                    indent + trace.names[range.name]});
  }
  return with_rows(std::move(table), std::move(rows));
}

ProfileTable projection_trace(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  ProfileTable table = empty_table(report);
  table.columns = {words("Name"),
                   whole("Projected Start", "ns"),
                   whole("Projected Duration", "ns"),
                   whole("Orig Start", "ns"),
                   whole("Orig Duration", "ns"),
                   words("Style"),
                   whole("PID"),
                   whole("TID"),
                   whole("NumGPUOps"),
                   whole("Lvl"),
                   whole("NumChild"),
                   whole("RangeId"),
                   whole("ParentId"),
                   words("RangeStack")};
  std::vector<Nested> ranges = projected_ranges(trace, scope);
  std::ranges::stable_sort(ranges, {}, [](const Nested& one) { return one.projected->start; });
  std::vector<ProfileRow> rows;
  for (const Nested& one : ranges) {
    const Range& range = *one.range;
    rows.push_back({trace.names[range.name], one.projected->start, one.projected->length(), range.time.start,
                    range.time.length(), style_text(range.style), trace::nsys::native_process(range.thread),
                    trace::nsys::native_thread(range.thread), one.works, one.level, one.children, one.id,
                    id_cell(one.parent), one.stack});
  }
  return with_rows(std::move(table), std::move(rows));
}

ProfileTable projection_sum(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  struct Sums {
    std::vector<std::int64_t> projected;
    std::int64_t original = 0, works = 0, level = 0, children = 0;
  };
  std::map<std::pair<trace::NameIndex, RangeStyle>, Sums> groups;
  for (const Nested& one : projected_ranges(trace, scope)) {
    Sums& sums = groups[{one.range->name, one.range->style}];
    sums.projected.push_back(one.projected->length());
    sums.original += one.range->time.length();
    sums.works += one.works;
    sums.level += one.level;
    sums.children += one.children;
  }
  ProfileTable table = empty_table(report);
  table.columns = {words("Range"),
                   words("Style"),
                   whole("Total Proj Time", "ns"),
                   whole("Total Range Time", "ns"),
                   whole("Range Instances"),
                   rounded("Proj Avg", "ns", 1),
                   rounded("Proj Med", "ns", 1),
                   whole("Proj Min", "ns"),
                   whole("Proj Max", "ns"),
                   rounded("Proj StdDev", "ns", 1),
                   whole("Total GPU Ops"),
                   rounded("Avg GPU Ops", "", 1),
                   rounded("Avg Range Lvl", "", 1),
                   rounded("Avg Num Child", "", 1)};
  std::vector<ProfileRow> rows;
  for (auto& [key, sums] : groups) {
    const Spread spread = spread_of(sums.projected);
    const auto mean = [&](std::int64_t sum) {
      return static_cast<double>(sum) / static_cast<double>(spread.count);
    };
    rows.push_back({trace.names[key.first], style_text(key.second), spread.total, sums.original, spread.count,
                    spread.average, spread.median, spread.smallest, spread.largest, spread.deviation,
                    sums.works, mean(sums.works), mean(sums.level), mean(sums.children)});
  }
  std::ranges::sort(rows, [](const ProfileRow& a, const ProfileRow& b) {
    return std::tie(b[2], a[0], a[1]) < std::tie(a[2], b[0], b[1]);
  });
  return with_rows(std::move(table), std::move(rows));
}

}  // namespace mprof::profile
