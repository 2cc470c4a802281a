// SPDX-License-Identifier: MIT
#include "report/trace/range_kernels.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "model/trace/nsys_schema.hpp"

namespace mprof {
namespace {

using trace::Call;
using trace::Range;
using trace::Trace;

/// Correlation ids are unique within a process.
struct CallKey {
  std::int64_t process = 0;
  std::int64_t correlation = 0;
  bool operator==(const CallKey&) const = default;
};
struct CallKeyHash {
  std::size_t operator()(const CallKey& key) const {
    constexpr std::size_t golden = 0x9E3779B97F4A7C15U;  // spreads ids that follow each other
    return (static_cast<std::size_t>(key.correlation) * golden) ^ static_cast<std::size_t>(key.process);
  }
};

using Calls = std::unordered_map<CallKey, std::uint32_t, CallKeyHash>;

Calls calls_by_key(const Trace& trace, const ProfileScope& scope) {
  Calls calls;
  calls.reserve(scope.of(trace.calls).size());
  for (std::uint32_t i = scope.first_of(trace.calls); const Call& call : scope.of(trace.calls)) {
    const auto [entry, is_new] =
        calls.try_emplace({trace::nsys::process_of(call.thread), call.correlation}, i);
    const bool outer =
        call.api == trace::Api::runtime && trace.calls[entry->second].api == trace::Api::driver;
    if (!is_new && outer) entry->second = i;
    ++i;
  }
  return calls;
}

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
    const trace::Kernel& kernel = trace.kernels[launch.kernel];
    const Call& call = trace.calls[launch.call];
    bool in_some = false;
    open.for_each_around(call.time, [&](std::uint32_t index) {
      const Range& range = trace.ranges[index];
      Members& members = groups[{range.name, range.style, call.thread, kernel.name}];
      members.times.push_back(kernel.time.length());
      members.ranges.push_back(index);
      in_some = true;
    });
    if (!in_some) groups[{0, std::nullopt, call.thread, kernel.name}].times.push_back(kernel.time.length());
  }
}

/// Kernels whose call is lost are in no range and on no thread.
void add_orphans(const Trace& trace, const ProfileScope& scope, std::span<const Launch> all,
                 std::map<Key, Members>& groups) {
  const std::span<const trace::Kernel> kernels = scope.of(trace.kernels);
  const std::uint32_t first = scope.first_of(trace.kernels);
  std::vector<bool> launched(kernels.size(), false);
  for (const Launch& launch : all) launched[launch.kernel - first] = true;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (!launched[i]) groups[{0, std::nullopt, 0, kernels[i].name}].times.push_back(kernels[i].time.length());
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
  const Calls calls = calls_by_key(trace, scope);
  std::vector<Launch> found;
  for (std::uint32_t i = scope.first_of(trace.kernels);
       const trace::Kernel& kernel : scope.of(trace.kernels)) {
    const auto call = calls.find({kernel.process, kernel.correlation});
    if (call != calls.end()) found.push_back({i, call->second});
    ++i;
  }
  std::ranges::stable_sort(found, {}, [&](const Launch& launch) {
    const Call& call = trace.calls[launch.call];
    return std::pair(call.thread, call.time.start);
  });
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
