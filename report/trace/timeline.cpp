#include "report/trace/timeline.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "model/kernel_name.hpp"
#include "model/trace/interval_set.hpp"
#include "report/text/format.hpp"

namespace mprof {
namespace {

using trace::CaseIndex;
using trace::Interval;
using trace::IntervalSet;
using trace::NameIndex;
using trace::Profile;
using trace::Queue;

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.find(word) != text.npos; });
}

Activity kind_of_call(std::string_view name) {
  if (has_any(name, {"Synchronize"})) return Activity::wait;
  if (has_any(name, {"Malloc", "Free", "MemAlloc", "HostAlloc", "HostRegister", "HostUnregister"}))
    return Activity::allocation;
  if (has_any(name, {"Memcpy", "Memset"})) return Activity::copy_call;
  if (has_any(name, {"Launch"})) return Activity::launch;
  return Activity::other_call;
}

/// From the names that the trace gives to operations: "[CUDA memcpy Host-to-Device]", "[CUDA memset]".
Activity kind_of_transfer(std::string_view operation) {
  if (operation.find("memset") != operation.npos) return Activity::memset;
  const bool from_host = operation.find("Host-to-") != operation.npos;
  const bool to_host = operation.find("-to-Host") != operation.npos;
  if (from_host == to_host) return Activity::copy_other;
  return from_host ? Activity::copy_in : Activity::copy_out;
}

bool is_copy(Activity kind) {
  return kind == Activity::copy_in || kind == Activity::copy_out || kind == Activity::copy_other;
}

/// The rows of a case, by their places in the profile.
struct CaseRows {
  std::vector<std::uint32_t> kernels;
  std::vector<std::uint32_t> transfers;
  std::vector<std::uint32_t> calls;
  std::vector<std::uint32_t> ranges;
};

/// One look at each table for all cases.
std::vector<CaseRows> rows_of(const Profile& profile, std::span<const CaseIndex> cases) {
  std::vector<CaseRows> all(cases.size());
  std::unordered_map<CaseIndex, std::size_t> place;
  for (std::size_t i = 0; i < cases.size(); ++i) place.emplace(cases[i], i);
  const auto sort_out = [&](const auto& table, std::vector<std::uint32_t> CaseRows::*rows) {
    for (std::uint32_t i = 0; i < table.size(); ++i) {
      const auto found = place.find(table[i].in_case);
      if (found != place.end()) (all[found->second].*rows).push_back(i);
    }
  };
  sort_out(profile.kernels, &CaseRows::kernels);
  sort_out(profile.transfers, &CaseRows::transfers);
  sort_out(profile.calls, &CaseRows::calls);
  sort_out(profile.ranges, &CaseRows::ranges);
  return all;
}

/// A thing that happened, before it has a place in a lane. Times as the trace has them.
struct Piece {
  Interval time{};
  Activity kind = Activity::kernel;
  std::uint32_t name = 0;
  std::uint64_t bytes = 0;
};

using QueueKey = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

QueueKey key_of(const Queue& queue) {
  return {queue.device, queue.context, queue.stream};
}

/// Of intervals that lie within each other on one thread, the outermost.
template <class Row>
std::vector<std::uint32_t> outermost(const std::vector<Row>& table, const std::vector<std::uint32_t>& rows) {
  std::vector<std::uint32_t> sorted = rows;
  std::ranges::sort(sorted, {}, [&](std::uint32_t i) {
    return std::tuple(table[i].thread, table[i].time.start, -table[i].time.end, i);
  });
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
  Builder(const Profile& profile, CaseIndex index, const CaseRows& rows, const TimelineLimits& limits)
      : profile_(profile), index_(index), rows_(rows), limits_(limits) {}

  Timeline timeline() {
    collect_work();
    collect_calls();
    collect_ranges();
    find_window();
    measure();
    add_lane("Layers", std::move(layers_));
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

  /// The kernels' own names, told apart as in the other sections.
  [[nodiscard]] std::map<NameIndex, std::string> kernel_names() const {
    std::map<NameIndex, std::string> names;
    for (const std::uint32_t i : rows_.kernels) names.try_emplace(profile_.kernels[i].name);
    std::vector<KernelName> all;
    for (const auto& [whole, unused] : names) all.push_back(kernel_name_of_demangled(profile_.names[whole]));
    const std::vector<std::string> distinct = distinct_names(all);
    std::size_t next = 0;
    for (auto& [unused, text] : names) text = distinct[next++];
    return names;
  }

  /// "Host-to-Device copy (Pageable to Device)"
  [[nodiscard]] std::string transfer_name(const trace::ProfiledTransfer& transfer, Activity kind) const {
    const std::string& source = profile_.names[transfer.source];
    const std::string& destination = profile_.names[transfer.destination];
    if (kind == Activity::memset) return source.empty() ? "memset" : fmt::format("memset ({})", source);
    std::string_view way = profile_.names[transfer.operation];
    constexpr std::string_view head = "[CUDA memcpy ";
    if (way.starts_with(head) && way.ends_with(']'))
      way = way.substr(head.size(), way.size() - head.size() - 1);
    if (source.empty() || destination.empty()) return fmt::format("{} copy", way);
    return fmt::format("{} copy ({} to {})", way, source, destination);
  }

  void collect_work() {
    std::unordered_map<NameIndex, std::uint32_t> known;
    for (const auto& [whole, text] : kernel_names()) known.emplace(whole, name(text));
    for (const std::uint32_t i : rows_.kernels) {
      const trace::ProfiledKernel& kernel = profile_.kernels[i];
      work_[key_of(kernel.queue)].push_back({kernel.time, Activity::kernel, known.at(kernel.name), 0});
    }
    std::map<std::tuple<NameIndex, NameIndex, NameIndex>, std::pair<Activity, std::uint32_t>> transfers;
    for (const std::uint32_t i : rows_.transfers) {
      const trace::ProfiledTransfer& transfer = profile_.transfers[i];
      const auto [entry, is_new] =
          transfers.try_emplace({transfer.operation, transfer.source, transfer.destination});
      if (is_new) {
        const Activity kind = kind_of_transfer(profile_.names[transfer.operation]);
        entry->second = {kind, name(transfer_name(transfer, kind))};
      }
      const auto& [kind, text] = entry->second;
      work_[key_of(transfer.queue)].push_back({transfer.time, kind, text, transfer.bytes});
    }
  }

  /// A driver call within a runtime call is part of it.
  void collect_calls() {
    std::unordered_map<NameIndex, std::pair<Activity, std::uint32_t>> known;
    for (const std::uint32_t i : outermost(profile_.calls, rows_.calls)) {
      const trace::ProfiledCall& call = profile_.calls[i];
      const auto [entry, is_new] = known.try_emplace(call.name);
      const std::string& text = profile_.names[call.name];
      if (is_new) entry->second = {kind_of_call(text), name(text)};
      calls_.push_back({call.time, entry->second.first, entry->second.second, 0});
    }
  }

  /// mprof's own ranges are the case, its ops and their stages; all others are the variant's.
  void collect_ranges() {
    const std::string own = std::string(trace::own_domain) + ":";
    std::vector<std::uint32_t> others;
    for (const std::uint32_t i : rows_.ranges) {
      const trace::ProfiledRange& range = profile_.ranges[i];
      whole_.push_back(range.time);
      const std::string& text = profile_.names[range.name];
      if (!text.starts_with(own)) {
        others.push_back(i);
        continue;
      }
      const std::string part = text.substr(own.size());
      if (part == profile_.cases[index_].id || part == trace::part::pause) continue;
      const bool is_stage =
          part == trace::part::prepare || part == trace::part::op || part == trace::part::finish;
      layers_.push_back({range.time, is_stage ? Activity::stage : Activity::layer, name(part), 0});
    }
    for (const std::uint32_t i : outermost(profile_.ranges, others)) {
      const trace::ProfiledRange& range = profile_.ranges[i];
      const std::string& text = profile_.names[range.name];
      // The default domain has no name.
      own_ranges_.push_back(
          {range.time, Activity::range, name(text.starts_with(':') ? text.substr(1) : text), 0});
    }
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
    std::ranges::stable_sort(pieces, {},
                             [](const Piece& piece) { return std::pair(piece.kind, piece.time.start); });
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
  [[nodiscard]] std::string stream_name(const QueueKey& key) const {
    const auto& [device, context, stream] = key;
    const auto differs = [&](const auto& part) {
      return std::ranges::any_of(work_, [&](const auto& other) { return part(other.first) != part(key); });
    };
    std::string text;
    if (differs([](const QueueKey& k) { return std::get<0>(k); })) text += fmt::format("GPU {}, ", device);
    if (differs([](const QueueKey& k) { return std::get<1>(k); }))
      text += fmt::format("context {}, ", context);
    return fmt::format("{}stream {}", text, stream);
  }

  /// The streams with lanes of their own, in the order of their numbers.
  [[nodiscard]] std::vector<QueueKey> streams_shown() const {
    std::vector<std::pair<std::int64_t, QueueKey>> by_work;
    for (const auto& [key, pieces] : work_) {
      std::int64_t time = 0;
      for (const Piece& piece : pieces) time += piece.time.length();
      by_work.emplace_back(-time, key);
    }
    std::ranges::sort(by_work);
    if (by_work.size() > limits_.streams) by_work.resize(limits_.streams);
    std::vector<QueueKey> shown;
    for (const auto& [unused, key] : by_work) shown.push_back(key);
    std::ranges::sort(shown);
    return shown;
  }

  void add_streams() {
    const std::vector<QueueKey> shown = streams_shown();
    std::vector<std::string> titles;
    for (const QueueKey& key : shown) titles.push_back(stream_name(key));
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

  const Profile& profile_;
  CaseIndex index_;
  const CaseRows& rows_;
  const TimelineLimits& limits_;
  Timeline timeline_;
  std::unordered_map<std::string, std::uint32_t> names_;
  std::map<QueueKey, Pieces> work_;
  Pieces calls_;
  Pieces layers_;
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

std::vector<Timeline> timelines(const Profile& profile, std::span<const CaseIndex> cases,
                                const TimelineLimits& limits) {
  const std::vector<CaseRows> rows = rows_of(profile, cases);
  std::vector<Timeline> all;
  for (std::size_t i = 0; i < cases.size(); ++i)
    all.push_back(Builder(profile, cases[i], rows[i], limits).timeline());
  return all;
}

}  // namespace mprof
