// SPDX-License-Identifier: MIT
#include "report/analysis/program/drawn_step.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

#include "model/kernel_name.hpp"
#include "model/trace/launched_work.hpp"
#include "model/trace/nsys_schema.hpp"

namespace mprof {
namespace {

constexpr std::size_t threads_drawn = 6, streams_drawn = 12, depths_drawn = 8;

OtherPaint paint_of_call(trace::CallKind kind) {
  switch (kind) {
    case trace::CallKind::wait:
      return OtherPaint::wait;
    case trace::CallKind::allocation:
      return OtherPaint::allocation;
    case trace::CallKind::transfer:
      return OtherPaint::copy_call;
    case trace::CallKind::launch:
      return OtherPaint::launch;
    case trace::CallKind::other:
      break;
  }
  return OtherPaint::other_call;
}

OtherPaint paint_of_transfer(const trace::Transfer& transfer) {
  if (transfer.is_set()) return OtherPaint::memset;
  if (trace::is_into_device(transfer.kind)) return OtherPaint::copy_in;
  return trace::is_out_of_device(transfer.kind) ? OtherPaint::copy_out : OtherPaint::copy_other;
}

/// Blocks of one lane as one: of those that follow each other.
DrawnBlock as_one(std::span<const DrawnBlock> blocks) {
  DrawnBlock one = blocks.front();
  if (blocks.size() == 1) return one;
  std::array<std::int64_t, all_paints> of_paint{};
  std::int64_t end = one.time.start;
  one.count = 0;
  one.busy = 0;
  for (const DrawnBlock& block : blocks) {
    of_paint.at(block.paint) += block.busy;
    one.busy += std::clamp<std::int64_t>(block.time.end - std::max(end, block.time.start), 0, block.busy);
    one.count += block.count;
    if (block.name != one.name) one.name = 0;
    end = std::max(end, block.time.end);
  }
  one.time.end = end;
  one.paint = static_cast<Paint>(std::ranges::max_element(of_paint) - of_paint.begin());
  return one;
}

/// Blocks that are shorter than `part` become one with those after them that end within a part.
std::vector<DrawnBlock> thinned(const std::vector<DrawnBlock>& blocks, std::int64_t part) {
  std::vector<DrawnBlock> kept;
  for (std::size_t first = 0; first < blocks.size();) {
    std::size_t end = first + 1;
    while (end < blocks.size() && blocks[first].time.length() < part && blocks[end].time.length() < part &&
           blocks[end].time.end - blocks[first].time.start <= part)
      ++end;
    kept.push_back(as_one(std::span(blocks).subspan(first, end - first)));
    first = end;
  }
  return kept;
}

class StepDrawing {
 public:
  StepDrawing(const trace::Trace& trace, trace::CaseIndex index, const Steps& steps,
              const DrawnLimits& limits)
      : trace_(trace), index_(index), steps_(steps), limits_(limits) {}

  std::optional<DrawnStep> drawn() {
    find_step();
    collect_work();
    collect();
    if (!limits_.view_alone && drawn_.blocks > limits_.blocks && drawn_.view.start > 0) {
      set_window(drawn_.window.start + drawn_.view.start);
      collect();
    }
    if (drawn_.blocks == 0) return std::nullopt;
    if (limits_.parts > 0) thin(std::max<std::int64_t>(drawn_.window.length() / limits_.parts, 1));
    constexpr std::int64_t finest = 32'768;
    for (std::int64_t parts = finest; drawn_.blocks > limits_.blocks && parts > 1; parts /= 2)
      thin(std::max<std::int64_t>(drawn_.window.length() / parts, 1));
    join();
    return std::move(drawn_);
  }

 private:
  void find_step() {
    const double usual = steps_.median_pace();
    double nearest = std::numeric_limits<double>::max();
    std::vector<std::size_t> usual_ones;
    for (std::size_t i = steps_.steady; i < steps_.all.size(); ++i) {
      const double distance = std::abs(static_cast<double>(steps_.all[i].pace) - usual);
      if (distance < nearest) usual_ones.clear();
      nearest = std::min(nearest, distance);
      if (distance <= nearest) usual_ones.push_back(i);
    }
    drawn_.step = usual_ones[usual_ones.size() / 2];
    const ProgramStep& step = steps_.all[drawn_.step];
    constexpr std::int64_t most_steps = 8;
    own_ = {step.done - step.pace, step.done};
    view_ = own_;
    if (step.host.start < own_.start && own_.start - step.host.start <= own_.length())
      view_.start = step.host.start;
    const std::int64_t earliest = view_.end - most_steps * std::max<std::int64_t>(own_.length(), 1);
    set_window(limits_.view_alone ? view_.start : std::max(std::min(step.host.start, view_.start), earliest));
  }

  void set_window(std::int64_t start) {
    drawn_.window = {start, view_.end};
    drawn_.view = {view_.start - start, view_.end - start};
    drawn_.own = {own_.start - start, own_.end - start};
  }

  [[nodiscard]] bool is_in_window(const trace::Interval& time) const {
    return time.start < drawn_.window.end && time.end > drawn_.window.start;
  }

  [[nodiscard]] DrawnBlock block(const trace::Interval& time, Paint paint, std::uint32_t name) const {
    DrawnBlock one{.paint = paint, .name = name};
    one.time = {std::max(time.start, drawn_.window.start) - drawn_.window.start,
                std::min(time.end, drawn_.window.end) - drawn_.window.start};
    one.busy = one.time.length();
    return one;
  }

  std::uint32_t name(const std::string& text) {
    const auto [entry, is_new] = names_.try_emplace(text, static_cast<std::uint32_t>(drawn_.names.size()));
    if (is_new) drawn_.names.push_back(text);
    return text.empty() ? 0 : entry->second;
  }

  /// What runs in the window.
  void collect_work() {
    trace::LaunchedWorks(trace_, index_).each([&](const trace::LaunchedWork& work) {
      if (is_in_window(work.time)) work_.push_back(work);
    });
    std::ranges::stable_sort(work_, {}, [](const trace::LaunchedWork& work) { return work.call.start; });
  }

  void collect() {
    drawn_.lanes.clear();
    drawn_.names.resize(1);
    drawn_.deeper = 0;
    names_.clear();
    collect_threads();
    collect_streams();
    collect_idle();
    count();
  }

  void count() {
    drawn_.blocks = 0;
    for (const DrawnLane& lane : drawn_.lanes) drawn_.blocks += lane.blocks.size();
  }

  void thin(std::int64_t part) {
    drawn_.merged = part;
    for (DrawnLane& lane : drawn_.lanes) lane.blocks = thinned(lane.blocks, part);
    count();
  }

  /// What a thread did: its calls, and by depth its ranges.
  struct Thread {
    std::vector<DrawnBlock> calls{};
    std::vector<std::vector<DrawnBlock>> ranges{};
    std::size_t rows = 0;
  };

  void collect_threads() {
    std::map<std::int64_t, Thread> threads;
    collect_calls(threads);
    collect_ranges(threads);
    std::vector<std::int64_t> order;
    for (const auto& [thread, what] : threads) order.push_back(thread);
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::int64_t thread) {
      return std::pair(!threads.at(thread).ranges.empty(), threads.at(thread).rows);
    });
    drawn_.more_threads = order.size() - std::min(order.size(), threads_drawn);
    order.resize(std::min(order.size(), threads_drawn));
    for (const std::int64_t thread : order) {
      const auto known = std::ranges::find(trace_.threads, thread, &trace::ThreadInfo::id);
      DrawnLane lane{.thread = trace::nsys::native_thread(thread),
                     .thread_name = known == trace_.threads.end() ? "" : known->name};
      lane.what = LaneOf::ranges;
      for (std::vector<DrawnBlock>& blocks : threads.at(thread).ranges) {
        lane.blocks = std::move(blocks);
        add(lane, thread);
        ++lane.depth;
      }
      lane.what = LaneOf::calls;
      lane.depth = 0;
      lane.blocks = std::move(threads.at(thread).calls);
      if (!lane.blocks.empty()) add(lane, thread);
    }
  }

  void add(const DrawnLane& lane, std::int64_t thread) {
    if (lane.what == LaneOf::calls) calls_of_[thread] = drawn_.lanes.size();
    drawn_.lanes.push_back(lane);
  }

  /// A call within another one is part of it.
  void collect_calls(std::map<std::int64_t, Thread>& threads) {
    calls_of_.clear();
    std::vector<const trace::Call*> calls;
    for (const trace::Call& call : trace::of_case(trace_.calls, index_)) {
      if (is_in_window(call.time)) calls.push_back(&call);
    }
    std::ranges::stable_sort(calls, [](const trace::Call* a, const trace::Call* b) {
      return std::pair(a->time.start, -a->time.end) < std::pair(b->time.start, -b->time.end);
    });
    std::map<std::int64_t, std::int64_t> ends;
    trace::CallKinds kinds(trace_);
    for (const trace::Call* call : calls) {
      const auto [end, is_first] = ends.try_emplace(call->thread, call->time.end);
      if (!is_first && call->time.start < end->second) continue;
      end->second = call->time.end;
      Thread& thread = threads[call->thread];
      thread.calls.push_back(
          block(call->time, paint_of(paint_of_call(kinds.of(*call))), name(trace_.names[call->name])));
      ++thread.rows;
    }
  }

  void collect_ranges(std::map<std::int64_t, Thread>& threads) {
    std::vector<const trace::Range*> ranges;
    for (const trace::Range& range : trace::of_case(trace_.ranges, index_)) {
      if (range.style == trace::RangeStyle::push_pop && is_in_window(range.time) &&
          trace_.names[range.domain] != trace::own_domain)
        ranges.push_back(&range);
    }
    std::ranges::stable_sort(ranges, [](const trace::Range* a, const trace::Range* b) {
      return std::pair(a->time.start, -a->time.end) < std::pair(b->time.start, -b->time.end);
    });
    std::map<std::int64_t, std::vector<std::int64_t>> open;
    for (const trace::Range* range : ranges) {
      std::vector<std::int64_t>& ends = open[range->thread];
      while (!ends.empty() && ends.back() <= range->time.start) ends.pop_back();
      if (ends.size() == depths_drawn) {
        ++drawn_.deeper;
        continue;
      }
      Thread& thread = threads[range->thread];
      if (thread.ranges.size() <= ends.size()) thread.ranges.resize(ends.size() + 1);
      thread.ranges[ends.size()].push_back(
          block(range->time, paint_of(OtherPaint::range), name(std::string(trace_.text_of(*range)))));
      ++thread.rows;
      ends.push_back(range->time.end);
    }
  }

  /// The kernels' own names, told apart as in the other sections.
  void name_kernels() {
    std::vector<KernelName> all;
    std::vector<trace::NameIndex> wholes;
    std::set<trace::NameIndex> seen;
    for (const trace::LaunchedWork& work : work_) {
      if (work.what != trace::LaunchedWork::What::kernel || !is_in_window(work.time)) continue;
      const trace::NameIndex whole = trace_.kernels.shared(trace_.kernels.rows()[work.row]).name;
      if (!seen.insert(whole).second) continue;
      wholes.push_back(whole);
      all.push_back(kernel_name_of_demangled(trace_.names[whole]));
    }
    const std::vector<std::string> distinct = distinct_names(all);
    kernels_.clear();
    for (std::size_t i = 0; i < wholes.size(); ++i)
      kernels_[wholes[i]] = {paint_of(kernel_kind(trace_.names[wholes[i]])), name(distinct[i])};
  }

  [[nodiscard]] trace::Queue queue_of(const trace::LaunchedWork& work) const {
    if (work.what == trace::LaunchedWork::What::graph) return trace_.graphs[work.row].queue;
    if (work.what == trace::LaunchedWork::What::transfer) return trace_.transfers[work.row].queue;
    return trace_.kernels.shared(trace_.kernels.rows()[work.row]).queue;
  }

  DrawnBlock block_of(const trace::LaunchedWork& work) {
    if (work.what == trace::LaunchedWork::What::graph)
      return block(work.time, paint_of(OtherPaint::graph), name("CUDA graph"));
    if (work.what == trace::LaunchedWork::What::transfer) {
      const trace::Transfer& transfer = trace_.transfers[work.row];
      return block(work.time, paint_of(paint_of_transfer(transfer)), name(trace_.operation(transfer.kind)));
    }
    const auto& [paint, text] = kernels_.at(trace_.kernels.shared(trace_.kernels.rows()[work.row]).name);
    return block(work.time, paint, text);
  }

  void collect_streams() {
    name_kernels();
    streams_.clear();
    drawn_.work = drawn_.launched_before = 0;
    drawn_.lead = 0;
    std::map<trace::Queue, std::vector<const trace::LaunchedWork*>> all;
    for (const trace::LaunchedWork& work : work_) {
      if (!is_in_window(work.time)) continue;
      all[queue_of(work)].push_back(&work);
      if (work.time.end <= view_.start) continue;
      ++drawn_.work;
      if (work.call.start >= view_.start) continue;
      ++drawn_.launched_before;
      drawn_.lead = std::max(drawn_.lead, view_.start - work.call.start);
    }
    std::vector<std::pair<std::size_t, trace::Queue>> by_work;
    std::set<std::uint32_t> gpus;
    for (auto& [queue, works] : all) {
      std::ranges::stable_sort(works, {}, [](const trace::LaunchedWork* work) { return work->time.start; });
      by_work.emplace_back(works.size(), queue);
      gpus.insert(queue.device);
    }
    drawn_.several_gpus = gpus.size() > 1;
    std::ranges::stable_sort(by_work, std::ranges::greater{}, [](const auto& one) { return one.first; });
    drawn_.more_streams = by_work.size() - std::min(by_work.size(), streams_drawn);
    by_work.resize(std::min(by_work.size(), streams_drawn));
    std::ranges::sort(by_work, {}, [](const auto& one) { return one.second; });
    for (const auto& [unused, queue] : by_work) {
      DrawnLane lane{.what = LaneOf::stream, .queue = queue};
      for (const trace::LaunchedWork* work : all.at(queue)) lane.blocks.push_back(block_of(*work));
      streams_.emplace_back(drawn_.lanes.size(), std::move(all.at(queue)));
      drawn_.lanes.push_back(std::move(lane));
    }
  }

  void collect_idle() {
    DrawnLane lane{.what = LaneOf::idle};
    const auto causes = idle_moments(trace_, index_, drawn_.window);
    for (std::size_t i = 0; i < budget_parts; ++i) {
      for (const trace::Interval& time : causes.at(i).intervals())
        lane.blocks.push_back(block(time, paint_of(static_cast<BudgetPart>(i)), 0));
    }
    std::ranges::stable_sort(lane.blocks, {}, [](const DrawnBlock& one) { return one.time.start; });
    if (!lane.blocks.empty()) drawn_.lanes.push_back(std::move(lane));
  }

  /// Joins each block of a stream with the block of the call that launched it, or the first of it.
  void join() {
    std::map<std::size_t, std::uint32_t> first;  // the number of the first block of each lane of calls
    std::uint32_t next = 1;
    for (std::size_t i = 0; i < drawn_.lanes.size(); ++i) {
      if (drawn_.lanes[i].what != LaneOf::calls) continue;
      first[i] = next;
      next += static_cast<std::uint32_t>(drawn_.lanes[i].blocks.size());
    }
    for (const auto& [lane, works] : streams_) {
      std::size_t at = 0;
      for (DrawnBlock& block : drawn_.lanes[lane].blocks) {
        const trace::LaunchedWork& work = *works[at];
        at += block.count;
        const auto calls = calls_of_.find(work.thread);
        const std::int64_t called = work.call.start - drawn_.window.start;
        if (calls == calls_of_.end() || called < 0) continue;
        const std::vector<DrawnBlock>& all = drawn_.lanes[calls->second].blocks;
        const auto behind =
            std::ranges::upper_bound(all, called, {}, [](const DrawnBlock& one) { return one.time.start; });
        if (behind != all.begin() && std::prev(behind)->time.end >= called)
          block.launch =
              first.at(calls->second) + static_cast<std::uint32_t>(std::prev(behind) - all.begin());
      }
    }
  }

  const trace::Trace& trace_;
  trace::CaseIndex index_;
  const Steps& steps_;
  const DrawnLimits& limits_;
  std::vector<trace::LaunchedWork> work_;
  trace::Interval own_{}, view_{};  ///< as the trace has them
  DrawnStep drawn_;
  std::unordered_map<std::string, std::uint32_t> names_;
  std::map<std::int64_t, std::size_t> calls_of_;  ///< the lanes of the calls of threads
  std::unordered_map<trace::NameIndex, std::pair<Paint, std::uint32_t>> kernels_;
  std::vector<std::pair<std::size_t, std::vector<const trace::LaunchedWork*>>>
      streams_;  ///< by lane, by start
};

}  // namespace

std::optional<DrawnStep> drawn_step_of(const trace::Trace& trace, trace::CaseIndex index, const Steps& steps,
                                       const DrawnLimits& limits) {
  return StepDrawing(trace, index, steps, limits).drawn();
}

}  // namespace mprof
