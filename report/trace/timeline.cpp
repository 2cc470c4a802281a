// SPDX-License-Identifier: MIT
#include "report/trace/timeline.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "model/kernel_name.hpp"
#include "model/trace/interval_set.hpp"
#include "model/trace/launches.hpp"
#include "report/text/format.hpp"

namespace mprof {
namespace {

using trace::CaseIndex;
using trace::Interval;
using trace::IntervalSet;
using trace::NameIndex;
using trace::Queue;
using trace::Trace;

Activity activity_of(trace::CallKind kind) {
  switch (kind) {
    case trace::CallKind::wait:
      return Activity::wait;
    case trace::CallKind::allocation:
      return Activity::allocation;
    case trace::CallKind::transfer:
      return Activity::copy_call;
    case trace::CallKind::launch:
      return Activity::launch;
    case trace::CallKind::other:
      break;
  }
  return Activity::other_call;
}

Activity activity_of(trace::TransferKind kind) {
  if (kind == trace::TransferKind::set) return Activity::memset;
  if (trace::is_into_device(kind)) return Activity::copy_in;
  return trace::is_out_of_device(kind) ? Activity::copy_out : Activity::copy_other;
}

bool is_copy(Activity kind) {
  return kind == Activity::copy_in || kind == Activity::copy_out || kind == Activity::copy_other;
}

/// The rows of a case, by their places in the trace.
struct CaseRows {
  std::vector<std::uint32_t> kernels;
  std::vector<std::uint32_t> transfers;
  std::vector<std::uint32_t> calls;
  std::vector<std::uint32_t> ranges;
};

/// One look at each table for all cases.
std::vector<CaseRows> rows_of(const Trace& trace, std::span<const CaseIndex> cases) {
  std::vector<CaseRows> all(cases.size());
  std::unordered_map<CaseIndex, std::size_t> place;
  for (std::size_t i = 0; i < cases.size(); ++i) place.emplace(cases[i], i);
  const auto sort_out = [&](const auto& table, std::vector<std::uint32_t> CaseRows::*rows) {
    for (std::uint32_t i = 0; i < table.size(); ++i) {
      const auto found = place.find(table[i].in_case);
      if (found != place.end()) (all[found->second].*rows).push_back(i);
    }
  };
  sort_out(trace.kernels.rows(), &CaseRows::kernels);
  sort_out(trace.transfers, &CaseRows::transfers);
  sort_out(trace.calls, &CaseRows::calls);
  sort_out(trace.ranges, &CaseRows::ranges);
  return all;
}

/// A thing that happened, before it has a place in a lane. Times as the trace has them.
struct Piece {
  Interval time{};
  Activity kind = Activity::kernel;
  std::uint32_t name = 0;
  std::uint64_t bytes = 0;
};

/// Of intervals that lie within each other on one thread, the outermost.
template <class Row>
std::vector<std::uint32_t> outermost(const std::vector<Row>& table, const std::vector<std::uint32_t>& rows) {
  std::vector<std::uint32_t> sorted = rows;
  const auto order = [&](std::uint32_t i) {
    return std::tuple(table[i].thread, table[i].time.start, -table[i].time.end, i);
  };
  if (!std::ranges::is_sorted(sorted, {}, order)) std::ranges::sort(sorted, {}, order);
  std::vector<std::uint32_t> kept;
  for (const std::uint32_t i : sorted) {
    const bool inside = !kept.empty() && table[kept.back()].thread == table[i].thread &&
                        table[i].time.end <= table[kept.back()].time.end;
    if (!inside) kept.push_back(i);
  }
  return kept;
}

/// Makes the timeline of one case.
class Builder {
 public:
  Builder(const Trace& trace, CaseIndex index, const CaseRows& rows, const TimelineLimits& limits)
      : trace_(trace), index_(index), rows_(rows), limits_(limits) {}

  Timeline timeline() {
    collect_work();
    collect_calls();
    collect_ranges();
    find_window();
    measure();
    add_lane("Ops", std::move(ops_));
    add_lane("NVTX ranges", std::move(own_ranges_));
    add_lane("API calls", std::move(calls_));
    add_streams();
    add_both();
    if (blocks_in(timeline_) > limits_.blocks) shorten(timeline_, limits_.blocks);
    return std::move(timeline_);
  }

 private:
  using Pieces = std::vector<Piece>;

  std::uint32_t name(const std::string& text) {
    if (text.empty()) return 0;
    const auto [entry, is_new] = names_.try_emplace(text, static_cast<std::uint32_t>(timeline_.names.size()));
    if (is_new) timeline_.names.push_back(text);
    return entry->second;
  }

  /// All of a kernel but its time and its ids.
  [[nodiscard]] const trace::Kernel& shared(std::uint32_t i) const {
    return trace_.kernels.shared(trace_.kernels.rows()[i]);
  }

  /// The kernels' own names, told apart as in the other sections.
  [[nodiscard]] std::map<NameIndex, std::string> kernel_names() const {
    std::map<NameIndex, std::string> names;
    for (const std::uint32_t i : rows_.kernels) names.try_emplace(shared(i).name);
    std::vector<KernelName> all;
    for (const auto& [whole, unused] : names) all.push_back(kernel_name_of_demangled(trace_.names[whole]));
    const std::vector<std::string> distinct = distinct_names(all);
    std::size_t next = 0;
    for (auto& [unused, text] : names) text = distinct[next++];
    return names;
  }

  /// "Host-to-Device copy (Pageable to Device)"
  [[nodiscard]] std::string transfer_name(const trace::Transfer& transfer) const {
    const std::string source = trace_.memory(transfer.source);
    const std::string destination = trace_.memory(transfer.destination);
    if (transfer.is_set()) return source.empty() ? "memset" : fmt::format("memset ({})", source);
    const std::string way = trace_.way(transfer.kind);
    if (source.empty() || destination.empty()) return fmt::format("{} copy", way);
    return fmt::format("{} copy ({} to {})", way, source, destination);
  }

  void collect_work() {
    std::unordered_map<NameIndex, std::uint32_t> known;
    for (const auto& [whole, text] : kernel_names()) known.emplace(whole, name(text));
    for (const std::uint32_t i : rows_.kernels) {
      const trace::Kernel& kernel = shared(i);
      work_[kernel.queue].push_back(
          {trace_.kernels.rows()[i].time, Activity::kernel, known.at(kernel.name), 0});
    }
    std::map<
        std::tuple<trace::TransferKind, std::optional<trace::MemoryKind>, std::optional<trace::MemoryKind>>,
        std::uint32_t>
        transfers;
    for (const std::uint32_t i : rows_.transfers) {
      const trace::Transfer& transfer = trace_.transfers[i];
      const auto [entry, is_new] =
          transfers.try_emplace({transfer.kind, transfer.source, transfer.destination});
      if (is_new) entry->second = name(transfer_name(transfer));
      work_[transfer.queue].push_back(
          {transfer.time, activity_of(transfer.kind), entry->second, transfer.bytes});
    }
  }

  /// A driver call within a runtime call is part of it.
  void collect_calls() {
    std::unordered_map<NameIndex, std::pair<Activity, std::uint32_t>> known;
    for (const std::uint32_t i : outermost(trace_.calls, rows_.calls)) {
      const trace::Call& call = trace_.calls[i];
      const auto [entry, is_new] = known.try_emplace(call.name);
      const std::string& text = trace_.names[call.name];
      if (is_new) entry->second = {activity_of(trace::call_kind(text)), name(text)};
      calls_.push_back({call.time, entry->second.first, entry->second.second, 0});
    }
  }

  /// mprof's own ranges are the case, its ops and their stages; all others are the variant's.
  void collect_ranges() {
    const trace::NameIndex default_domain = 0;
    std::vector<std::uint32_t> others;
    for (const std::uint32_t i : rows_.ranges) {
      const trace::Range& range = trace_.ranges[i];
      whole_.push_back(range.time);
      if (trace_.names[range.domain] != trace::own_domain) {
        others.push_back(i);
      } else {
        collect_own(range);
      }
    }
    for (const std::uint32_t i : outermost(trace_.ranges, others)) {
      const trace::Range& range = trace_.ranges[i];
      own_ranges_.push_back({range.time, Activity::range,
                             name(range.domain == default_domain ? std::string(trace_.text_of(range))
                                                                 : trace_.names[range.name]),
                             0});
    }
  }

  void collect_own(const trace::Range& range) {
    const std::string text(trace_.text_of(range));
    if (text == trace_.cases[index_].id || text == trace::part::pause) return;
    const bool is_stage =
        text == trace::part::prepare || text == trace::part::op || text == trace::part::finish;
    ops_.push_back({range.time, is_stage ? Activity::stage : Activity::op, name(text), 0});
  }

  void find_window() {
    const auto widen = [&](const Interval& time) {
      Interval& window = timeline_.window;
      if (!window_known_) window = time;
      window_known_ = true;
      window.start = std::min(window.start, time.start);
      window.end = std::max(window.end, time.end);
    };
    for (const Interval& time : whole_) widen(time);
    for (const Piece& piece : calls_) widen(piece.time);
    for (const auto& [queue, pieces] : work_) {
      for (const Piece& piece : pieces) widen(piece.time);
    }
  }

  void measure() {
    std::vector<Interval> kernels, copies, sets;
    std::vector<IntervalSet> by_stream;
    for (const auto& [queue, pieces] : work_) {
      std::vector<Interval> times;
      for (const Piece& piece : pieces) {
        times.push_back(piece.time);
        (piece.kind == Activity::kernel ? kernels
         : is_copy(piece.kind)          ? copies
                                        : sets)
            .push_back(piece.time);
      }
      by_stream.emplace_back(std::move(times));
    }
    OverlapFigures& figures = timeline_.figures;
    figures.kernel_count = kernels.size();
    figures.copy_count = copies.size();
    figures.streams = work_.size();
    figures.unseen_launches = trace::unseen_launches(trace_, index_);
    figures.window = timeline_.window.length();
    const IntervalSet running(std::move(kernels)), copying(std::move(copies)), setting(std::move(sets));
    both_ = running & copying;
    figures.kernels = running.length();
    figures.copies = copying.length();
    figures.both = both_.length();
    figures.copying_only = ((copying | setting) - running).length();
    figures.several = in_several(by_stream).length();
  }

  void add_lane(std::string title, Pieces pieces) {
    if (pieces.empty()) return;
    const auto order = [](const Piece& piece) { return std::pair(piece.kind, piece.time.start); };
    if (!std::ranges::is_sorted(pieces, {}, order)) std::ranges::stable_sort(pieces, {}, order);
    TimelineLane lane{std::move(title), {}};
    for (const Piece& piece : pieces) {
      if (lane.strips.empty() || lane.strips.back().kind != piece.kind)
        lane.strips.push_back({piece.kind, {}});
      const std::int64_t length = std::max<std::int64_t>(piece.time.length(), 0);
      lane.strips.back().blocks.push_back(
          {piece.time.start - timeline_.window.start, length, length, 1, piece.bytes, piece.name});
    }
    timeline_.lanes.push_back(std::move(lane));
  }

  /// Only what tells one stream from another: most programs have one device and one context.
  [[nodiscard]] std::string stream_name(const Queue& queue) const {
    const auto differ = [&](auto part) {
      return std::ranges::any_of(work_, [&](const auto& other) { return other.first.*part != queue.*part; });
    };
    std::string text;
    if (differ(&Queue::device)) text += fmt::format("GPU {}, ", queue.device);
    if (differ(&Queue::context)) text += fmt::format("context {}, ", queue.context);
    return fmt::format("{}stream {}", text, queue.stream);
  }

  /// The streams with lanes of their own, in the order of their numbers.
  [[nodiscard]] std::vector<Queue> streams_shown() const {
    std::vector<std::pair<std::int64_t, Queue>> by_work;
    for (const auto& [key, pieces] : work_) {
      std::int64_t time = 0;
      for (const Piece& piece : pieces) time += piece.time.length();
      by_work.emplace_back(-time, key);
    }
    std::ranges::sort(by_work);
    if (by_work.size() > limits_.streams) by_work.resize(limits_.streams);
    std::vector<Queue> shown;
    for (const auto& [unused, key] : by_work) shown.push_back(key);
    std::ranges::sort(shown);
    return shown;
  }

  void add_streams() {
    const std::vector<Queue> shown = streams_shown();
    std::vector<std::string> titles;
    for (const Queue& key : shown) titles.push_back(stream_name(key));
    for (std::size_t i = 0; i < shown.size(); ++i) {
      add_lane(titles[i], std::move(work_.at(shown[i])));
      work_.erase(shown[i]);
    }
    Pieces rest;
    for (const auto& [key, pieces] : work_) rest.insert(rest.end(), pieces.begin(), pieces.end());
    add_lane(format::plural(work_.size(), "other stream"), std::move(rest));
  }

  /// There with kernels and copies, even where they never ran together: that it is empty says so.
  void add_both() {
    const OverlapFigures& figures = timeline_.figures;
    if (figures.kernel_count == 0 || figures.copy_count == 0) return;
    Pieces pieces;
    for (const Interval& time : both_.intervals()) pieces.push_back({time, Activity::both, 0, 0});
    if (pieces.empty()) {
      timeline_.lanes.push_back({"Overlap", {}});
    } else {
      add_lane("Overlap", std::move(pieces));
    }
  }

  const Trace& trace_;
  CaseIndex index_;
  const CaseRows& rows_;
  const TimelineLimits& limits_;
  Timeline timeline_;
  std::unordered_map<std::string, std::uint32_t> names_;
  std::map<Queue, Pieces> work_;
  Pieces calls_;
  Pieces ops_;
  Pieces own_ranges_;
  std::vector<Interval> whole_;  ///< all ranges, the one around the whole case included
  IntervalSet both_;
  bool window_known_ = false;
};

}  // namespace

std::optional<double> OverlapFigures::overlap() const {
  const std::int64_t shorter = std::min(kernels, copies);
  if (shorter == 0) return std::nullopt;
  return static_cast<double>(both) / static_cast<double>(shorter);
}

std::vector<TimelineBlock> merged(const std::vector<TimelineBlock>& blocks, std::int64_t shortest) {
  std::vector<TimelineBlock> result;
  const auto is_short = [&](const TimelineBlock& block) {
    return block.count > 1 || block.length < shortest;
  };
  for (const TimelineBlock& next : blocks) {
    TimelineBlock* last = result.empty() ? nullptr : &result.back();
    if (last == nullptr || !is_short(*last) || !is_short(next) || next.start - last->end() >= shortest) {
      result.push_back(next);
      continue;
    }
    // What lies in the block already keeps nothing busy that was not.
    last->busy += std::clamp<std::int64_t>(next.end() - last->end(), 0, next.busy);
    last->length = std::max(last->end(), next.end()) - last->start;
    last->count += next.count;
    last->bytes += next.bytes;
    if (last->name != next.name) last->name = 0;
  }
  return result;
}

std::size_t blocks_in(const Timeline& timeline) {
  std::size_t sum = 0;
  for (const TimelineLane& lane : timeline.lanes) {
    for (const TimelineStrip& strip : lane.strips) sum += strip.blocks.size();
  }
  return sum;
}

void shorten(Timeline& timeline, std::size_t blocks) {
  std::size_t fewest = 0;
  for (const TimelineLane& lane : timeline.lanes) fewest += lane.strips.size();
  // This ends: nothing is longer than the window, so at last each strip is one block.
  std::int64_t shortest = std::max<std::int64_t>(timeline.window.length() / parts_of_window, 1);
  do {
    for (TimelineLane& lane : timeline.lanes) {
      for (TimelineStrip& strip : lane.strips) strip.blocks = merged(strip.blocks, shortest);
    }
    shortest *= 2;
  } while (blocks_in(timeline) > std::max(blocks, fewest));
}

std::vector<Timeline> timelines(const Trace& trace, std::span<const CaseIndex> cases,
                                const TimelineLimits& limits) {
  const std::vector<CaseRows> rows = rows_of(trace, cases);
  std::vector<Timeline> all;
  for (std::size_t i = 0; i < cases.size(); ++i)
    all.push_back(Builder(trace, cases[i], rows[i], limits).timeline());
  return all;
}

}  // namespace mprof
