#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "model/trace/nsys_schema.hpp"
#include "report/trace/range_kernels.hpp"
#include "report/trace/table_parts.hpp"

namespace mprof::profile {
namespace {

using trace::Trace;

/// A kernel from the call that launched it to its end.
struct Execution {
  const trace::Kernel* kernel = nullptr;
  const trace::Call* call = nullptr;

  [[nodiscard]] std::int64_t total() const {
    return std::max(call->time.end, kernel->time.end) - call->time.start;
  }
  /// From the end of the call; 0 or less: the kernel began before.
  [[nodiscard]] std::int64_t queue() const { return kernel->time.start - call->time.end; }
};

std::vector<Execution> executions(const Trace& trace, const ProfileScope& scope) {
  std::vector<Execution> all;
  for (const Launch& launch : launches(trace, scope))
    all.push_back({&trace.kernels[launch.kernel], &trace.calls[launch.call]});
  return all;
}

/// Avg, Med, Min, Max and StdDev of times that a letter stands for.
void add_columns(std::vector<ProfileColumn>& columns, const std::string& letter) {
  columns.push_back(rounded(letter + "Avg", "ns", 1));
  columns.push_back(rounded(letter + "Med", "ns", 1));
  columns.push_back(whole(letter + "Min", "ns"));
  columns.push_back(whole(letter + "Max", "ns"));
  columns.push_back(rounded(letter + "StdDev", "ns", 1));
}

void add_cells(ProfileRow& row, std::vector<std::int64_t> times) {
  if (times.empty()) {
    row.resize(row.size() + 5);
    return;
  }
  const Spread spread = spread_of(times);
  row.insert(row.end(), {spread.average, spread.median, spread.smallest, spread.largest, spread.deviation});
}

/// Thread, device, the names of call and kernel.
using LaunchKey = std::tuple<std::int64_t, std::uint32_t, trace::NameIndex, trace::NameIndex>;

struct LaunchTimes {
  std::vector<std::int64_t> total, api, queue, kernel;
};

ProfileCell result_cell(const trace::Call& call) {
  return call.result ? ProfileCell(static_cast<std::int64_t>(*call.result)) : ProfileCell();
}

}  // namespace

ProfileTable launch_sum(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  std::map<LaunchKey, LaunchTimes> groups;
  for (const Execution& one : executions(trace, scope)) {
    LaunchTimes& times =
        groups[{one.call->thread, one.kernel->queue.device, one.call->name, one.kernel->name}];
    times.total.push_back(one.total());
    times.api.push_back(one.call->time.length());
    if (one.queue() > 0) times.queue.push_back(one.queue());
    times.kernel.push_back(one.kernel->time.length());
  }
  ProfileTable table = empty_table(report);
  table.columns = {whole("PID"), whole("TID"), whole("DevId"), whole("Count"), whole("QCount")};
  for (const char* letter : {"T", "A", "Q", "K"}) add_columns(table.columns, letter);
  table.columns.insert(table.columns.end(), {words("API Name"), words("Kernel Name")});
  std::vector<std::pair<std::int64_t, ProfileRow>> rows;
  for (auto& [key, times] : groups) {
    const auto& [thread, device, call, kernel] = key;
    std::int64_t total = 0;
    for (const std::int64_t time : times.total) total += time;
    ProfileRow row{trace::nsys::native_process(thread), trace::nsys::native_thread(thread),
                   std::int64_t{device}, static_cast<std::int64_t>(times.kernel.size()),
                   static_cast<std::int64_t>(times.queue.size())};
    add_cells(row, std::move(times.total));
    add_cells(row, std::move(times.api));
    add_cells(row, std::move(times.queue));
    add_cells(row, std::move(times.kernel));
    row.insert(row.end(), {trace.names[call], trace.names[kernel]});
    rows.emplace_back(-total, std::move(row));
  }
  std::ranges::sort(rows);
  std::vector<ProfileRow> sorted;
  for (auto& [total, row] : rows) sorted.push_back(std::move(row));
  return with_rows(std::move(table), std::move(sorted));
}

ProfileTable launch_trace(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  std::vector<Execution> all = executions(trace, scope);
  std::ranges::stable_sort(
      all, {}, [](const Execution& one) { return std::tuple(one.call->time.start, one.kernel->time.start); });
  ProfileTable table = empty_table(report);
  table.columns = {whole("API Start", "ns"),
                   whole("API Dur", "ns"),
                   whole("Queue Start", "ns"),
                   whole("Queue Dur", "ns"),
                   whole("Kernel Start", "ns"),
                   whole("Kernel Dur", "ns"),
                   whole("Total Dur", "ns"),
                   whole("PID"),
                   whole("TID"),
                   whole("DevId"),
                   words("API Function"),
                   whole("GridXYZ"),
                   whole("BlockXYZ"),
                   words("Kernel Name")};
  std::vector<ProfileRow> rows;
  for (const Execution& one : all) {
    ProfileRow row{one.call->time.start, one.call->time.length()};
    row.resize(row.size() + 2);
    if (one.queue() > 0) {
      row[2] = one.call->time.end;
      row[3] = one.queue();
    }
    row.insert(row.end(),
               {one.kernel->time.start, one.kernel->time.length(), one.total(),
                trace::nsys::native_process(one.call->thread), trace::nsys::native_thread(one.call->thread),
                std::int64_t{one.kernel->queue.device}, trace.names[one.call->name],
                size_text(one.kernel->grid), size_text(one.kernel->block), trace.names[one.kernel->name]});
    rows.push_back(std::move(row));
  }
  return with_rows(std::move(table), std::move(rows));
}

ProfileTable call_trace(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  std::map<std::int64_t, std::string> names;
  for (const trace::ThreadInfo& thread : trace.threads) names[thread.id] = thread.name;
  std::vector<const trace::Call*> calls;
  for (const trace::Call& call : scope.of(trace.calls)) calls.push_back(&call);
  std::ranges::stable_sort(calls, {}, [](const trace::Call* call) {
    return std::tuple(call->time.start, call->time.end, call->correlation);
  });
  ProfileTable table = empty_table(report);
  table.columns = {whole("Start", "ns"), whole("Duration", "ns"), words("Name"),
                   whole("Result"),      whole("CorrID"),         whole("Pid"),
                   whole("Tid"),         whole("T-Pri"),          words("Thread Name")};
  std::vector<ProfileRow> rows;
  for (const trace::Call* call : calls) {
    rows.push_back({call->time.start, call->time.length(), trace.names[call->name], result_cell(*call),
                    call->correlation, trace::nsys::native_process(call->thread),
                    trace::nsys::native_thread(call->thread), ProfileCell(), ProfileCell()});
    if (const auto name = names.find(call->thread); name != names.end()) rows.back().back() = name->second;
  }
  return with_rows(std::move(table), std::move(rows));
}

}  // namespace mprof::profile
