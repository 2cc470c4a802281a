// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "report/trace/range_kernels.hpp"
#include "report/trace/table_parts.hpp"

namespace mprof::profile {
namespace {

using trace::Trace;

/// A kernel from the call that launched it to its end.
struct Execution {
  const trace::KernelRow* kernel = nullptr;
  const trace::Call* call = nullptr;

  [[nodiscard]] std::int64_t total() const {
    return std::max(call->time.end, kernel->time.end) - call->time.start;
  }
  /// From the end of the call; 0 or less: the kernel began before.
  [[nodiscard]] std::int64_t queue() const { return kernel->time.start - call->time.end; }
  /// All of the kernel but its time and its ids.
  [[nodiscard]] const trace::Kernel& of(const Trace& trace) const { return trace.kernels.shared(*kernel); }
};

Execution execution_of(const Trace& trace, const Launch& launch) {
  return {&trace.kernels.rows()[launch.kernel], &trace.calls[launch.call]};
}

/// The launches of a kernel by a call, on a thread and a device.
struct LaunchGroup {
  std::int64_t thread = 0;
  std::uint32_t device = 0;
  trace::NameIndex call = 0;
  trace::NameIndex kernel = 0;
  Spread total{}, api{}, run{};
  Spread queue{};  ///< of those that waited; count 0: none did
};

struct LaunchTimes {
  std::vector<std::int64_t> total, api, queue, kernel;
};

template <auto Times, auto Figure>
ProfileCell if_any(const LaunchGroup& row, const Trace&) {
  return (row.*Times).count == 0 ? ProfileCell() : cell_of((row.*Times).*Figure);
}

/// Avg, Med, Min, Max and StdDev of times that a letter stands for; nothing where none were counted.
template <auto Times>
void add_spread_if_any(std::vector<TableColumn<LaunchGroup>>& columns, const std::string& letter) {
  columns.push_back({rounded(letter + "Avg", "ns", 1), if_any<Times, &Spread::average>});
  columns.push_back({rounded(letter + "Med", "ns", 1), if_any<Times, &Spread::median>});
  columns.push_back({whole(letter + "Min", "ns"), if_any<Times, &Spread::smallest>});
  columns.push_back({whole(letter + "Max", "ns"), if_any<Times, &Spread::largest>});
  columns.push_back({rounded(letter + "StdDev", "ns", 1), if_any<Times, &Spread::deviation>});
}

/// The longest first; ties by what is shown: thread, device and numbers as they stand in the columns.
std::vector<LaunchGroup> in_order(const Trace& trace, std::vector<LaunchGroup> rows) {
  const auto shown = [&](const LaunchGroup& row) {
    return std::tuple(-row.total.total, trace::nsys::native_process(row.thread),
                      trace::nsys::native_thread(row.thread), row.device, row.run.count, row.queue.count,
                      std::string_view(trace.names[row.call]), std::string_view(trace.names[row.kernel]));
  };
  std::ranges::stable_sort(rows, {}, shown);
  return rows;
}

/// A kernel that began before its call ended was in no queue.
ProfileCell queue_start(const Execution& one, const Trace&) {
  return one.queue() > 0 ? cell_of(one.call->time.end) : ProfileCell();
}
ProfileCell queue_duration(const Execution& one, const Trace&) {
  return one.queue() > 0 ? cell_of(one.queue()) : ProfileCell();
}

struct CallOfThread {
  const trace::Call* call = nullptr;
  const std::string* thread_name = nullptr;
};

}  // namespace

ProfileTable launch_sum(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  std::map<std::tuple<std::int64_t, std::uint32_t, trace::NameIndex, trace::NameIndex>, LaunchTimes> groups;
  for (const Launch& launch : launches(trace, scope)) {
    const Execution one = execution_of(trace, launch);
    const trace::Kernel& kernel = one.of(trace);
    LaunchTimes& times = groups[{one.call->thread, kernel.queue.device, one.call->name, kernel.name}];
    times.total.push_back(one.total());
    times.api.push_back(one.call->time.length());
    if (one.queue() > 0) times.queue.push_back(one.queue());
    times.kernel.push_back(one.kernel->time.length());
  }
  std::vector<LaunchGroup> rows;
  for (auto& [key, times] : groups) {
    const auto& [thread, device, call, kernel] = key;
    rows.push_back({thread, device, call, kernel, spread_of(times.total), spread_of(times.api),
                    spread_of(times.kernel), times.queue.empty() ? Spread{} : spread_of(times.queue)});
  }
  std::vector<TableColumn<LaunchGroup>> columns{
      {whole("PID"), process<&LaunchGroup::thread>},
      {whole("TID"), thread<&LaunchGroup::thread>},
      {whole("DevId"), plain<&LaunchGroup::device>},
      {whole("Count"), plain<&LaunchGroup::run, &Spread::count>},
      {whole("QCount"), plain<&LaunchGroup::queue, &Spread::count>},
  };
  add_spread_if_any<&LaunchGroup::total>(columns, "T");
  add_spread_if_any<&LaunchGroup::api>(columns, "A");
  add_spread_if_any<&LaunchGroup::queue>(columns, "Q");
  add_spread_if_any<&LaunchGroup::run>(columns, "K");
  columns.push_back({words("API Name"), named<&LaunchGroup::call>});
  columns.push_back({words("Kernel Name"), named<&LaunchGroup::kernel>});
  return table_of(report, trace, std::move(columns), in_order(trace, std::move(rows)));
}

ProfileTable launch_trace(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  std::vector<Execution> all;
  for (const Launch& launch : launches(trace, scope)) all.push_back(execution_of(trace, launch));
  const auto order = [](const Execution& one) {
    return std::tuple(one.call->time.start, one.kernel->time.start);
  };
  if (!std::ranges::is_sorted(all, {}, order)) std::ranges::stable_sort(all, {}, order);
  using trace::Call, trace::Interval, trace::KernelRow;
  return table_of<Execution>(
      report, trace,
      {
          {whole("API Start", "ns"), plain<&Execution::call, &Call::time, &Interval::start>},
          {whole("API Dur", "ns"), length<&Execution::call, &Call::time>},
          {whole("Queue Start", "ns"), queue_start},
          {whole("Queue Dur", "ns"), queue_duration},
          {whole("Kernel Start", "ns"), plain<&Execution::kernel, &KernelRow::time, &Interval::start>},
          {whole("Kernel Dur", "ns"), length<&Execution::kernel, &KernelRow::time>},
          {whole("Total Dur", "ns"), [](const Execution& one, const Trace&) { return cell_of(one.total()); }},
          {whole("PID"), process<&Execution::call, &Call::thread>},
          {whole("TID"), thread<&Execution::call, &Call::thread>},
          {whole("DevId"),
           [](const Execution& one, const Trace& of) { return cell_of(one.of(of).queue.device); }},
          {words("API Function"), named<&Execution::call, &Call::name>},
          {whole("GridXYZ"),
           [](const Execution& one, const Trace& of) -> ProfileCell { return size_text(one.of(of).grid); }},
          {whole("BlockXYZ"),
           [](const Execution& one, const Trace& of) -> ProfileCell { return size_text(one.of(of).block); }},
          {words("Kernel Name"),
           [](const Execution& one, const Trace& of) -> ProfileCell { return of.names[one.of(of).name]; }},
      },
      std::move(all));
}

ProfileTable call_trace(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  std::map<std::int64_t, const std::string*> names;
  for (const trace::ThreadInfo& thread : trace.threads) names[thread.id] = &thread.name;
  std::vector<CallOfThread> calls;
  calls.reserve(scope.of(trace.calls).size());
  for (const trace::Call& call : scope.of(trace.calls)) {
    const auto name = names.find(call.thread);
    calls.push_back({&call, name == names.end() ? nullptr : name->second});
  }
  const auto order = [](const CallOfThread& one) {
    return std::tuple(one.call->time.start, one.call->time.end, one.call->correlation);
  };
  if (!std::ranges::is_sorted(calls, {}, order)) std::ranges::stable_sort(calls, {}, order);
  using trace::Call, trace::Interval;
  return table_of<CallOfThread>(
      report, trace,
      {
          {whole("Start", "ns"), plain<&CallOfThread::call, &Call::time, &Interval::start>},
          {whole("Duration", "ns"), length<&CallOfThread::call, &Call::time>},
          {words("Name"), named<&CallOfThread::call, &Call::name>},
          {whole("Result"), plain<&CallOfThread::call, &Call::result>},
          {whole("CorrID"), plain<&CallOfThread::call, &Call::correlation>},
          {whole("Pid"), process<&CallOfThread::call, &Call::thread>},
          {whole("Tid"), thread<&CallOfThread::call, &Call::thread>},
          {whole("T-Pri"), nothing<CallOfThread>},
          {words("Thread Name"),
           [](const CallOfThread& one, const Trace&) {
             return one.thread_name == nullptr ? ProfileCell() : ProfileCell(*one.thread_name);
           }},
      },
      std::move(calls));
}

}  // namespace mprof::profile
