// SPDX-License-Identifier: MIT
#include "report/trace/timeline.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
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

template <class Row>
void sort_by_start(const std::vector<Row>& table, std::vector<std::uint32_t>& rows) {
  const auto start = [&](std::uint32_t i) { return table[i].time.start; };
  if (!std::ranges::is_sorted(rows, {}, start)) std::ranges::stable_sort(rows, {}, start);
}

/// Puts a block behind those of its strip, or makes one of the last and it (merged()).
void append(std::vector<TimelineBlock>& blocks, const TimelineBlock& next, std::int64_t shortest) {
  const auto is_short = [&](const TimelineBlock& block) {
    return block.count > 1 || block.length < shortest;
  };
  TimelineBlock* const last = blocks.empty() ? nullptr : &blocks.back();
  if (last == nullptr || !is_short(*last) || !is_short(next) || next.start - last->end() >= shortest) {
    blocks.push_back(next);
    return;
  }
  // What lies in the block already keeps nothing busy that was not.
  last->busy += std::clamp<std::int64_t>(next.end() - last->end(), 0, next.busy);
  last->length = std::max(last->end(), next.end()) - last->start;
  last->count += next.count;
  last->bytes += next.bytes;
  if (last->name != next.name) last->name = 0;
}

/// Nothing is longer than the window, so at last each strip is one block.
std::int64_t shortest_at_first(const Interval& window) {
  return std::max<std::int64_t>(window.length() / parts_of_window, 1);
}

/// Makes the timeline of one case. Pieces of work and calls are made as they are looked at, and merged at
/// once where there are too many: a case may have millions.
class Builder {
 public:
  Builder(const Trace& trace, CaseIndex index, CaseRows rows, const TimelineLimits& limits)
      : trace_(trace), index_(index), rows_(std::move(rows)), limits_(limits), call_kinds_(trace) {}

  Timeline timeline() {
    sort_by_start(trace_.kernels.rows(), rows_.kernels);
    sort_by_start(trace_.transfers, rows_.transfers);
    // A driver call within a runtime call is part of it.
    rows_.calls = outermost(trace_.calls, rows_.calls);
    sort_by_start(trace_.calls, rows_.calls);
    name_work();
    collect_ranges();
    find_window();
    measure();
    const std::size_t pieces = rows_.kernels.size() + rows_.transfers.size() + rows_.calls.size() +
                               ops_.size() + own_ranges_.size() + both_.intervals().size();
    if (pieces > limits_.blocks) shortest_ = shortest_at_first(timeline_.window);
    add_lane("Ops", std::move(ops_));
    add_lane("NVTX ranges", std::move(own_ranges_));
    add_calls();
    add_streams();
    add_both();
    if (blocks_in(timeline_) > limits_.blocks) shorten(timeline_, limits_.blocks);
    return std::move(timeline_);
  }

 private:
  using Pieces = std::vector<Piece>;
  using Strips = std::map<Activity, std::vector<TimelineBlock>>;
  using Way =
      std::tuple<trace::TransferKind, std::optional<trace::MemoryKind>, std::optional<trace::MemoryKind>>;

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
    std::set<std::uint32_t> kinds;
    std::map<NameIndex, std::string> names;
    for (const std::uint32_t i : rows_.kernels) {
      if (kinds.insert(trace_.kernels.rows()[i].shared).second) names.try_emplace(shared(i).name);
    }
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

  static Way way_of(const trace::Transfer& transfer) {
    return {transfer.kind, transfer.source, transfer.destination};
  }

  /// All names of work and of calls.
  void name_work() {
    for (const auto& [whole, text] : kernel_names()) kernel_names_.emplace(whole, name(text));
    for (const std::uint32_t i : rows_.transfers) {
      const trace::Transfer& transfer = trace_.transfers[i];
      const auto [entry, is_new] = transfer_names_.try_emplace(way_of(transfer));
      if (is_new) entry->second = name(transfer_name(transfer));
    }
    for (const std::uint32_t i : rows_.calls) {
      const NameIndex call = trace_.calls[i].name;
      const auto [entry, is_new] = call_names_.try_emplace(call);
      if (is_new) entry->second = name(trace_.names[call]);
    }
  }

  /// Calls visit(queue, piece) for each kernel and each transfer: each of both by start.
  template <class Visit>
  void each_work(const Visit& visit) const {
    for (const std::uint32_t i : rows_.kernels) {
      const trace::Kernel& kernel = shared(i);
      visit(kernel.queue, Piece{trace_.kernels.rows()[i].time, Activity::kernel,
                                kernel_names_.find(kernel.name)->second, 0});
    }
    for (const std::uint32_t i : rows_.transfers) {
      const trace::Transfer& transfer = trace_.transfers[i];
      visit(transfer.queue, Piece{transfer.time, activity_of(transfer.kind),
                                  transfer_names_.find(way_of(transfer))->second, transfer.bytes});
    }
  }

  /// mprof's own ranges are the case, its ops and their stages; all others are the variant's.
  void collect_ranges() {
    const trace::NameIndex default_domain = 0;
    std::vector<std::uint32_t> others;
    for (const std::uint32_t i : rows_.ranges) {
      const trace::Range& range = trace_.ranges[i];
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
    bool is_known = false;
    const auto widen = [&](const Interval& time) {
      Interval& window = timeline_.window;
      if (!is_known) window = time;
      is_known = true;
      window.start = std::min(window.start, time.start);
      window.end = std::max(window.end, time.end);
    };
    for (const std::uint32_t i : rows_.ranges) widen(trace_.ranges[i].time);
    for (const std::uint32_t i : rows_.calls) widen(trace_.calls[i].time);
    each_work([&](const Queue& /*queue*/, const Piece& piece) { widen(piece.time); });
  }

  void measure() {
    std::vector<Interval> kernels, copies, sets;
    kernels.reserve(rows_.kernels.size());
    std::map<Queue, std::vector<Interval>> streams;
    std::pair<Queue, std::vector<Interval>*> last{};
    each_work([&](const Queue& queue, const Piece& piece) {
      if (last.second == nullptr || queue != last.first) last = {queue, &streams[queue]};
      last.second->push_back(piece.time);
      work_[queue] += piece.time.length();
      (piece.kind == Activity::kernel ? kernels : is_copy(piece.kind) ? copies : sets).push_back(piece.time);
    });
    OverlapFigures& figures = timeline_.figures;
    figures.kernel_count = kernels.size();
    figures.copy_count = copies.size();
    figures.streams = streams.size();
    figures.unseen_launches = trace::unseen_launches(trace_, index_);
    figures.window = timeline_.window.length();
    {
      std::vector<IntervalSet> by_stream;
      for (auto& [queue, times] : streams) by_stream.emplace_back(std::move(times));
      figures.several = in_several(by_stream).length();
    }
    const IntervalSet running(std::move(kernels)), copying(std::move(copies)), setting(std::move(sets));
    both_ = running & copying;
    figures.kernels = running.length();
    figures.copies = copying.length();
    figures.both = both_.length();
    figures.copying_only = ((copying | setting) - running).length();
  }

  /// Of a kind they come by start.
  void add(Strips& strips, const Piece& piece) const {
    const std::int64_t length = std::max<std::int64_t>(piece.time.length(), 0);
    append(strips[piece.kind],
           {piece.time.start - timeline_.window.start, length, length, 1, piece.bytes, piece.name},
           shortest_);
  }
  void add_lane(std::string title, Strips&& strips) {
    if (strips.empty()) return;
    TimelineLane& lane = timeline_.lanes.emplace_back(TimelineLane{std::move(title), {}});
    for (auto& [kind, blocks] : strips) lane.strips.push_back({kind, std::move(blocks)});
  }
  void add_lane(std::string title, Pieces pieces) {
    std::ranges::stable_sort(pieces, {}, [](const Piece& piece) { return piece.time.start; });
    Strips strips;
    for (const Piece& piece : pieces) add(strips, piece);
    add_lane(std::move(title), std::move(strips));
  }

  void add_calls() {
    Strips strips;
    for (const std::uint32_t i : rows_.calls) {
      const trace::Call& call = trace_.calls[i];
      add(strips, {call.time, activity_of(call_kinds_.of(call)), call_names_.find(call.name)->second, 0});
    }
    add_lane("API calls", std::move(strips));
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
    for (const auto& [key, time] : work_) by_work.emplace_back(-time, key);
    std::ranges::sort(by_work);
    if (by_work.size() > limits_.streams) by_work.resize(limits_.streams);
    std::vector<Queue> shown;
    for (const auto& [unused, key] : by_work) shown.push_back(key);
    std::ranges::sort(shown);
    return shown;
  }

  void add_streams() {
    const std::vector<Queue> shown = streams_shown();
    std::map<Queue, Strips> lanes;
    for (const Queue& key : shown) lanes.try_emplace(key);
    Strips rest;
    std::pair<Queue, Strips*> last{};
    each_work([&](const Queue& queue, const Piece& piece) {
      if (last.second == nullptr || queue != last.first) {
        const auto found = lanes.find(queue);
        last = {queue, found == lanes.end() ? &rest : &found->second};
      }
      add(*last.second, piece);
    });
    for (auto& [key, strips] : lanes) add_lane(stream_name(key), std::move(strips));
    add_lane(format::plural(work_.size() - shown.size(), "other stream"), std::move(rest));
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
  CaseRows rows_;  ///< by start; of the calls the outermost
  const TimelineLimits& limits_;
  trace::CallKinds call_kinds_;
  Timeline timeline_;
  std::unordered_map<std::string, std::uint32_t> names_;
  std::unordered_map<NameIndex, std::uint32_t> kernel_names_;
  std::map<Way, std::uint32_t> transfer_names_;
  std::unordered_map<NameIndex, std::uint32_t> call_names_;
  std::map<Queue, std::int64_t> work_;  ///< ns
  Pieces ops_;
  Pieces own_ranges_;
  IntervalSet both_;
  std::int64_t shortest_ = 0;  ///< neighbours that are shorter are merged
};

}  // namespace

std::optional<double> OverlapFigures::overlap() const {
  const std::int64_t shorter = std::min(kernels, copies);
  if (shorter == 0) return std::nullopt;
  return static_cast<double>(both) / static_cast<double>(shorter);
}

std::vector<TimelineBlock> merged(const std::vector<TimelineBlock>& blocks, std::int64_t shortest) {
  std::vector<TimelineBlock> result;
  for (const TimelineBlock& next : blocks) append(result, next, shortest);
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
  std::int64_t shortest = shortest_at_first(timeline.window);
  do {
    for (TimelineLane& lane : timeline.lanes) {
      for (TimelineStrip& strip : lane.strips) strip.blocks = merged(strip.blocks, shortest);
    }
    shortest *= 2;
  } while (blocks_in(timeline) > std::max(blocks, fewest));
}

std::vector<Timeline> timelines(const Trace& trace, std::span<const CaseIndex> cases,
                                const TimelineLimits& limits) {
  std::vector<CaseRows> rows = rows_of(trace, cases);
  std::vector<Timeline> all;
  for (std::size_t i = 0; i < cases.size(); ++i)
    all.push_back(Builder(trace, cases[i], std::move(rows[i]), limits).timeline());
  return all;
}

}  // namespace mprof
