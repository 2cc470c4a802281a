// SPDX-License-Identifier: MIT
#include "model/trace/steps.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "model/trace/launched_work.hpp"
#include "model/trace/op_name.hpp"

namespace mprof {
namespace {

/// Fewer of a kind are no habit.
constexpr std::size_t fewest_steps = 5;

/// NVTX domains of libraries: their ranges are not the program's, and no steps.
constexpr std::array<std::string_view, 10> library_domains{
    trace::own_domain, "NCCL", "CCCL", "CUB", "Thrust", "cuDNN", "cuBLAS", "TSL", "XLA", "NVSHMEM"};

/// How the ranges begin that PyTorch makes of each operation (torch.autograd.profiler.emit_nvtx).
constexpr std::array<std::string_view, 4> operation_beginnings{"aten::", "autograd::", "torch::", "c10d::"};

bool is_of_library(const trace::Trace& trace, const trace::Range& range) {
  if (range.domain != 0 &&
      std::ranges::find(library_domains, trace.names[range.domain]) != library_domains.end())
    return true;
  const std::string_view text = trace.text_of(range);
  return std::ranges::any_of(operation_beginnings,
                             [&](std::string_view one) { return text.starts_with(one); }) ||
         trace::without_operation_ids(text).size() < text.size();
}

// --- By ranges

/// A range of a thread, with how many others it lies in.
struct Nested {
  trace::Interval time;
  std::string name;
  std::size_t depth = 0;
};

std::map<std::int64_t, std::vector<Nested>> nested_ranges(const trace::Trace& trace, trace::CaseIndex index) {
  std::map<std::int64_t, std::vector<const trace::Range*>> threads;
  for (const trace::Range& range : trace::of_case(trace.ranges, index)) {
    if (range.style == trace::RangeStyle::push_pop && !is_of_library(trace, range))
      threads[range.thread].push_back(&range);
  }
  std::map<std::int64_t, std::vector<Nested>> nested;
  for (auto& [thread, ranges] : threads) {
    std::ranges::stable_sort(ranges, [](const trace::Range* a, const trace::Range* b) {
      return std::pair(a->time.start, -a->time.end) < std::pair(b->time.start, -b->time.end);
    });
    std::vector<std::int64_t> open;  // ends, from the outermost inwards
    for (const trace::Range* range : ranges) {
      while (!open.empty() && open.back() <= range->time.start) open.pop_back();
      nested[thread].push_back({range->time, trace::without_numbers(trace.text_of(*range)), open.size()});
      open.push_back(range->time.end);
    }
  }
  return nested;
}

/// Ranges of one thread and depth that make steps.
struct Cycle {
  std::vector<std::string> names{};    ///< in the order of their first instances
  std::vector<std::int64_t> begins{};  ///< of each step
  std::int64_t end = 0;                ///< of the last one
  std::int64_t time = 0;               ///< ns, of the name that takes the most
};

/// The names that stand as often as the one that takes the most time make a step together.
std::optional<Cycle> cycle_of(std::span<const Nested> ranges, std::size_t depth) {
  struct Kind {
    std::size_t count = 0;
    std::int64_t time = 0;
  };
  std::map<std::string_view, Kind> kinds;
  for (const Nested& range : ranges) {
    if (range.depth != depth) continue;
    ++kinds[range.name].count;
    kinds[range.name].time += range.time.length();
  }
  std::erase_if(kinds, [](const auto& kind) { return kind.second.count < fewest_steps; });
  if (kinds.empty()) return std::nullopt;
  const auto most = std::ranges::max_element(kinds, {}, [](const auto& kind) { return kind.second.time; });
  const std::size_t count = most->second.count;
  Cycle cycle{.time = most->second.time};
  for (const Nested& range : ranges) {
    const auto kind = kinds.find(range.name);
    if (range.depth != depth || kind == kinds.end() || kind->second.count + 1 < count ||
        kind->second.count > count + 1)
      continue;
    if (std::ranges::find(cycle.names, range.name) == cycle.names.end()) cycle.names.push_back(range.name);
    if (range.name == cycle.names.front()) cycle.begins.push_back(range.time.start);
    cycle.end = std::max(cycle.end, range.time.end);
  }
  return cycle;
}

/// Of the thread that spends the most time in ranges that repeat, the outermost ones of these.
std::optional<Cycle> longest_cycle(const trace::Trace& trace, trace::CaseIndex index) {
  constexpr std::size_t deepest = 4;
  std::optional<Cycle> longest;
  for (const auto& [thread, ranges] : nested_ranges(trace, index)) {
    std::optional<Cycle> outermost;
    for (std::size_t depth = 0; depth < deepest && !outermost; ++depth) outermost = cycle_of(ranges, depth);
    if (outermost && (!longest || outermost->time > longest->time)) longest = std::move(outermost);
  }
  return longest;
}

// --- By launches

/// Whether a kernel comes back after the same number of launches, nearly always.
bool is_regular(std::span<const std::size_t> places) {
  constexpr double alike = 0.1, nearly_all = 0.9;
  std::vector<double> gaps;
  for (std::size_t i = places.size() / 4 + 1; i < places.size(); ++i)
    gaps.push_back(static_cast<double>(places[i] - places[i - 1]));
  if (gaps.size() + 1 < fewest_steps) return false;
  const double usual = median(gaps);
  double all = 0, regular = 0;
  for (const double gap : gaps) {
    all += gap;
    if (std::abs(gap - usual) <= alike * usual) regular += gap;
  }
  return regular >= nearly_all * all;
}

/// Steps begin with the kernel that comes back regularly, and most often of those that do. It must span most
/// of the GPU's work.
std::optional<Cycle> launch_cycle(const trace::Trace& trace, trace::LaunchedWorks& works) {
  constexpr double most = 0.5;
  using Repeated = std::tuple<std::uint32_t, std::int64_t, trace::NameIndex>;  // GPU, process, kernel
  struct Launch {
    std::int64_t given = 0;
    std::int64_t time = 0;
    Repeated kernel{};
    std::size_t ordinal = 0;  ///< of those of its GPU and process
  };
  std::vector<Launch> launches;
  works.each_kernel([&](const trace::LaunchedWork& work) {
    const trace::Kernel& kernel = trace.kernels.shared(trace.kernels.rows()[work.row]);
    if (kernel.name != 0)
      launches.push_back(
          {work.call.start, work.time.length(), {kernel.queue.device, kernel.process, kernel.name}});
  });
  if (!std::ranges::is_sorted(launches, {}, &Launch::given))
    std::ranges::stable_sort(launches, {}, &Launch::given);
  // One GPU's launches in one process: what others do at their own pace is no step of it.
  std::map<Repeated, std::vector<std::size_t>> places;
  std::map<std::pair<std::uint32_t, std::int64_t>, std::size_t> launched;
  std::vector<double> busy{0};  // of all kernels before each one, ns
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const auto& [gpu, process, name] = launches[i].kernel;
    launches[i].ordinal = launched[{gpu, process}]++;
    places[launches[i].kernel].push_back(i);
    busy.push_back(busy.back() + static_cast<double>(launches[i].time));
  }
  const std::vector<std::size_t>* best = nullptr;
  for (const auto& [name, of_name] : places) {
    if (of_name.size() < fewest_steps || (best != nullptr && of_name.size() <= best->size())) continue;
    const double spanned = busy[of_name.back() + 1] - busy[of_name.front()];
    std::vector<std::size_t> ordinals;
    for (const std::size_t place : of_name) ordinals.push_back(launches[place].ordinal);
    if (is_regular(ordinals) && spanned >= most * busy.back()) best = &of_name;
  }
  if (best == nullptr) return std::nullopt;
  Cycle cycle{.names = {trace.names[std::get<2>(launches[best->front()].kernel)]}};
  for (const std::size_t place : *best) cycle.begins.push_back(launches[place].given);
  // The last step has as many launches as the one before it, as far as there are so many.
  const std::size_t length = best->back() - (*best)[best->size() - 2];
  const std::size_t last = std::min(best->back() + length, launches.size()) - 1;
  cycle.end = launches[last].given + 1;
  return cycle;
}

// ---

std::vector<ProgramStep> steps_in(const Cycle& cycle, trace::LaunchedWorks& works) {
  std::vector<ProgramStep> steps(cycle.begins.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps[i].host = {cycle.begins[i], i + 1 < steps.size() ? cycle.begins[i + 1] : cycle.end};
  }
  works.each([&](const trace::LaunchedWork& work) {
    const std::int64_t given = work.call.start;
    if (given < cycle.begins.front() || given >= cycle.end) return;
    const auto next = std::ranges::upper_bound(cycle.begins, given);
    ProgramStep& step = steps[static_cast<std::size_t>(next - cycle.begins.begin()) - 1];
    ++step.launches;
    step.done = std::max(step.done, work.time.end);
  });
  std::int64_t before = cycle.begins.front();
  for (ProgramStep& step : steps) {
    step.done = std::max(step.launches > 0 ? step.done : step.host.end, before);
    step.pace = step.done - before;
    before = step.done;
  }
  return steps;
}

/// Steps that are slower than those of the second half usually are, from the first one on.
std::size_t end_of_warming_up(std::span<const ProgramStep> steps) {
  constexpr double much = 1.25;
  std::vector<double> later;
  for (const ProgramStep& step : steps.subspan(steps.size() / 2))
    later.push_back(static_cast<double>(step.pace));
  const double usual = median(later);
  std::size_t first = 0;
  while (first < steps.size() / 2 && static_cast<double>(steps[first].pace) > much * usual) ++first;
  return first;
}

std::vector<double> steady_paces(const Steps& steps) {
  std::vector<double> paces;
  for (std::size_t i = steps.steady; i < steps.all.size(); ++i)
    paces.push_back(static_cast<double>(steps.all[i].pace));
  return paces;
}

/// Whether steps of the usual length make up at least half of the steady time. Otherwise what repeats is a
/// part of something longer.
bool are_most_of_it(const Steps& steps) {
  constexpr double most = 0.5;
  return steps.median_pace() * static_cast<double>(steps.steady_steps()) >=
         most * static_cast<double>(steps.steady_time().length());
}

}  // namespace

trace::Interval Steps::steady_time() const {
  return {steady == 0 ? all.front().host.start : all[steady - 1].done, all.back().done};
}

std::optional<std::size_t> Steps::place_in_steady(std::int64_t moment) const {
  const auto step = std::ranges::lower_bound(all, moment, {}, &ProgramStep::done);
  const auto place = static_cast<std::size_t>(step - all.begin());
  if (step == all.end() || place < steady) return std::nullopt;
  return place - steady;
}

double Steps::median_pace() const {
  return median(steady_paces(*this));
}

double Steps::rate() const {
  constexpr double ns_of_second = 1e9;
  return static_cast<double>(steady_steps()) * ns_of_second / static_cast<double>(steady_time().length());
}

std::optional<Interval> Steps::pace_interval() const {
  return median_interval(steady_paces(*this));
}

std::int64_t Steps::fastest_host() const {
  std::vector<std::uint64_t> launches;
  for (const ProgramStep& step : all) launches.push_back(step.launches);
  const auto middle = launches.begin() + static_cast<std::ptrdiff_t>(launches.size() / 2);
  std::ranges::nth_element(launches, middle);
  std::int64_t fastest = std::numeric_limits<std::int64_t>::max();
  // Where the last one ends on the host is known of ranges alone.
  const std::size_t known = mark == StepMark::ranges ? all.size() : all.size() - 1;
  for (const ProgramStep& step : std::span(all).first(known)) {
    if (step.launches >= *middle) fastest = std::min(fastest, step.host.length());
  }
  return fastest;
}

std::vector<std::size_t> Steps::slow() const {
  constexpr double much = 1.25;
  const double usual = median_pace();
  std::vector<std::size_t> slow;
  for (std::size_t i = steady; i < all.size(); ++i) {
    if (static_cast<double>(all[i].pace) > much * usual) slow.push_back(i);
  }
  std::ranges::stable_sort(slow, std::ranges::greater{}, [&](std::size_t i) { return all[i].pace; });
  return slow;
}

std::optional<Steps> steps_of(const trace::Trace& trace, trace::CaseIndex index) {
  trace::LaunchedWorks works(trace, index);
  Steps steps;
  std::optional<Cycle> cycle = longest_cycle(trace, index);
  if (!cycle) {
    steps.mark = StepMark::launches;
    cycle = launch_cycle(trace, works);
  }
  if (!cycle) return std::nullopt;
  steps.names = cycle->names;
  steps.has_ranges = std::ranges::any_of(trace::of_case(trace.ranges, index), [&](const trace::Range& range) {
    return !is_of_library(trace, range);
  });
  steps.all = steps_in(*cycle, works);
  steps.steady = end_of_warming_up(steps.all);
  if (steps.mark == StepMark::launches && !are_most_of_it(steps)) return std::nullopt;
  return steps;
}

}  // namespace mprof
