// SPDX-License-Identifier: MIT
#include "report/analysis/ranks/rank_summary.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "model/enum_names.hpp"
#include "model/kernel_name.hpp"
#include "model/statistics/median.hpp"
#include "model/trace/interval_set.hpp"
#include "model/trace/steps.hpp"
#include "report/analysis/ranks/host_places.hpp"

namespace mprof {
namespace {

using Time = trace::Interval;
using trace::IntervalSet;

constexpr std::size_t most_exposed = 8;      // moments of one collective
constexpr std::size_t most_stretches = 256;  // of a step: more become so many equal cells
constexpr std::size_t most_kernels = 32;

constexpr EnumNames<RankActivity, rank_activities> activity_names{
    {{RankActivity::computing, "computing"},
     {RankActivity::communicating, "communicating"},
     {RankActivity::copying, "copying"},
     {RankActivity::idle, "idle"}}};

/// When each activity holds; each moment of the window is in one of them.
using ActivityMoments = std::array<IntervalSet, rank_activities>;

struct RankMoments {
  ActivityMoments activities{};
  IntervalSet communication{};  ///< hidden or not
};

RankMoments moments_of(const trace::Trace& own, const std::vector<trace::Collective>& collectives,
                       const Time& window) {
  std::vector<Time> computing, communicating, copying;
  std::vector<std::optional<bool>> known(own.names.size());
  for (const trace::KernelRow& row : own.kernels.rows()) {
    const trace::NameIndex name = own.kernels.shared(row).name;
    if (!known[name]) known[name] = trace::collective_kind(own.names[name]).has_value();
    if (!*known[name]) computing.push_back(row.time);
  }
  for (const trace::GraphExecution& graph : own.graphs) computing.push_back(graph.time);
  for (const trace::Collective& one : collectives) communicating.push_back(one.time);
  for (const trace::Transfer& transfer : own.transfers) copying.push_back(transfer.time);
  const IntervalSet all({window}), computes(std::move(computing)), talks(std::move(communicating)),
      copies(std::move(copying));
  const IntervalSet busy = computes | talks;
  return {{all & computes, all & (talks - computes), all & (copies - busy), all - (busy | copies)},
          all & talks};
}

/// The parts of sorted intervals that lie within a part.
std::vector<Time> cut(const std::vector<Time>& intervals, const Time& part) {
  std::vector<Time> within;
  auto one = std::ranges::upper_bound(intervals, part.start, {}, &Time::end);
  for (; one != intervals.end() && one->start < part.end; ++one)
    within.push_back({std::max(one->start, part.start), std::min(one->end, part.end)});
  return within;
}

std::vector<Time> longest_exposed(const IntervalSet& exposed, const Time& time) {
  std::vector<Time> moments = cut(exposed.intervals(), time);
  if (moments.size() <= most_exposed) return moments;
  std::ranges::stable_sort(moments, std::ranges::greater{}, &Time::length);
  moments.resize(most_exposed);
  std::ranges::sort(moments, {}, &Time::start);
  return moments;
}

std::vector<RankStretch> exact_stretches(const ActivityMoments& activities, const Time& step) {
  std::vector<RankStretch> stretches;
  for (std::size_t what = 0; what < rank_activities; ++what) {
    for (const Time& time : cut(activities.at(what).intervals(), step))
      stretches.push_back({time, static_cast<RankActivity>(what)});
  }
  std::ranges::sort(stretches, {}, [](const RankStretch& one) { return one.time.start; });
  return stretches;
}

/// A step as cells of equal length, each with what takes the most of it.
std::vector<RankStretch> coarse_stretches(const std::vector<RankStretch>& exact, const Time& step) {
  std::vector<RankStretch> cells;
  auto next = exact.begin();
  for (std::size_t i = 0; i < most_stretches; ++i) {
    const auto at = [&](std::size_t cell) {
      return step.start + static_cast<std::int64_t>(static_cast<double>(step.length()) *
                                                    static_cast<double>(cell) / double{most_stretches});
    };
    const Time cell{at(i), i + 1 == most_stretches ? step.end : at(i + 1)};
    std::array<std::int64_t, rank_activities> times{};
    while (next != exact.end() && next->time.end <= cell.start) ++next;
    for (auto one = next; one != exact.end() && one->time.start < cell.end; ++one)
      times.at(static_cast<std::size_t>(one->what)) +=
          std::min(one->time.end, cell.end) - std::max(one->time.start, cell.start);
    const auto what = static_cast<RankActivity>(std::ranges::max_element(times) - times.begin());
    if (!cells.empty() && cells.back().what == what) {
      cells.back().time.end = cell.end;
    } else {
      cells.push_back({cell, what});
    }
  }
  return cells;
}

std::vector<RankKernel> kernels_within(const trace::Trace& own, const Time& window) {
  std::map<trace::NameIndex, std::vector<double>> launches;
  for (const trace::KernelRow& row : own.kernels.rows()) {
    if (row.time.end > window.start && row.time.start < window.end)
      launches[own.kernels.shared(row).name].push_back(static_cast<double>(row.time.length()));
  }
  std::vector<RankKernel> kernels;
  for (const auto& [name, times] : launches) {
    if (trace::collective_kind(own.names[name])) continue;
    kernels.push_back({.name = own.names[name],
                       .launches = times.size(),
                       .time = static_cast<std::int64_t>(std::accumulate(times.begin(), times.end(), 0.0)),
                       .median = static_cast<std::int64_t>(median(times))});
  }
  std::ranges::stable_sort(kernels, std::ranges::greater{}, &RankKernel::time);
  if (kernels.size() > most_kernels) kernels.resize(most_kernels);
  return kernels;
}

/// The steady steps as the GPU was done with them; without steps the whole.
std::vector<Time> step_windows(const trace::Trace& own, const std::optional<Steps>& steps) {
  std::vector<Time> windows;
  if (!steps) {
    std::optional<Time> whole;
    const auto widen = [&](const auto& rows) {
      for (const auto& row : rows) {
        if (!whole) whole = row.time;
        whole = Time{std::min(whole->start, row.time.start), std::max(whole->end, row.time.end)};
      }
    };
    widen(own.kernels.rows());
    widen(own.graphs);
    widen(own.transfers);
    if (whole) windows.push_back(*whole);
    return windows;
  }
  std::int64_t start = steps->steady_time().start;
  for (std::size_t i = steps->steady; i < steps->all.size(); ++i) {
    windows.push_back({start, steps->all[i].done});
    start = steps->all[i].done;
  }
  std::erase_if(windows, [](const Time& window) { return window.length() <= 0; });
  return windows;
}

RankStep step_of(const RankMoments& moments, const std::array<IntervalSet, budget_parts>& idle,
                 const Time& window) {
  RankStep step{.time = window};
  for (std::size_t what = 0; what < rank_activities; ++what)
    step.parts.at(what) = length_within(moments.activities.at(what).intervals(), window);
  step.communication = length_within(moments.communication.intervals(), window);
  for (std::size_t cause = 0; cause < budget_parts; ++cause)
    step.idle.at(cause) = length_within(idle.at(cause).intervals(), window);
  return step;
}

void count_launches(RankSummary& summary, const trace::Trace& own) {
  for (const trace::KernelRow& row : own.kernels.rows()) {
    const auto step = std::ranges::upper_bound(summary.steps, row.time.end - 1, {},
                                               [](const RankStep& one) { return one.time.end; });
    if (step != summary.steps.end() && row.time.end > step->time.start &&
        !trace::collective_kind(own.names[own.kernels.shared(row).name]))
      ++step->launches;
  }
}

void add_collectives(RankSummary& summary, const trace::Trace& own, const RankMoments& moments,
                     const std::vector<trace::Collective>& collectives, const Time& window) {
  const IntervalSet& exposed = moments.activities.at(static_cast<std::size_t>(RankActivity::communicating));
  // Where a file does not tell groups apart, a communicator has a stream of its own.
  std::map<std::pair<trace::NameIndex, std::uint32_t>, std::uint32_t> groups;
  for (const trace::Collective& one : collectives) {
    if (one.time.end <= window.start || one.time.start >= window.end) continue;
    const auto [group, is_new] = groups.try_emplace({one.group, one.group == 0 ? one.queue.stream : 0},
                                                    static_cast<std::uint32_t>(summary.groups.size()));
    if (is_new) summary.groups.push_back(own.names[one.group]);
    summary.add({.time = one.time,
                 .bytes = one.bytes,
                 .group_size = one.group_size,
                 .group = group->second,
                 .kind = one.kind,
                 .is_of_one_rank = one.is_of_one_rank},
                longest_exposed(exposed, one.time));
  }
}

void identify(RankSummary& summary, const trace::Trace& trace, const trace::Trace& own,
              std::int64_t process) {
  const auto known = std::ranges::find(trace.processes, process, &trace::ProcessInfo::id);
  if (known != trace.processes.end()) {
    summary.rank = known->rank;
    summary.world_size = known->world_size;
  }
  const auto host = trace.system.find("Hostname");
  if (host != trace.system.end()) summary.host = host->second;
  std::map<std::uint32_t, std::int64_t> devices;
  for (const trace::KernelRow& row : own.kernels.rows())
    devices[own.kernels.shared(row).queue.device] += row.time.length();
  if (devices.empty()) return;
  summary.device =
      std::ranges::max_element(devices, {}, [](const auto& device) { return device.second; })->first;
  const auto gpu = std::ranges::find(trace.gpus, *summary.device, &trace::Gpu::id);
  if (gpu != trace.gpus.end()) summary.gpu = gpu->name;
}

}  // namespace

std::string_view to_string(RankActivity activity) {
  return name_of(activity_names, activity);
}

void RankSummary::add(RankCollective one, std::span<const Time> moments) {
  one.first_exposed = static_cast<std::uint32_t>(exposed.size());
  one.exposed = static_cast<std::uint8_t>(moments.size());
  exposed.insert(exposed.end(), moments.begin(), moments.end());
  collectives.push_back(one);
}

std::int64_t RankSummary::total() const {
  return steps.empty() ? 0 : steps.back().time.end - steps.front().time.start;
}

std::int64_t length_within(std::span<const Time> intervals, const Time& part) {
  std::int64_t length = 0;
  auto one = std::ranges::upper_bound(intervals, part.start, {}, &Time::end);
  for (; one != intervals.end() && one->start < part.end; ++one)
    length += std::min(one->end, part.end) - std::max(one->start, part.start);
  return length;
}

void sort_ranks(std::vector<RankSummary>& ranks) {
  constexpr std::uint32_t unknown = std::numeric_limits<std::uint32_t>::max();
  std::ranges::stable_sort(ranks, {}, &RankSummary::name);
  std::ranges::stable_sort(ranks, {}, [&](const RankSummary& one) { return one.rank.value_or(unknown); });
}

RankSummary summary_of_rank(const trace::Trace& trace, trace::CaseIndex index, std::int64_t process) {
  const trace::Trace own = trace::of_process(trace, index, process);
  RankSummary summary{.epoch = trace.epoch};
  identify(summary, trace, own, process);
  const std::optional<Steps> steps = steps_of(own, 0);
  const std::vector<Time> windows = step_windows(own, steps);
  if (windows.empty()) return summary;
  if (steps) {
    summary.step = steps->mark == StepMark::launches ? kernel_name_of_demangled(steps->names.front()).brief
                                                     : steps->names.front();
    summary.first_step = steps->steady;
  }
  const Time window{windows.front().start, windows.back().end};
  const std::vector<trace::Collective> collectives = trace::collectives_of(own, 0, process);
  const RankMoments moments = moments_of(own, collectives, window);
  const std::array<IntervalSet, budget_parts> idle = idle_moments(own, 0, window);
  summary.stretches.begin_at(window.start);
  for (const Time& step : windows) {
    summary.steps.push_back(step_of(moments, idle, step));
    std::vector<RankStretch> stretches = exact_stretches(moments.activities, step);
    if (stretches.size() > most_stretches) stretches = coarse_stretches(stretches, step);
    for (const RankStretch& stretch : stretches) summary.stretches.add(stretch.time.end, stretch.what);
  }
  count_launches(summary, own);
  add_collectives(summary, own, moments, collectives, window);
  summary.kernels = kernels_within(own, window);
  summary.places = host_places(own, idle, steps ? steps->names : std::vector<std::string>());
  return summary;
}

}  // namespace mprof
