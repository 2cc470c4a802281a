// SPDX-License-Identifier: MIT
#include "report/trace/range_kernels.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "model/trace/id_map.hpp"
#include "model/trace/nsys_schema.hpp"

namespace mprof {
namespace {

using trace::Call;
using trace::Range;
using trace::Trace;

/// The place of the call of each correlation id, which is unique within a process, from 1 on.
class CallPlaces {
 public:
  CallPlaces(const Trace& trace, const ProfileScope& scope) {
    for (std::uint32_t i = scope.first_of(trace.calls); const Call& call : scope.of(trace.calls)) {
      std::uint32_t& place = places_(trace::nsys::process_of(call.thread), call.correlation);
      const bool outer =
          place != 0 && call.api == trace::Api::runtime && trace.calls[place - 1].api == trace::Api::driver;
      ++i;
      if (place == 0 || outer) place = i;
    }
  }
  /// 0: there is none.
  [[nodiscard]] std::uint32_t of(std::int64_t process, std::int64_t correlation) {
    return places_.find(process, correlation);
  }

 private:
  trace::IdMap places_;
};

/// The ranges that hold the calls of one thread, which come in the order of their starts.
class OpenRanges {
 public:
  /// `ranges` are indices of those of the thread, by their starts.
  OpenRanges(const Trace& trace, std::vector<std::uint32_t> ranges)
      : trace_(trace), ranges_(std::move(ranges)) {}

  template <class Visit>
  void for_each_around(const trace::Interval& call, const Visit& visit) {
    const auto range = [&](std::uint32_t index) -> const Range& { return trace_.ranges[index]; };
    for (; next_ < ranges_.size() && range(ranges_[next_]).time.start <= call.start; ++next_) {
      open_.push_back(ranges_[next_]);
    }
    std::erase_if(open_, [&](std::uint32_t index) { return range(index).time.end < call.start; });
    for (const std::uint32_t index : open_) {
      if (call.end <= range(index).time.end) visit(index);
    }
  }

 private:
  const Trace& trace_;
  std::vector<std::uint32_t> ranges_;
  std::size_t next_ = 0;
  std::vector<std::uint32_t> open_;
};

std::map<std::int64_t, std::vector<std::uint32_t>> ranges_by_thread(const Trace& trace,
                                                                    const ProfileScope& scope) {
  std::map<std::int64_t, std::vector<std::uint32_t>> threads;
  for (std::uint32_t i = scope.first_of(trace.ranges); const Range& range : scope.of(trace.ranges)) {
    if (range.style != trace::RangeStyle::extent) threads[range.thread].push_back(i);
    ++i;
  }
  for (auto& [thread, ranges] : threads) {
    std::ranges::stable_sort(ranges, {}, [&](std::uint32_t i) { return trace.ranges[i].time.start; });
  }
  return threads;
}

/// What a row of nvtx_kern_sum is about: range, its style, globalTid (0: no call) and kernel.
using Key = std::tuple<trace::NameIndex, std::optional<trace::RangeStyle>, std::int64_t, trace::NameIndex>;

struct Members {
  std::vector<std::int64_t> times;
  std::vector<std::uint32_t> ranges;
};

/// Adds the kernels that one thread launched.
void add_thread(const Trace& trace, std::span<const Launch> of_thread, std::vector<std::uint32_t> ranges,
                std::map<Key, Members>& groups) {
  OpenRanges open(trace, std::move(ranges));
  for (const Launch& launch : of_thread) {
    const std::int64_t time = trace.kernels.rows()[launch.kernel].time.length();
    const trace::NameIndex kernel = trace.kernels.shared(trace.kernels.rows()[launch.kernel]).name;
    const Call& call = trace.calls[launch.call];
    bool in_some = false;
    open.for_each_around(call.time, [&](std::uint32_t index) {
      const Range& range = trace.ranges[index];
      Members& members = groups[{range.name, range.style, call.thread, kernel}];
      members.times.push_back(time);
      members.ranges.push_back(index);
      in_some = true;
    });
    if (!in_some) groups[{0, std::nullopt, call.thread, kernel}].times.push_back(time);
  }
}

/// Kernels whose call is lost are in no range and on no thread.
void add_orphans(const Trace& trace, const ProfileScope& scope, std::span<const Launch> all,
                 std::map<Key, Members>& groups) {
  const std::span<const trace::KernelRow> kernels = scope.of(trace.kernels.rows());
  const std::uint32_t first = scope.first_of(trace.kernels.rows());
  std::vector<bool> launched(kernels.size(), false);
  for (const Launch& launch : all) launched[launch.kernel - first] = true;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (!launched[i])
      groups[{0, std::nullopt, 0, trace.kernels.shared(kernels[i]).name}].times.push_back(
          kernels[i].time.length());
  }
}

std::map<Key, Members> members_of_ranges(const Trace& trace, const ProfileScope& scope) {
  auto threads = ranges_by_thread(trace, scope);
  const std::vector<Launch> all = launches(trace, scope);
  const auto thread_of = [&](const Launch& launch) { return trace.calls[launch.call].thread; };
  std::map<Key, Members> groups;
  for (std::span<const Launch> rest = all; !rest.empty();) {
    const std::int64_t thread = thread_of(rest.front());
    const auto end =
        std::ranges::find_if(rest, [&](const Launch& launch) { return thread_of(launch) != thread; });
    const auto count = static_cast<std::size_t>(end - rest.begin());
    add_thread(trace, rest.first(count), std::move(threads[thread]), groups);
    rest = rest.subspan(count);
  }
  add_orphans(trace, scope, all, groups);
  return groups;
}

std::int64_t distinct(std::vector<std::uint32_t>& indices) {
  std::ranges::sort(indices);
  return std::unique(indices.begin(), indices.end()) - indices.begin();
}

}  // namespace

std::vector<Launch> launches(const Trace& trace, const ProfileScope& scope) {
  CallPlaces calls(trace, scope);
  std::vector<Launch> found;
  const trace::Kernels& kernels = trace.kernels;
  for (std::uint32_t i = scope.first_of(kernels.rows());
       const trace::KernelRow& row : scope.of(kernels.rows())) {
    const std::uint32_t call = calls.of(kernels.shared(row).process, kernels.correlation(row));
    if (call != 0) found.push_back({i, call - 1});
    ++i;
  }
  const auto order = [&](const Launch& launch) {
    const Call& call = trace.calls[launch.call];
    return std::pair(call.thread, call.time.start);
  };
  if (!std::ranges::is_sorted(found, {}, order)) std::ranges::stable_sort(found, {}, order);
  return found;
}

std::vector<RangeKernels> kernels_of_ranges(const Trace& trace, const ProfileScope& scope) {
  std::map<Key, Members> groups = members_of_ranges(trace, scope);
  std::vector<RangeKernels> rows;
  for (auto& [key, members] : groups) {
    const auto& [range, style, thread, kernel] = key;
    RangeKernels row{.range = range, .style = style, .kernel = kernel, .times = std::move(members.times)};
    row.instances = distinct(members.ranges);
    if (thread != 0) {
      row.process = trace::nsys::native_process(thread);
      row.thread = trace::nsys::native_thread(thread);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace mprof
