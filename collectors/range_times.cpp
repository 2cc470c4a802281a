// SPDX-License-Identifier: MIT
#include "collectors/range_times.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "model/trace/interval_set.hpp"
#include "model/trace/journal_reader.hpp"
#include "model/trace/nsys_schema.hpp"
#include "model/trace/op_name.hpp"
#include "model/trace/program.hpp"
#include "model/trace/steps.hpp"

namespace mprof {
namespace {

std::string text_of(const journal::Journal& journal, std::uint64_t number) {
  const auto found = journal.texts.find(number);
  return found == journal.texts.end() ? std::string() : found->second;
}

void add_ranges(const journal::Journal& journal, trace::Trace& trace) {
  const std::int64_t process = trace::nsys::global_process(journal.head.process);
  for (const journal::Range& range : journal.ranges) {
    const std::string domain = text_of(journal, range.domain);
    const std::int64_t thread = trace::nsys::global_thread(process, range.thread);
    trace.ranges.push_back(
        {.time = {range.start, range.end},
         .thread = thread,
         .end_thread = thread,
         .name = trace.names.index(domain + ":" + text_of(journal, range.text)),
         .domain = trace.names.index(domain),
         .style = range.is_of_thread != 0 ? trace::RangeStyle::push_pop : trace::RangeStyle::start_end});
  }
}

Measurement group_time(const trace::Trace& trace, const std::string& op) {
  constexpr double nano = 1e-9;
  std::vector<trace::Interval> times;
  for (const trace::Range& range : trace.ranges) {
    if (range.style == trace::RangeStyle::extent && trace.places[range.place].op == op)
      times.push_back(range.time);
  }
  return {.metric = "group_time",
          .op = op,
          .samples = {nano * static_cast<double>(trace::IntervalSet(std::move(times)).length())}};
}

std::uint64_t most_in_a_process(const trace::Trace& trace, const std::string& name) {
  std::map<std::int64_t, std::uint64_t> counts;
  for (const trace::Range& range : trace.ranges) {
    const bool is_own = range.style == trace::RangeStyle::extent || range.style == trace::RangeStyle::mark;
    if (!is_own && trace::without_numbers(trace.text_of(range)) == name)
      ++counts[trace::nsys::process_of(range.thread)];
  }
  std::uint64_t most = 0;
  for (const auto& [process, count] : counts) most = std::max(most, count);
  return most;
}

}  // namespace

RangeTimes read_range_times(const std::filesystem::path& folder, const std::string& ops) {
  const std::vector<journal::Journal> journals = journal::read_journals(folder);
  trace::Trace trace;
  for (const journal::Journal& journal : journals) add_ranges(journal, trace);
  RangeTimes times{.ops = trace::make_program_case(trace, {.case_id = "timed", .ops = ops})};
  if (!trace.cases.empty()) {
    const auto steps = steps_of(trace, 0);
    if (steps && steps->mark == StepMark::ranges) {
      times.step_range = steps->names.front();
      times.steps = steps->all.size();
      times.step_ranges = most_in_a_process(trace, times.step_range);
    }
  }
  std::erase(times.ops, trace::whole_program);  // no range is one of the ops
  // What a process that was ended otherwise had not written yet is missing, nobody knows how much.
  const bool whole = std::ranges::all_of(journals, &journal::Journal::has_ended);
  for (const std::string& op : times.ops) {
    Measurement row = group_time(trace, op);
    if (!whole) {
      row.samples.clear();
      row.absent =
          "a process ended without running its exit handlers, so that some of its ranges are not known";
    }
    times.group_times.push_back(std::move(row));
  }
  return times;
}

}  // namespace mprof
