// SPDX-License-Identifier: MIT
#include "report/analysis/program/memory_use.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "model/trace/id_map.hpp"
#include "model/trace/nsys_schema.hpp"
#include "report/trace/range_nesting.hpp"

namespace mprof {
namespace {

using trace::Allocation;

/// Memory is allocated before the first step as well.
constexpr trace::Interval always{std::numeric_limits<std::int64_t>::min(),
                                 std::numeric_limits<std::int64_t>::max()};

/// Addresses are of a process.
using MemoryAddress = std::pair<std::int64_t, std::uint64_t>;

/// Follows what is held, allocation by allocation.
class HeldMemory {
 public:
  void take(const Allocation& one) {
    const MemoryAddress address{one.process, one.address};
    if (one.is_release) {
      const auto found = held_.find(address);
      if (found == held_.end()) return;  // it was allocated before the trace began
      sum_ -= found->second->bytes;
      held_.erase(found);
      return;
    }
    const Allocation*& place = held_[address];
    if (place != nullptr) sum_ -= place->bytes;  // whose release the trace does not have
    place = &one;
    sum_ += one.bytes;
  }
  [[nodiscard]] std::uint64_t sum() const { return sum_; }
  [[nodiscard]] std::vector<const Allocation*> all() const {
    std::vector<const Allocation*> all;
    for (const auto& [address, one] : held_) all.push_back(one);
    return all;
  }

 private:
  std::map<MemoryAddress, const Allocation*> held_;
  std::uint64_t sum_ = 0;
};

/// The calls that made allocations, and the ranges in which they did.
class Allocators {
 public:
  Allocators(const trace::Trace& trace, trace::CaseIndex index, const Steps* steps,
             const std::vector<Allocation>& allocations)
      : trace_(trace),
        nesting_(trace, index, steps, always, steps == nullptr ? 0 : steps->all.size()),
        calls_(allocations.size() + 1, nullptr) {
    for (std::uint32_t i = 0; i < allocations.size(); ++i) {
      const Allocation& one = allocations[i];
      if (!one.is_release && one.correlation != 0) places_(one.process, one.correlation) = i + 1;
    }
    for (const trace::Call& call : trace::of_case(trace.calls, index)) {
      const std::int64_t process = trace::nsys::process_of(call.thread);
      const std::uint32_t place = call.correlation == 0 ? 0 : places_.find(process, call.correlation);
      if (place == 0) continue;
      const trace::Call*& known = calls_[place];
      if (known == nullptr || call.time.start < known->time.start) known = &call;
    }
  }

  /// By ranges and calls, what holds the most first.
  [[nodiscard]] std::vector<MemoryHolder> holders(const std::vector<const Allocation*>& held) {
    std::map<std::pair<std::vector<std::string>, std::string>, MemoryHolder> all;
    for (const Allocation* one : held) {
      const trace::Call* const call = call_of(*one);
      const std::string name = call == nullptr ? "" : trace_.names[call->name];
      std::vector<std::string> path;
      if (call != nullptr && !nesting_.empty()) path = nesting_.path(call->thread, call->time.start);
      MemoryHolder& holder = all[{path, name}];
      if (holder.allocations == 0) holder = {.range = path, .call = name, .made = one->time};
      ++holder.allocations;
      holder.bytes += one->bytes;
      holder.largest = std::max(holder.largest, one->bytes);
      holder.made = {std::min(holder.made.start, one->time.start), std::max(holder.made.end, one->time.end)};
    }
    std::vector<MemoryHolder> sorted;
    for (auto& [key, holder] : all) sorted.push_back(std::move(holder));
    std::ranges::stable_sort(sorted, std::ranges::greater{}, &MemoryHolder::bytes);
    return sorted;
  }

  [[nodiscard]] std::uint64_t from_pools(const std::vector<const Allocation*>& held) {
    std::uint64_t bytes = 0;
    for (const Allocation* one : held) {
      const trace::Call* const call = call_of(*one);
      const std::string_view name = call == nullptr ? std::string_view() : trace_.names[call->name];
      if (name.find("Async") != name.npos || name.find("FromPool") != name.npos) bytes += one->bytes;
    }
    return bytes;
  }

 private:
  [[nodiscard]] const trace::Call* call_of(const Allocation& one) {
    return one.correlation == 0 ? nullptr : calls_[places_.find(one.process, one.correlation)];
  }

  const trace::Trace& trace_;
  RangeNesting nesting_;
  std::vector<const trace::Call*> calls_;  ///< by the places of allocations, from 1
  trace::IdMap places_;
};

/// Takes from `after` what was held before by the same call in a range that `is_same` holds for.
void leave_out(std::vector<MemoryHolder>& before, std::vector<MemoryHolder>& after, auto is_same) {
  for (MemoryHolder& one : after) {
    for (MemoryHolder& other : before) {
      if (other.call != one.call || !is_same(other.range, one.range)) continue;
      const std::uint64_t bytes = std::min(one.bytes, other.bytes);
      const std::uint64_t allocations = std::min(one.allocations, other.allocations);
      one.bytes -= bytes;
      other.bytes -= bytes;
      one.allocations -= allocations;
      other.allocations -= allocations;
    }
  }
}

/// A buffer that is first allocated outside of the steps, and then replaced in them, has not grown.
bool ends_alike(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return !a.empty() && !b.empty() && a.back() == b.back();
}

/// By how much they hold more afterwards. A buffer that takes the place of another one is no growth.
std::vector<MemoryHolder> growth_of(std::vector<MemoryHolder> before, std::vector<MemoryHolder> after) {
  leave_out(before, after, std::equal_to());
  leave_out(before, after, ends_alike);
  std::erase_if(after, [](const MemoryHolder& one) { return one.bytes == 0; });
  std::ranges::stable_sort(after, std::ranges::greater{}, &MemoryHolder::bytes);
  return after;
}

/// What is held at some moments, which are in order: after all that happened before.
std::vector<std::uint64_t> held_at(const std::vector<MemoryPoint>& points,
                                   std::span<const std::int64_t> moments) {
  std::vector<std::uint64_t> held;
  std::size_t next = 0;
  std::uint64_t now = 0;
  for (const std::int64_t moment : moments) {
    while (next < points.size() && points[next].time < moment) now = points[next++].bytes;
    held.push_back(now);
  }
  return held;
}

/// Where the steady steps begin on the host, and where each of them ends.
std::vector<std::int64_t> step_boundaries(const Steps& steps) {
  std::vector<std::int64_t> moments{steps.all[steps.steady].host.start};
  for (std::size_t i = steps.steady; i < steps.all.size(); ++i) moments.push_back(steps.all[i].host.end);
  return moments;
}

/// Whether each quarter of the steps adds to what is held, and a step of the last one at least half as much
/// as the average step: what an allocator keeps grows less and less, and is no leak.
bool grows(const std::vector<std::uint64_t>& held) {
  constexpr std::size_t quarters = 4;
  const std::size_t steps = held.size() - 1;
  if (steps < quarters) return false;
  for (std::size_t i = 0; i < quarters; ++i) {
    if (held[(i + 1) * steps / quarters] <= held[i * steps / quarters]) return false;
  }
  const std::size_t last = (quarters - 1) * steps / quarters;
  const auto a_step = [&](std::size_t from) {
    return static_cast<double>(held[steps] - held[from]) / static_cast<double>(steps - from);
  };
  return 2 * a_step(last) >= a_step(0);
}

/// The allocations of a GPU by their time.
std::vector<Allocation> allocations_on(const trace::Trace& trace, trace::CaseIndex index, std::uint32_t gpu) {
  std::vector<Allocation> all;
  for (const Allocation& one : trace::of_case(trace.allocations, index)) {
    if (one.is_on_gpu() && one.queue.device == gpu) all.push_back(one);
  }
  std::ranges::stable_sort(all, {}, [](const Allocation& one) { return one.time.start; });
  return all;
}

std::vector<MemoryPoint> points_of(const std::vector<Allocation>& allocations) {
  HeldMemory held;
  std::vector<MemoryPoint> points;
  for (const Allocation& one : allocations) {
    held.take(one);
    points.push_back({one.time.start, held.sum()});
  }
  return points;
}

std::uint64_t peak_of(const std::vector<MemoryPoint>& points) {
  std::uint64_t peak = 0;
  for (const MemoryPoint& point : points) peak = std::max(peak, point.bytes);
  return peak;
}

/// What a framework's kernels and ranges are called. Its allocator keeps what CUDA once gave it.
MemoryReserver reserver_in(const trace::Trace& trace) {
  for (std::size_t i = 0; i < trace.names.size(); ++i) {
    const std::string_view name = trace.names[static_cast<trace::NameIndex>(i)];
    if (name.find("at::native::") != name.npos) return MemoryReserver::pytorch;
    if (name.find("XlaModule") != name.npos) return MemoryReserver::xla;
  }
  return MemoryReserver::none;
}

/// Its memory is held without an address, and CUPTI has no record of it.
std::uint64_t unseen_calls_of(const trace::Trace& trace, trace::CaseIndex index) {
  const auto calls = trace::of_case(trace.calls, index);
  return static_cast<std::uint64_t>(std::ranges::count_if(
      calls, [&](const trace::Call& call) { return trace.names[call.name] == "cuMemCreate"; }));
}

NoMemoryUse why_no_memory(const trace::Trace& trace, trace::CaseIndex index) {
  trace::CallKinds kinds(trace);
  std::map<trace::NameIndex, std::uint64_t> counts;
  for (const trace::Call& call : trace::of_case(trace.calls, index)) {
    if (kinds.of(call) == trace::CallKind::allocation) ++counts[call.name];
  }
  NoMemoryUse absent{.unseen_calls = unseen_calls_of(trace, index)};
  std::uint64_t most = 0;
  for (const auto& [name, count] : counts) {
    const std::string& text = trace.names[name];
    if (text.find("Free") != text.npos || text.find("Host") != text.npos) continue;
    absent.calls += count;
    if (count > most) absent.call = text;
    most = std::max(most, count);
  }
  return absent;
}

/// The GPU of which the program held the most, and the peaks of the others.
std::pair<std::uint32_t, std::vector<std::uint64_t>> fullest_gpu(const trace::Trace& trace,
                                                                 trace::CaseIndex index) {
  std::map<std::uint32_t, std::uint64_t> peaks;
  for (const Allocation& one : trace::of_case(trace.allocations, index)) {
    if (one.is_on_gpu()) peaks.try_emplace(one.queue.device);
  }
  for (auto& [gpu, peak] : peaks) peak = peak_of(points_of(allocations_on(trace, index, gpu)));
  const auto most = std::ranges::max_element(peaks, {}, [](const auto& one) { return one.second; });
  std::vector<std::uint64_t> others;
  for (const auto& [gpu, peak] : peaks) {
    if (gpu != most->first) others.push_back(peak);
  }
  return {most->first, others};
}

class MemoryReader {
 public:
  MemoryReader(const trace::Trace& trace, trace::CaseIndex index, const Steps* steps)
      : trace_(trace), index_(index), steps_(steps) {}

  MemoryUse use() {
    std::tie(use_.gpu, use_.others) = fullest_gpu(trace_, index_);
    const std::vector<Allocation> allocations = allocations_on(trace_, index_, use_.gpu);
    read_gpu(allocations);
    Allocators allocators(trace_, index_, steps_, allocations);
    use_.points = points_of(allocations);
    use_.peak = peak_of(use_.points);
    read_peak(allocations, allocators);
    if (keeps_memory(allocations)) use_.reserver = reserver_in(trace_);
    if (steps_ != nullptr) read_steps(allocations, allocators);
    thin();
    use_.unseen_calls = unseen_calls_of(trace_, index_);
    return std::move(use_);
  }

 private:
  void read_gpu(const std::vector<Allocation>& allocations) {
    std::set<std::int64_t> processes;
    for (const Allocation& one : allocations) {
      if (!one.is_release) processes.insert(one.process);
    }
    use_.processes = processes.size();
    use_.is_of_several = use_.processes > 1 || std::ranges::count(trace_.gpus, use_.gpu, &trace::Gpu::id) > 1;
    const auto gpu = std::ranges::find(trace_.gpus, use_.gpu, &trace::Gpu::id);
    if (gpu != trace_.gpus.end() && !use_.is_of_several) use_.of_gpu = gpu->memory;
  }

  /// Whether most kernels find memory without asking CUDA for any: fewer than a tenth of them do.
  [[nodiscard]] bool keeps_memory(const std::vector<Allocation>& allocations) const {
    constexpr std::size_t least_kernels_of_one = 10;
    const auto made =
        static_cast<std::size_t>(std::ranges::count(allocations, false, &Allocation::is_release));
    const auto kernels = static_cast<std::size_t>(std::ranges::count_if(
        trace::of_case(trace_.kernels.rows(), index_),
        [&](const trace::KernelRow& one) { return trace_.kernels.shared(one).queue.device == use_.gpu; }));
    return least_kernels_of_one * made < kernels;
  }

  void read_peak(const std::vector<Allocation>& allocations, Allocators& allocators) {
    HeldMemory held;
    for (const Allocation& one : allocations) {
      held.take(one);
      use_.peak_time = one.time.start;
      if (held.sum() == use_.peak) break;
    }
    const std::vector<const Allocation*> at_peak = held.all();
    use_.holders = allocators.holders(at_peak);
    use_.from_pools = allocators.from_pools(at_peak);
    for (const Allocation* one : at_peak) {
      if (one->kind == trace::MemoryKind::managed) use_.managed += one->bytes;
    }
  }

  void read_steps(const std::vector<Allocation>& allocations, Allocators& allocators) {
    const std::vector<std::int64_t> moments = step_boundaries(*steps_);
    const std::vector<std::uint64_t> held = held_at(use_.points, moments);
    const trace::Interval steady{moments.front(), moments.back()};
    for (std::size_t i = 0; i < steps_->all.size(); ++i) {
      const trace::Interval& host = steps_->all[i].host;
      if (use_.peak_time >= host.start && use_.peak_time < host.end) use_.peak_step = i;
    }
    use_.before_steps = held_at(use_.points, std::array{steps_->all.front().host.start}).front();
    use_.steady_peak = held.front();
    for (const MemoryPoint& point : use_.points) {
      if (point.time >= steady.start && point.time < steady.end)
        use_.steady_peak = std::max(*use_.steady_peak, point.bytes);
    }
    MemoryTraffic traffic;
    for (const Allocation& one : allocations) {
      if (one.time.start < steady.start || one.time.start >= steady.end) continue;
      ++(one.is_release ? traffic.releases : traffic.allocations);
      if (!one.is_release) traffic.bytes += one.bytes;
    }
    use_.traffic = traffic;
    if (grows(held)) read_growth(allocations, allocators, steady, held);
  }

  void read_growth(const std::vector<Allocation>& allocations, Allocators& allocators,
                   const trace::Interval& steady, const std::vector<std::uint64_t>& held) {
    const auto holders_at = [&](std::int64_t moment) {
      HeldMemory now;
      for (const Allocation& one : allocations) {
        if (one.time.start < moment) now.take(one);
      }
      return allocators.holders(now.all());
    };
    use_.growth = MemoryGrowth{.before = held.front(),
                               .after = held.back(),
                               .a_step = static_cast<double>(held.back() - held.front()) /
                                         static_cast<double>(steps_->steady_steps()),
                               .holders = growth_of(holders_at(steady.start), holders_at(steady.end))};
  }

  /// The last one of each moment.
  void thin() {
    std::vector<MemoryPoint> points;
    for (const MemoryPoint& point : use_.points) {
      if (!points.empty() && points.back().time == point.time)
        points.back() = point;
      else
        points.push_back(point);
    }
    use_.points = std::move(points);
  }

  const trace::Trace& trace_;
  trace::CaseIndex index_;
  const Steps* steps_;
  MemoryUse use_;
};

}  // namespace

MemoryReading memory_use_of(const trace::Trace& trace, trace::CaseIndex index, const Steps* steps) {
  const auto rows = trace::of_case(trace.allocations, index);
  const bool is_seen = std::ranges::any_of(
      rows, [](const Allocation& one) { return one.is_on_gpu() && !one.is_release && one.bytes > 0; });
  if (!is_seen) return {.absent = why_no_memory(trace, index)};
  return {.use = MemoryReader(trace, index, steps).use()};
}

}  // namespace mprof
