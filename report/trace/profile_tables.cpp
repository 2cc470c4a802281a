// SPDX-License-Identifier: MIT
#include "report/trace/profile_tables.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "model/kernel_name.hpp"
#include "model/trace/op_name.hpp"
#include "report/trace/profile_cells.hpp"
#include "report/trace/range_kernels.hpp"
#include "report/trace/table_parts.hpp"
#include "system/error.hpp"
#include "system/suggest.hpp"

namespace mprof {
namespace {

using namespace profile;
using trace::Trace;

constexpr double bytes_per_megabyte = 1e6;  // as in nsys: MB, not MiB

// --- Sums of time ---

/// Groups of rows in the scope by a small number, under what the numbers are called.
template <class Row, class Number, class Text, class Value>
std::map<std::string, std::vector<std::int64_t>> grouped(std::span<const Row> rows, const Number& number,
                                                         const Text& text, const Value& value) {
  std::vector<std::size_t> counts;
  for (const Row& row : rows) {
    const auto at = static_cast<std::size_t>(number(row));
    if (at >= counts.size()) counts.resize(at + 1);
    ++counts[at];
  }
  // Values are kept once, with no room to spare: there may be millions of them.
  std::map<std::string, std::size_t> sizes;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) sizes[text(i)] += counts[i];
  }
  std::map<std::string, std::vector<std::int64_t>> groups;
  for (const auto& [name, size] : sizes) groups[name].reserve(size);
  std::vector<std::vector<std::int64_t>*> into(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) into[i] = &groups[text(i)];
  }
  for (const Row& row : rows) into[static_cast<std::size_t>(number(row))]->push_back(value(row));
  return groups;
}

constexpr auto duration = [](const auto& row) { return row.time.length(); };

// NOLINTNEXTLINE(performance-unnecessary-value-param): spread_of() sorts what it is given
std::vector<Summed> summed(std::map<std::string, std::vector<std::int64_t>> groups) {
  std::vector<Summed> sums;
  for (auto& [text, values] : groups) sums.push_back({.time = spread_of(values), .name = text});
  return sums;
}

/// The times of rows that have a name.
template <class Row>
std::vector<Summed> times_by_name(const Trace& trace, std::span<const Row> rows) {
  return summed(grouped(
      rows, [](const Row& row) { return row.name; },
      [&](std::size_t name) { return trace.names[static_cast<trace::NameIndex>(name)]; }, duration));
}

/// The times of all kernels in the scope by their names.
std::vector<Summed> kernel_times(const Trace& trace, const ProfileScope& scope) {
  return summed(grouped(
      scope.of(trace.kernels.rows()),
      [&](const trace::KernelRow& row) { return trace.kernels.shared(row).name; },
      [&](std::size_t name) { return trace.names[static_cast<trace::NameIndex>(name)]; }, duration));
}

/// Times or sizes of transfers by what they are.
template <class Value>
std::vector<Summed> by_operation(const Trace& trace, const ProfileScope& scope, const Value& value) {
  return summed(grouped(
      scope.of(trace.transfers), [](const trace::Transfer& row) { return row.kind; },
      [&](std::size_t kind) { return trace.operation(static_cast<trace::TransferKind>(kind)); }, value));
}

ProfileTable call_sum(const ProfileReport& report, const Trace& trace, std::vector<Summed> sums) {
  return summary(report, trace, "Num Calls", {{words("Name"), plain<&Summed::name>}}, std::move(sums));
}

ProfileTable api_sum(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  return call_sum(report, trace, times_by_name(trace, scope.of(trace.calls)));
}

ProfileTable system_sum(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  return summary(report, trace, "Num Calls", {{words("Name"), plain<&Summed::name>}},
                 times_by_name(trace, scope.of(trace.system_calls)));
}

ProfileTable kernel_sum(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  return summary(report, trace, "Instances", {{words("Name"), plain<&Summed::name>}},
                 kernel_times(trace, scope));
}

ProfileTable memory_time_sum(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  return summary(report, trace, "Count", {{words("Operation"), plain<&Summed::name>}},
                 by_operation(trace, scope, duration));
}

constexpr const char* kernel_category = "CUDA_KERNEL";
constexpr const char* memory_category = "MEMORY_OPER";
constexpr const char* call_category = "CUDA_API";

/// Groups with what kind of thing they are before their names.
void add_category(std::vector<Summed>& all, const char* category, std::vector<Summed> groups) {
  for (Summed& group : groups) {
    group.category = category;
    all.push_back(std::move(group));
  }
}

std::vector<TableColumn<Summed>> category_and_operation() {
  return {{words("Category"), plain<&Summed::category>}, {words("Operation"), plain<&Summed::name>}};
}

ProfileTable gpu_sum(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  std::vector<Summed> groups;
  add_category(groups, kernel_category, kernel_times(trace, scope));
  add_category(groups, memory_category, by_operation(trace, scope, duration));
  return summary(report, trace, "Instances", category_and_operation(), std::move(groups));
}

ProfileTable api_gpu_sum(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  std::vector<Summed> groups;
  add_category(groups, call_category, times_by_name(trace, scope.of(trace.calls)));
  add_category(groups, kernel_category, kernel_times(trace, scope));
  add_category(groups, memory_category, by_operation(trace, scope, duration));
  return summary(report, trace, "Instances", category_and_operation(), std::move(groups));
}

/// A program may give each range a name of its own ("aten::mm, op_id = 300001").
std::vector<Summed> folded_times(const Trace& trace, const std::vector<trace::Range>& ranges,
                                 std::size_t most) {
  std::unordered_map<trace::NameIndex, std::vector<std::int64_t>> by_name;
  for (const trace::Range& range : ranges) by_name[range.name].push_back(range.time.length());
  std::map<std::string, std::vector<std::int64_t>> times;
  for (const auto& [name, durations] : by_name) {
    const std::string& text = trace.names[name];
    std::vector<std::int64_t>& all = times[by_name.size() > most ? trace::without_numbers(text) : text];
    all.insert(all.end(), durations.begin(), durations.end());
  }
  std::vector<Summed> groups;
  for (auto& [name, durations] : times) groups.push_back({.time = spread_of(durations), .name = name});
  if (groups.size() <= most) return groups;
  std::ranges::sort(groups, {}, [](const Summed& one) { return std::pair(-one.time.total, one.name); });
  std::vector<std::int64_t> rest;
  for (std::size_t i = most - 1; i < groups.size(); ++i) {
    const std::vector<std::int64_t>& durations = times.at(groups[i].name);
    rest.insert(rest.end(), durations.begin(), durations.end());
  }
  const std::size_t others = groups.size() - (most - 1);
  groups.resize(most - 1);
  groups.push_back({.time = spread_of(rest), .name = fmt::format("{} other names", others)});
  return groups;
}

ProfileTable push_pop_sum(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  std::vector<trace::Range> ranges;
  std::ranges::copy_if(scope.of(trace.ranges), std::back_inserter(ranges),
                       [](const auto& range) { return range.style == trace::RangeStyle::push_pop; });
  return summary(report, trace, "Instances", {{words("Range"), plain<&Summed::name>}},
                 scope.most_range_names == 0 ? times_by_name(trace, std::span<const trace::Range>(ranges))
                                             : folded_times(trace, ranges, scope.most_range_names));
}

// --- Kernels by configuration ---

using Size = std::optional<trace::Size>;

ProfileTable kernel_size_sum(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  std::map<std::tuple<trace::NameIndex, Size, Size>, std::vector<std::int64_t>> times;
  // What rows share is looked up once.
  std::unordered_map<std::uint32_t, std::vector<std::int64_t>*> of_shared;
  for (const trace::KernelRow& row : scope.of(trace.kernels.rows())) {
    std::vector<std::int64_t>*& into = of_shared[row.shared];
    if (into == nullptr) {
      const trace::Kernel& kernel = trace.kernels.shared(row);
      into = &times[{kernel.name, kernel.grid, kernel.block}];
    }
    into->push_back(row.time.length());
  }
  std::vector<Summed> groups;
  for (auto& [key, durations] : times) {
    const auto& [name, grid, block] = key;
    groups.push_back({.time = spread_of(durations),
                      .name = trace.names[name],
                      .grid = size_text(grid),
                      .block = size_text(block)});
  }
  return summary(report, trace, "Instances",
                 {{whole("GridXYZ"), plain<&Summed::grid>},
                  {whole("BlockXYZ"), plain<&Summed::block>},
                  {words("Name"), plain<&Summed::name>}},
                 std::move(groups));
}

// --- Sizes ---

double megabytes(double bytes) {
  return bytes / bytes_per_megabyte;
}
double megabytes(std::int64_t bytes) {
  return megabytes(static_cast<double>(bytes));
}

/// A figure of the sizes of transfers.
template <auto Figure>
ProfileCell size_figure(const Summed& row, const Trace&) {
  return megabytes(row.time.*Figure);
}

ProfileTable memory_size_sum(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  std::vector<Summed> groups = by_operation(
      trace, scope, [](const trace::Transfer& row) { return static_cast<std::int64_t>(row.bytes); });
  sort_by_total(groups);
  return table_of<Summed>(report, trace,
                          {
                              {rounded("Total", "MB", 3), size_figure<&Spread::total>},
                              {whole("Count"), plain<&Summed::time, &Spread::count>},
                              {rounded("Avg", "MB", 3), size_figure<&Spread::average>},
                              {rounded("Med", "MB", 3), size_figure<&Spread::median>},
                              {rounded("Min", "MB", 3), size_figure<&Spread::smallest>},
                              {rounded("Max", "MB", 3), size_figure<&Spread::largest>},
                              {rounded("StdDev", "MB", 3), size_figure<&Spread::deviation>},
                              {words("Operation"), plain<&Summed::name>},
                          },
                          std::move(groups));
}

// --- Kernels of ranges ---

/// The kernels of one name in ranges of one name, with the spread of their times.
struct RangeKernelTimes {
  RangeKernels of;
  Spread time{};
};

ProfileTable range_kernel_sum(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  using Row = RangeKernelTimes;
  std::vector<Row> rows;
  for (RangeKernels& group : kernels_of_ranges(trace, scope)) {
    const Spread time = spread_of(group.times);
    rows.push_back({std::move(group), time});
  }
  // As nsys does: by range, process and thread; only then the longest first.
  std::ranges::sort(rows, {}, [&](const Row& row) {
    return std::tuple(std::string_view(trace.names[row.of.range]), row.of.process, row.of.thread,
                      -row.time.total, std::string_view(trace.names[row.of.kernel]));
  });
  std::vector<TableColumn<Row>> columns{
      {words("NVTX Range"), named<&Row::of, &RangeKernels::range>},
      {words("Style"), style<&Row::of, &RangeKernels::style>},
      {whole("PID"), plain<&Row::of, &RangeKernels::process>},
      {whole("TID"), plain<&Row::of, &RangeKernels::thread>},
      {whole("NVTX Inst"), plain<&Row::of, &RangeKernels::instances>},
      {whole("Kern Inst"), plain<&Row::time, &Spread::count>},
      {whole("Total Time", "ns"), plain<&Row::time, &Spread::total>},
  };
  add_spread<&Row::time>(columns);
  columns.push_back({words("Kernel Name"), named<&Row::of, &RangeKernels::kernel>});
  return table_of(report, trace, std::move(columns), std::move(rows));
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
  work.reserve(scope.of(trace.kernels).size() + scope.of(trace.transfers).size());
  const auto add = [&](const auto& rows, bool is_kernel) {
    std::uint32_t index = scope.first_of(rows);
    for (const auto& row : scope.of(rows)) work.push_back({row.time.start, index++, is_kernel});
  };
  add(trace.kernels.rows(), true);
  add(trace.transfers, false);
  if (!std::ranges::is_sorted(work, {}, &Work::start)) std::ranges::stable_sort(work, {}, &Work::start);
  return work;
}

/// What kernels and transfers both have.
template <class Make>
ProfileCell of_either(const Work& work, const Trace& trace, const Make& make) {
  return work.is_kernel ? make(trace.kernels[work.index]) : make(trace.transfers[work.index]);
}
/// What a transfer has none of.
template <class Make>
ProfileCell of_kernel(const Work& work, const Trace& trace, const Make& make) {
  return work.is_kernel ? make(trace.kernels[work.index]) : ProfileCell();
}
/// What a kernel has none of.
template <class Make>
ProfileCell of_transfer(const Work& work, const Trace& trace, const Make& make) {
  return work.is_kernel ? ProfileCell() : make(trace.transfers[work.index]);
}

/// An axis of a kernel's grid or block.
template <auto Member, std::size_t axis>
ProfileCell along(const Work& work, const Trace& trace) {
  return of_kernel(work, trace, [](const trace::Kernel& kernel) {
    const Size& size = kernel.*Member;
    return size ? ProfileCell(std::int64_t{(*size)[axis]}) : ProfileCell();
  });
}
template <auto Member>
ProfileCell shared_memory(const Work& work, const Trace& trace) {
  return of_kernel(work, trace, [](const trace::Kernel& kernel) {
    const auto& bytes = kernel.*Member;
    return bytes ? ProfileCell(megabytes(static_cast<double>(*bytes))) : ProfileCell();
  });
}
/// Where a transfer came from, or went to.
template <auto Member>
ProfileCell memory(const Work& work, const Trace& trace) {
  return of_transfer(work, trace, [&](const trace::Transfer& transfer) {
    const std::string text = trace.memory(transfer.*Member);
    return text.empty() ? ProfileCell() : ProfileCell(text);
  });
}
ProfileCell registers(const Work& work, const Trace& trace) {
  return of_kernel(work, trace,
                   [](const trace::Kernel& kernel) { return cell_of(kernel.registers_per_thread); });
}
ProfileCell bytes(const Work& work, const Trace& trace) {
  return of_transfer(work, trace, [](const trace::Transfer& transfer) {
    return cell_of(megabytes(static_cast<double>(transfer.bytes)));
  });
}
ProfileCell throughput(const Work& work, const Trace& trace) {
  return of_transfer(work, trace, [](const trace::Transfer& transfer) {
    const double seconds = static_cast<double>(transfer.time.length()) * 1e-9;
    return seconds > 0 ? ProfileCell(megabytes(static_cast<double>(transfer.bytes)) / seconds)
                       : ProfileCell();
  });
}
ProfileCell work_name(const Work& work, const Trace& trace) {
  return work.is_kernel ? trace.names[trace.kernels[work.index].name]
                        : trace.operation(trace.transfers[work.index].kind);
}

ProfileTable gpu_trace(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  using trace::Kernel, trace::Transfer;
  const auto either = []<class Make>(Make) {
    return [](const Work& work, const Trace& of) {
      return of_either(work, of, [&](const auto& row) { return Make{}(row, of); });
    };
  };
  return table_of<Work>(
      report, trace,
      {
          {whole("Start", "ns"), either([](auto& row, auto&) { return cell_of(row.time.start); })},
          {whole("Duration", "ns"), either([](auto& row, auto&) { return cell_of(row.time.length()); })},
          {whole("CorrId"), either([](auto& row, auto&) { return cell_of(row.correlation); })},
          {whole("GrdX"), along<&Kernel::grid, 0>},
          {whole("GrdY"), along<&Kernel::grid, 1>},
          {whole("GrdZ"), along<&Kernel::grid, 2>},
          {whole("BlkX"), along<&Kernel::block, 0>},
          {whole("BlkY"), along<&Kernel::block, 1>},
          {whole("BlkZ"), along<&Kernel::block, 2>},
          {whole("Reg/Trd"), registers},
          {rounded("StcSMem", "MB", 3), shared_memory<&Kernel::static_shared_memory>},
          {rounded("DymSMem", "MB", 3), shared_memory<&Kernel::dynamic_shared_memory>},
          {rounded("Bytes", "MB", 3), bytes},
          {rounded("Throughput", "MB/s", 3), throughput},
          {words("SrcMemKd"), memory<&Transfer::source>},
          {words("DstMemKd"), memory<&Transfer::destination>},
          {words("Device"), either([](auto& row, auto& of) { return cell_of(of.device(row.queue.device)); })},
          {whole("Ctx"), either([](auto& row, auto&) { return cell_of(row.queue.context); })},
          {whole("GreenCtx"), either([](auto& row, auto&) {
             return row.queue.green_context == 0 ? ProfileCell() : cell_of(row.queue.green_context);
           })},
          {whole("Strm"), either([](auto& row, auto&) { return cell_of(row.queue.stream); })},
          {words("Name"), work_name},
      },
      work_in_order(trace, scope));
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
                  {.kernels = true, .kernel_details = true, .transfers = true},
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
    ProfileReport{"cuda_graph_capture_sum",
                  "graphcapturesum",
                  {.kernels = true, .transfers = true, .calls = true, .ranges = true, .graph_nodes = true},
                  graph_capture_sum,
                  "CUDA Graph Kernels by Range of Capture",
                  "no kernel of a CUDA graph was traced"},
    ProfileReport{"others_sum",
                  "others_sum",
                  {.kernels = true, .transfers = true, .system_calls = true, .ranges = true, .tallies = true},
                  others_sum,
                  "Other Events and Metrics by Op",
                  "nothing else was traced"},
};

}  // namespace

// NOLINTNEXTLINE(performance-unnecessary-value-param): its values are moved from
ProfileTable api_table(const trace::Trace& trace, TimesByName times) {
  std::map<std::string, std::vector<std::int64_t>> groups;
  for (auto& [name, durations] : times) groups[trace.names[name]] = std::move(durations);
  return call_sum(profile_report("cuda_api_sum"), trace, summed(std::move(groups)));
}

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

namespace {

/// A table that keeps its rows.
ProfileTable with_rows(ProfileTable table, std::vector<ProfileRow> rows) {
  const auto kept = std::make_shared<const std::vector<ProfileRow>>(std::move(rows));
  table.rows = kept->size();
  table.row = [kept](std::size_t index) { return (*kept)[index]; };
  return table;
}

}  // namespace

ProfileTable leading_rows(const ProfileTable& table, double share) {
  const std::size_t time_column = column_of(table, "Total Time");
  const auto time = [&](const ProfileRow& row) {
    return static_cast<double>(std::get<std::int64_t>(row[time_column]));
  };
  const auto before_time = [&](auto& list) {
    return list.begin() + static_cast<std::ptrdiff_t>(time_column);
  };
  double total = 0, sum = 0;
  for (std::size_t i = 0; i < table.rows; ++i) total += time(table.row(i));
  std::vector<ProfileRow> rows;
  for (std::size_t i = 0; i < table.rows && sum <= share * total; ++i) {
    ProfileRow row = table.row(i);
    sum += time(row);
    row.insert(before_time(row), total > 0 ? 100 * sum / total : 0.0);
    rows.push_back(std::move(row));
  }
  ProfileTable leading = table;
  leading.columns.insert(before_time(leading.columns), rounded("Cumulative", "%", 1));
  return with_rows(std::move(leading), std::move(rows));
}

ProfileTable with_brief_kernel_names(ProfileTable table) {
  const std::size_t name_column = column_of(table, "Name");
  std::vector<ProfileRow> rows;
  std::map<std::string, std::string> brief;
  for (std::size_t i = 0; i < table.rows; ++i) {
    rows.push_back(table.row(i));
    brief.emplace(std::get<std::string>(rows.back()[name_column]), "");
  }
  std::vector<KernelName> all;
  for (const auto& [whole_name, unused] : brief) all.push_back(kernel_name_of_demangled(whole_name));
  const std::vector<std::string> names = distinct_names(all);
  std::size_t next = 0;
  for (auto& [whole_name, name] : brief) name = names[next++];
  for (ProfileRow& row : rows) row[name_column] = brief.at(std::get<std::string>(row[name_column]));
  return with_rows(std::move(table), std::move(rows));
}

}  // namespace mprof
