// SPDX-License-Identifier: MIT
#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "report/trace/graph_captures.hpp"
#include "report/trace/table_parts.hpp"

/// Kernels of CUDA graphs by the ranges in which they were captured and launched.
namespace mprof::profile {
namespace {

struct CapturedKernel {
  std::optional<std::string> captured{};  ///< nullopt: the trace does not say
  std::string launched{};
  trace::NameIndex kernel = 0;
  Spread time{};
};

/// The cases that the scope has kernels of graphs of.
std::set<trace::CaseIndex> cases_with_graphs(const trace::Trace& trace, const ProfileScope& scope) {
  std::set<trace::CaseIndex> cases;
  for (const trace::KernelRow& row : scope.of(trace.kernels.rows())) {
    if (trace.kernels.graph_node(row) != 0) cases.insert(row.in_case);
  }
  return cases;
}

}  // namespace

ProfileTable graph_capture_sum(const ProfileReport& report, const trace::Trace& trace,
                               const ProfileScope& scope) {
  using Row = CapturedKernel;
  std::vector<Row> rows;
  for (const trace::CaseIndex index : cases_with_graphs(trace, scope)) {
    GraphCaptures captures = graph_captures(trace, index);
    for (CapturedWork& work : captures.work) {
      for (auto& [kernel, times] : work.kernels) {
        Row row{.launched = path_text(work.launched), .kernel = kernel, .time = spread_of(times)};
        if (work.captured) row.captured = path_text(captures.paths[*work.captured]);
        rows.push_back(std::move(row));
      }
    }
  }
  std::ranges::sort(rows, {}, [&](const Row& row) {
    return std::tuple(-row.time.total, row.captured, row.launched, std::string_view(trace.names[row.kernel]));
  });
  std::vector<TableColumn<Row>> columns{
      {words("Captured In"), plain<&Row::captured>},
      {words("Launched In"), plain<&Row::launched>},
      {whole("Instances"), plain<&Row::time, &Spread::count>},
      {whole("Total Time", "ns"), plain<&Row::time, &Spread::total>},
  };
  add_spread<&Row::time>(columns);
  columns.push_back({words("Kernel Name"), named<&Row::kernel>});
  return table_of(report, trace, std::move(columns), std::move(rows));
}

}  // namespace mprof::profile
