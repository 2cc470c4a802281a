#include "report/trace/profile_tables.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "model/kernel_name.hpp"
#include "report/trace/range_kernels.hpp"
#include "report/trace/table_parts.hpp"
#include "system/error.hpp"
#include "system/suggest.hpp"

namespace mprof {
namespace {

using namespace profile;
using trace::Trace;

constexpr double bytes_per_megabyte = 1e6;  // as in nsys: MB, not MiB
constexpr std::size_t total_time_column = 1;

// --- Sums of time ---

/// Groups of rows in the scope by a small number, under what the numbers are called.
template <class Row, class Number, class Text, class Value>
std::map<std::string, std::vector<std::int64_t>> grouped(std::span<const Row> rows, const Number& number,
                                                         const Text& text, const Value& value) {
  std::vector<std::vector<std::int64_t>> values;
  for (const Row& row : rows) {
    const auto at = static_cast<std::size_t>(number(row));
    if (at >= values.size()) values.resize(at + 1);
    values[at].push_back(value(row));
  }
  std::map<std::string, std::vector<std::int64_t>> groups;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].empty()) continue;
    std::vector<std::int64_t>& group = groups[text(i)];
    group.insert(group.end(), values[i].begin(), values[i].end());
  }
  return groups;
}

constexpr auto duration = [](const auto& row) { return row.time.length(); };

// NOLINTNEXTLINE(performance-unnecessary-value-param): spread_of() sorts what it is given
std::vector<Summed> summed(std::map<std::string, std::vector<std::int64_t>> groups) {
  std::vector<Summed> sums;
  for (auto& [text, values] : groups) sums.push_back({spread_of(values), {text}});
  return sums;
}

/// The times of rows that have a name.
template <class Row>
std::vector<Summed> times_by_name(const Trace& trace, std::span<const Row> rows) {
  return summed(grouped(
      rows, [](const Row& row) { return row.name; },
      [&](std::size_t name) { return trace.names[static_cast<trace::NameIndex>(name)]; }, duration));
}

/// Times or sizes of transfers by what they are.
template <class Value>
std::vector<Summed> by_operation(const Trace& trace, const ProfileScope& scope, const Value& value) {
  return summed(grouped(
      scope.of(trace.transfers), [](const trace::Transfer& row) { return row.kind; },
      [&](std::size_t kind) { return trace.operation(static_cast<trace::TransferKind>(kind)); }, value));
}

ProfileTable api_sum(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  return summary(report, "Num Calls", {words("Name")}, times_by_name(trace, scope.of(trace.calls)));
}

ProfileTable system_sum(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  return summary(report, "Num Calls", {words("Name")}, times_by_name(trace, scope.of(trace.system_calls)));
}

ProfileTable kernel_sum(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  return summary(report, "Instances", {words("Name")}, times_by_name(trace, scope.of(trace.kernels)));
}

ProfileTable memory_time_sum(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  return summary(report, "Count", {words("Operation")}, by_operation(trace, scope, duration));
}

constexpr const char* kernel_category = "CUDA_KERNEL";
constexpr const char* memory_category = "MEMORY_OPER";
constexpr const char* call_category = "CUDA_API";

/// Groups with what kind of thing they are before their names.
void add_category(std::vector<Summed>& all, const char* category, std::vector<Summed> groups) {
  for (Summed& group : groups) {
    group.labels.insert(group.labels.begin(), category);
    all.push_back(std::move(group));
  }
}

ProfileTable gpu_sum(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  std::vector<Summed> groups;
  add_category(groups, kernel_category, times_by_name(trace, scope.of(trace.kernels)));
  add_category(groups, memory_category, by_operation(trace, scope, duration));
  return summary(report, "Instances", {words("Category"), words("Operation")}, std::move(groups));
}

ProfileTable api_gpu_sum(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  std::vector<Summed> groups;
  add_category(groups, call_category, times_by_name(trace, scope.of(trace.calls)));
  add_category(groups, kernel_category, times_by_name(trace, scope.of(trace.kernels)));
  add_category(groups, memory_category, by_operation(trace, scope, duration));
  return summary(report, "Instances", {words("Category"), words("Operation")}, std::move(groups));
}

ProfileTable push_pop_sum(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  std::vector<trace::Range> ranges;
  std::ranges::copy_if(scope.of(trace.ranges), std::back_inserter(ranges),
                       [](const auto& range) { return range.style == trace::RangeStyle::push_pop; });
  return summary(report, "Instances", {words("Range")},
                 times_by_name(trace, std::span<const trace::Range>(ranges)));
}

// --- Kernels by configuration ---

using Size = std::optional<trace::Size>;

ProfileTable kernel_size_sum(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  std::map<std::tuple<trace::NameIndex, Size, Size>, std::vector<std::int64_t>> times;
  for (const trace::Kernel& kernel : scope.of(trace.kernels))
    times[{kernel.name, kernel.grid, kernel.block}].push_back(kernel.time.length());
  std::vector<Summed> groups;
  for (auto& [key, durations] : times) {
    const auto& [name, grid, block] = key;
    groups.push_back({spread_of(durations), {size_text(grid), size_text(block), trace.names[name]}});
  }
  return summary(report, "Instances", {whole("GridXYZ"), whole("BlockXYZ"), words("Name")},
                 std::move(groups));
}

// --- Sizes ---

double megabytes(double bytes) {
  return bytes / bytes_per_megabyte;
}
double megabytes(std::int64_t bytes) {
  return megabytes(static_cast<double>(bytes));
}

ProfileTable memory_size_sum(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  std::vector<Summed> groups = by_operation(
      trace, scope, [](const trace::Transfer& row) { return static_cast<std::int64_t>(row.bytes); });
  sort_by_total(groups);
  ProfileTable table = empty_table(report);
  table.columns = {rounded("Total", "MB", 3),  whole("Count"),          rounded("Avg", "MB", 3),
                   rounded("Med", "MB", 3),    rounded("Min", "MB", 3), rounded("Max", "MB", 3),
                   rounded("StdDev", "MB", 3), words("Operation")};
  std::vector<ProfileRow> rows;
  for (const auto& [size, labels] : groups) {
    rows.push_back({megabytes(size.total), size.count, megabytes(size.average), megabytes(size.median),
                    megabytes(size.smallest), megabytes(size.largest), megabytes(size.deviation), labels[0]});
  }
  return with_rows(std::move(table), std::move(rows));
}

// --- Kernels of ranges ---

template <class Integer>
ProfileCell if_known(const std::optional<Integer>& value) {
  return value ? ProfileCell(static_cast<std::int64_t>(*value)) : ProfileCell();
}
ProfileCell style_cell(const std::optional<trace::RangeStyle>& style) {
  if (!style) return {};
  return style_text(*style);
}

ProfileTable range_kernel_sum(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  std::vector<RangeKernels> groups = kernels_of_ranges(trace, scope);
  ProfileTable table = empty_table(report);
  table.columns = {words("NVTX Range"),
                   words("Style"),
                   whole("PID"),
                   whole("TID"),
                   whole("NVTX Inst"),
                   whole("Kern Inst"),
                   whole("Total Time", "ns"),
                   rounded("Avg", "ns", 1),
                   rounded("Med", "ns", 1),
                   whole("Min", "ns"),
                   whole("Max", "ns"),
                   rounded("StdDev", "ns", 1),
                   words("Kernel Name")};
  std::vector<ProfileRow> rows;
  for (RangeKernels& group : groups) {
    const Spread time = spread_of(group.times);
    rows.push_back({trace.names[group.range], style_cell(group.style), if_known(group.process),
                    if_known(group.thread), group.instances, time.count, time.total, time.average,
                    time.median, time.smallest, time.largest, time.deviation, trace.names[group.kernel]});
  }
  // As nsys does: by range, process and thread; only then the longest first.
  std::ranges::sort(rows, [](const ProfileRow& a, const ProfileRow& b) {
    return std::tie(a[0], a[2], a[3], b[6], a.back()) < std::tie(b[0], b[2], b[3], a[6], b.back());
  });
  return with_rows(std::move(table), std::move(rows));
}

// --- Trace ---

/// One row of cuda_gpu_trace: a kernel, or a transfer.
struct Work {
  std::int64_t start = 0;
  std::uint32_t index = 0;
  bool is_kernel = false;
};

std::vector<Work> work_in_order(const Trace& trace, const ProfileScope& scope) {
  std::vector<Work> work;
  const auto add = [&](const auto& rows, bool is_kernel) {
    std::uint32_t index = scope.first_of(rows);
    for (const auto& row : scope.of(rows)) work.push_back({row.time.start, index++, is_kernel});
  };
  add(trace.kernels, true);
  add(trace.transfers, false);
  std::ranges::stable_sort(work, {}, &Work::start);
  return work;
}

ProfileCell megabytes_if_known(const std::optional<std::uint32_t>& bytes) {
  return bytes ? ProfileCell(megabytes(static_cast<double>(*bytes))) : ProfileCell();
}
ProfileCell text_cell(const std::string& text) {
  return text.empty() ? ProfileCell() : ProfileCell(text);
}

void add_queue(ProfileRow& row, const Trace& trace, const trace::Queue& queue, const std::string& name) {
  row.insert(row.end(),
             {trace.device(queue.device), std::int64_t{queue.context}, std::int64_t{queue.stream}, name});
}

ProfileRow kernel_row(const Trace& trace, const trace::Kernel& kernel) {
  ProfileRow row{kernel.time.start, kernel.time.length(), kernel.correlation};
  for (const Size& size : {kernel.grid, kernel.block}) {
    for (std::size_t i = 0; i < 3; ++i) {
      row.emplace_back();
      if (size) row.back() = std::int64_t{(*size)[i]};
    }
  }
  row.push_back(if_known(kernel.registers_per_thread));
  row.push_back(megabytes_if_known(kernel.static_shared_memory));
  row.push_back(megabytes_if_known(kernel.dynamic_shared_memory));
  row.resize(row.size() + 4);  // size, throughput, memory: a kernel has none
  add_queue(row, trace, kernel.queue, trace.names[kernel.name]);
  return row;
}

ProfileRow transfer_row(const Trace& trace, const trace::Transfer& transfer) {
  ProfileRow row{transfer.time.start, transfer.time.length(), transfer.correlation};
  row.resize(row.size() + 9);  // grid, block, registers, shared memory: a copy has none
  const double size = megabytes(static_cast<double>(transfer.bytes));
  const double seconds = static_cast<double>(transfer.time.length()) * 1e-9;
  row.push_back(size);
  row.push_back(seconds > 0 ? ProfileCell(size / seconds) : ProfileCell());
  row.push_back(text_cell(trace.memory(transfer.source)));
  row.push_back(text_cell(trace.memory(transfer.destination)));
  add_queue(row, trace, transfer.queue, trace.operation(transfer.kind));
  return row;
}

ProfileTable gpu_trace(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  ProfileTable table = empty_table(report);
  table.columns = {whole("Start", "ns"),
                   whole("Duration", "ns"),
                   whole("CorrId"),
                   whole("GrdX"),
                   whole("GrdY"),
                   whole("GrdZ"),
                   whole("BlkX"),
                   whole("BlkY"),
                   whole("BlkZ"),
                   whole("Reg/Trd"),
                   rounded("StcSMem", "MB", 3),
                   rounded("DymSMem", "MB", 3),
                   rounded("Bytes", "MB", 3),
                   rounded("Throughput", "MB/s", 3),
                   words("SrcMemKd"),
                   words("DstMemKd"),
                   words("Device"),
                   whole("Ctx"),
                   whole("Strm"),
                   words("Name")};
  const auto work = std::make_shared<const std::vector<Work>>(work_in_order(trace, scope));
  table.rows = work->size();
  table.row = [work, &trace](std::size_t index) {
    const Work& one = (*work)[index];
    return one.is_kernel ? kernel_row(trace, trace.kernels[one.index])
                         : transfer_row(trace, trace.transfers[one.index]);
  };
  return table;
}

constexpr trace::Parts kernel_parts{.kernels = true};
constexpr trace::Parts transfer_parts{.transfers = true};
constexpr trace::Parts call_parts{.calls = true};
constexpr trace::Parts range_parts{.ranges = true};
constexpr trace::Parts work_parts{.kernels = true, .transfers = true, .calls = true, .ranges = true};

constexpr std::array reports{
    ProfileReport{"cuda_api_sum", "cudaapisum", call_parts, api_sum, "CUDA API Summary",
                  "no CUDA call was traced"},
    ProfileReport{"cuda_gpu_kern_sum", "gpukernsum", kernel_parts, kernel_sum, "CUDA GPU Kernel Summary",
                  "no kernel was traced"},
    ProfileReport{"cuda_gpu_kern_gb_sum", "gpukerngbsum", kernel_parts, kernel_size_sum,
                  "CUDA GPU Kernel/Grid/Block Summary", "no kernel was traced"},
    ProfileReport{"cuda_gpu_mem_time_sum", "gpumemtimesum", transfer_parts, memory_time_sum,
                  "CUDA GPU MemOps Summary (by Time)", "no copy and no memset was traced"},
    ProfileReport{"cuda_gpu_mem_size_sum", "gpumemsizesum", transfer_parts, memory_size_sum,
                  "CUDA GPU MemOps Summary (by Size)", "no copy and no memset was traced"},
    ProfileReport{"nvtx_pushpop_sum", "nvtxppsum", range_parts, push_pop_sum, "NVTX Push/Pop Range Summary",
                  "no NVTX range was traced"},
    ProfileReport{"nvtx_kern_sum",
                  "nvtxkernsum",
                  {.kernels = true, .calls = true, .ranges = true},
                  range_kernel_sum,
                  "NVTX Range Kernel Summary",
                  "no kernel was traced"},
    ProfileReport{"osrt_sum",
                  "osrtsum",
                  {.system_calls = true},
                  system_sum,
                  "OS Runtime Summary",
                  "no call of the operating system was traced"},
    ProfileReport{"cuda_gpu_trace",
                  "gputrace",
                  {.kernels = true, .transfers = true},
                  gpu_trace,
                  "CUDA GPU Trace",
                  "no work of a GPU was traced"},
    ProfileReport{"cuda_gpu_sum",
                  "gpusum",
                  {.kernels = true, .transfers = true},
                  gpu_sum,
                  "CUDA GPU Summary (Kernels/MemOps)",
                  "no work of a GPU was traced"},
    ProfileReport{"cuda_api_gpu_sum",
                  "apigpusum",
                  {.kernels = true, .transfers = true, .calls = true},
                  api_gpu_sum,
                  "CUDA Summary (API/Kernels/MemOps)",
                  "no CUDA call and no work of a GPU was traced"},
    ProfileReport{"cuda_kern_exec_sum",
                  "kernexecsum",
                  {.kernels = true, .calls = true},
                  launch_sum,
                  "CUDA Kernel Launch & Exec Time Summary",
                  "no kernel was traced with the call that launched it"},
    ProfileReport{"cuda_kern_exec_trace",
                  "kernexectrace",
                  {.kernels = true, .calls = true},
                  launch_trace,
                  "CUDA Kernel Launch & Exec Time Trace",
                  "no kernel was traced with the call that launched it"},
    ProfileReport{"cuda_api_trace", "cudaapitrace", call_parts, call_trace, "CUDA API Trace",
                  "no CUDA call was traced"},
    ProfileReport{"nvtx_sum", "nvtxsum", range_parts, range_sum, "NVTX Range Summary",
                  "no NVTX range was traced"},
    ProfileReport{"nvtx_pushpop_trace", "nvtxpptrace", range_parts, push_pop_trace,
                  "NVTX Push/Pop Range Trace", "no NVTX range was traced"},
    ProfileReport{"nvtx_gpu_proj_sum", "nvtxgpuproj_sum", work_parts, projection_sum,
                  "NVTX GPU Projection Summary", "no work of a GPU was launched in an NVTX range"},
    ProfileReport{"nvtx_gpu_proj_trace", "nvtxgpuproj", work_parts, projection_trace,
                  "NVTX GPU Projection Trace", "no work of a GPU was launched in an NVTX range"},
};

}  // namespace

std::span<const ProfileReport> profile_reports() {
  return reports;
}

const ProfileReport& profile_report(std::string_view name) {
  const auto found = std::ranges::find_if(
      reports, [&](const ProfileReport& report) { return report.name == name || report.older_name == name; });
  if (found != reports.end()) return *found;
  std::vector<std::string> known, names;
  for (const ProfileReport& report : reports) {
    known.insert(known.end(), {std::string(report.name), std::string(report.older_name)});
    names.emplace_back(report.name);
  }
  throw Error(ExitCode::usage, fmt::format("there is no report '{}'.{} The reports are {}.", name,
                                           did_you_mean(name, known), fmt::join(names, ", ")));
}

Spread spread_of(std::vector<std::int64_t>& values) {
  Spread spread;
  const std::size_t n = values.size();
  spread.count = static_cast<std::int64_t>(n);
  spread.total = std::accumulate(values.begin(), values.end(), std::int64_t{0});
  spread.average = static_cast<double>(spread.total) / static_cast<double>(n);
  const auto [smallest, largest] = std::ranges::minmax(values);
  spread.smallest = smallest;
  spread.largest = largest;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(n / 2);
  std::ranges::nth_element(values, middle);
  spread.median = static_cast<double>(*middle);
  if (n % 2 == 0) {
    const std::int64_t below = *std::max_element(values.begin(), middle);
    spread.median = (static_cast<double>(below) + spread.median) / 2;
  }
  double squares = 0;
  for (const std::int64_t value : values) {
    const double off = static_cast<double>(value) - spread.average;
    squares += off * off;
  }
  if (n > 1) spread.deviation = std::sqrt(squares / static_cast<double>(n - 1));
  return spread;
}

ProfileTable leading_rows(const ProfileTable& table, double share) {
  const auto time = [](const ProfileRow& row) { return std::get<std::int64_t>(row[total_time_column]); };
  double total = 0, sum = 0;
  for (std::size_t i = 0; i < table.rows; ++i) total += static_cast<double>(time(table.row(i)));
  std::vector<ProfileRow> rows;
  for (std::size_t i = 0; i < table.rows && sum <= share * total; ++i) {
    rows.push_back(table.row(i));
    sum += static_cast<double>(time(rows.back()));
    rows.back().insert(rows.back().begin() + 1, total > 0 ? 100 * sum / total : 0.0);
  }
  ProfileTable leading = table;
  leading.columns.insert(leading.columns.begin() + 1, rounded("Cumulative", "%", 1));
  return with_rows(std::move(leading), std::move(rows));
}

ProfileTable with_brief_kernel_names(ProfileTable table) {
  std::vector<ProfileRow> rows;
  std::map<std::string, std::string> brief;
  for (std::size_t i = 0; i < table.rows; ++i) {
    rows.push_back(table.row(i));
    brief.emplace(std::get<std::string>(rows.back().back()), "");
  }
  std::vector<KernelName> all;
  for (const auto& [whole_name, unused] : brief) all.push_back(kernel_name_of_demangled(whole_name));
  const std::vector<std::string> names = distinct_names(all);
  std::size_t next = 0;
  for (auto& [whole_name, name] : brief) name = names[next++];
  for (ProfileRow& row : rows) row.back() = brief.at(std::get<std::string>(row.back()));
  return with_rows(std::move(table), std::move(rows));
}

}  // namespace mprof
