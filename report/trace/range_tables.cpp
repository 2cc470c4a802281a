// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/trace/id_map.hpp"
#include "model/trace/nsys_schema.hpp"
#include "report/trace/table_parts.hpp"

namespace mprof::profile {
namespace {

using trace::Interval;
using trace::Range;
using trace::RangeStyle;
using trace::Trace;

/// A range and where it stands among those of its thread, and the work of GPUs that was launched in it.
struct Nested {
  const Range* range = nullptr;
  std::int64_t id = 0;      ///< of an export: its row in NVTX_EVENTS, as in nsys; else from 1, by start
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
  const bool have_rows = std::ranges::all_of(all, [](const Nested& one) { return one.range->row != 0; });
  std::unordered_map<std::int64_t, std::vector<std::size_t>> open;  // of each thread: push/pop ranges
  for (std::size_t i = 0; i < all.size(); ++i) {
    Nested& one = all[i];
    one.id = have_rows ? one.range->row : static_cast<std::int64_t>(i) + 1;
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
    const trace::Kernels& kernels = trace.kernels;
    for (const trace::KernelRow& row : scope.of(kernels.rows()))
      add(kernels.shared(row).process, kernels.correlation(row), row.time);
    for (const trace::GraphExecution& row : scope.of(trace.graphs))
      add(row.process, row.correlation, row.time);
    for (const trace::Transfer& row : scope.of(trace.transfers)) add(row.process, row.correlation, row.time);
  }

  void project(std::vector<Nested>& ranges) {
    std::vector<const trace::Call*> outer(works_.size(), nullptr);
    for (const trace::Call& call : scope_.of(trace_.calls)) {
      const std::uint32_t work = works_of_ids_.find(trace::nsys::process_of(call.thread), call.correlation);
      if (work == 0) continue;
      const trace::Call*& known = outer[work - 1];
      const bool is_outer =
          known != nullptr && call.api == trace::Api::runtime && known->api == trace::Api::driver;
      if (known == nullptr || is_outer) known = &call;
    }
    std::map<std::int64_t, std::vector<Made>> calls;  // by thread; one a correlation id
    for (std::size_t i = 0; i < outer.size(); ++i) {
      if (outer[i] != nullptr) calls[outer[i]->thread].push_back({outer[i], &works_[i]});
    }
    for (auto& [thread, of_thread] : calls) {
      const auto start = [](const Made& made) { return made.call->time.start; };
      if (!std::ranges::is_sorted(of_thread, {}, start)) std::ranges::sort(of_thread, {}, start);
    }
    for (Nested& one : ranges) {
      const auto found = calls.find(one.range->thread);
      if (found != calls.end()) project(one, found->second);
    }
  }

 private:
  /// A call, and what it led to.
  struct Made {
    const trace::Call* call = nullptr;
    const CallWork* work = nullptr;
  };

  void add(std::int64_t process, std::int64_t correlation, const trace::Interval& time) {
    std::uint32_t& number = works_of_ids_(process, correlation);
    if (number == 0) {
      works_.push_back({0, time});
      number = static_cast<std::uint32_t>(works_.size());
    }
    CallWork& work = works_[number - 1];
    ++work.works;
    work.time = {std::min(work.time.start, time.start), std::max(work.time.end, time.end)};
  }

  static void project(Nested& one, const std::vector<Made>& calls) {
    const trace::Interval& range = one.range->time;
    auto made = std::ranges::lower_bound(calls, range.start, {},
                                         [](const Made& each) { return each.call->time.start; });
    for (; made != calls.end() && made->call->time.start <= range.end; ++made) {
      if (made->call->time.end > range.end) continue;
      const CallWork& work = *made->work;
      one.works += work.works;
      if (!one.projected) one.projected = work.time;
      one.projected = trace::Interval{std::min(one.projected->start, work.time.start),
                                      std::max(one.projected->end, work.time.end)};
    }
  }

  const Trace& trace_;
  const ProfileScope& scope_;
  std::vector<CallWork> works_;
  trace::IdMap works_of_ids_;  ///< their places from 1 on, by correlation id
};

/// Those that are among the ranges themselves.
void count_children(std::vector<Nested>& ranges) {
  std::unordered_map<std::int64_t, std::int64_t> children;
  for (const Nested& one : ranges) ++children[one.parent];
  for (Nested& one : ranges) one.children = children[one.id];
}

std::vector<Nested> projected_ranges(const Trace& trace, const ProfileScope& scope) {
  std::vector<Nested> ranges = nested_ranges(trace, scope);
  Projector(trace, scope).project(ranges);
  std::erase_if(ranges, [](const Nested& one) { return one.works == 0; });
  count_children(ranges);
  return ranges;
}

ProfileCell parent_id(const Nested& one, const Trace&) {
  return one.parent == 0 ? ProfileCell() : cell_of(one.parent);
}
ProfileCell outside_children(const Nested& one, const Trace&) {
  return one.range->time.length() - one.in_children;
}
/// Under the names of the ranges around it.
ProfileCell indented_name(const Nested& one, const Trace& trace) {
  std::string text;
  for (std::int64_t i = 0; i < one.level; ++i) text += "--";
  return text + trace.names[one.range->name];
}

/// The ranges of one name and style that work was launched in; sums over them.
struct ProjectedRanges {
  trace::NameIndex name = 0;
  RangeStyle style = RangeStyle::push_pop;
  Spread projected{};
  std::int64_t original = 0;  ///< ns
  std::int64_t works = 0;
  std::int64_t level = 0;
  std::int64_t children = 0;
};

template <auto Sum>
ProfileCell mean(const ProjectedRanges& row, const Trace&) {
  return static_cast<double>(row.*Sum) / static_cast<double>(row.projected.count);
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
    groups.push_back(
        {.time = spread_of(durations), .name = trace.names[key.first], .style = style_text(key.second)});
  return summary(report, trace, "Instances",
                 {{words("Style"), plain<&Summed::style>}, {words("Range"), plain<&Summed::name>}},
                 std::move(groups));
}

ProfileTable push_pop_trace(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  std::vector<Nested> ranges = nested_ranges(trace, scope);
  std::erase_if(ranges, [](const Nested& one) { return one.range->style != RangeStyle::push_pop; });
  return table_of<Nested>(report, trace,
                          {
                              {whole("Start", "ns"), plain<&Nested::range, &Range::time, &Interval::start>},
                              {whole("End", "ns"), plain<&Nested::range, &Range::time, &Interval::end>},
                              {whole("Duration", "ns"), length<&Nested::range, &Range::time>},
                              {whole("DurChild", "ns"), plain<&Nested::in_children>},
                              {whole("DurNonChild", "ns"), outside_children},
                              {words("Name"), named<&Nested::range, &Range::name>},
                              {whole("PID"), process<&Nested::range, &Range::thread>},
                              {whole("TID"), thread<&Nested::range, &Range::thread>},
                              {whole("Lvl"), plain<&Nested::level>},
                              {whole("NumChild"), plain<&Nested::children>},
                              {whole("RangeId"), plain<&Nested::id>},
                              {whole("ParentId"), parent_id},
                              {words("RangeStack"), plain<&Nested::stack>},
                              {words("NameTree"), indented_name},
                          },
                          std::move(ranges));
}

ProfileTable projection_trace(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  std::vector<Nested> ranges = projected_ranges(trace, scope);
  std::ranges::stable_sort(ranges, {}, [](const Nested& one) { return one.projected->start; });
  return table_of<Nested>(
      report, trace,
      {
          {words("Name"), named<&Nested::range, &Range::name>},
          {whole("Projected Start", "ns"), plain<&Nested::projected, &Interval::start>},
          {whole("Projected Duration", "ns"), length<&Nested::projected>},
          {whole("Orig Start", "ns"), plain<&Nested::range, &Range::time, &Interval::start>},
          {whole("Orig Duration", "ns"), length<&Nested::range, &Range::time>},
          {words("Style"), style<&Nested::range, &Range::style>},
          {whole("PID"), process<&Nested::range, &Range::thread>},
          {whole("TID"), thread<&Nested::range, &Range::thread>},
          {whole("NumGPUOps"), plain<&Nested::works>},
          {whole("Lvl"), plain<&Nested::level>},
          {whole("NumChild"), plain<&Nested::children>},
          {whole("RangeId"), plain<&Nested::id>},
          {whole("ParentId"), parent_id},
          {words("RangeStack"), plain<&Nested::stack>},
      },
      std::move(ranges));
}

ProfileTable projection_sum(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  std::map<std::pair<trace::NameIndex, RangeStyle>, std::pair<ProjectedRanges, std::vector<std::int64_t>>>
      groups;
  for (const Nested& one : projected_ranges(trace, scope)) {
    auto& [sums, projected] = groups[{one.range->name, one.range->style}];
    projected.push_back(one.projected->length());
    sums.original += one.range->time.length();
    sums.works += one.works;
    sums.level += one.level;
    sums.children += one.children;
  }
  using Row = ProjectedRanges;
  std::vector<Row> rows;
  for (auto& [key, group] : groups) {
    auto& [sums, projected] = group;
    std::tie(sums.name, sums.style) = key;
    sums.projected = spread_of(projected);
    rows.push_back(sums);
  }
  std::ranges::sort(rows, {}, [&](const Row& row) {
    return std::tuple(-row.projected.total, std::string_view(trace.names[row.name]), style_text(row.style));
  });
  std::vector<TableColumn<Row>> columns{
      {words("Range"), named<&Row::name>},
      {words("Style"), style<&Row::style>},
      {whole("Total Proj Time", "ns"), plain<&Row::projected, &Spread::total>},
      {whole("Total Range Time", "ns"), plain<&Row::original>},
      {whole("Range Instances"), plain<&Row::projected, &Spread::count>},
  };
  add_spread<&Row::projected>(columns, "Proj ");
  std::vector<TableColumn<Row>> means{
      {whole("Total GPU Ops"), plain<&Row::works>},
      {rounded("Avg GPU Ops", "", 1), mean<&Row::works>},
      {rounded("Avg Range Lvl", "", 1), mean<&Row::level>},
      {rounded("Avg Num Child", "", 1), mean<&Row::children>},
  };
  std::ranges::move(means, std::back_inserter(columns));
  return table_of(report, trace, std::move(columns), std::move(rows));
}

}  // namespace mprof::profile
