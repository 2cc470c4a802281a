// SPDX-License-Identifier: MIT
#include <string>
#include <utility>
#include <vector>

#include "model/trace/tallies.hpp"
#include "report/trace/table_parts.hpp"

namespace mprof::profile {
namespace {

using trace::Tally;
using trace::Trace;

ProfileCell kind_cell(const Tally& tally, const Trace&) {
  return std::string(kind_label(tally.kind));
}
ProfileCell time_cell(const Tally& tally, const Trace&) {
  return tally.timed == 0 ? ProfileCell() : ProfileCell(tally.time);
}
/// Samples of a level, such as a percentage, have a mean and no sum.
ProfileCell total_cell(const Tally& tally, const Trace&) {
  const bool is_level =
      tally.kind == trace::TallyKind::gpu_metrics || tally.unit.find('%') != std::string::npos;
  return tally.measured == 0 || is_level ? ProfileCell() : ProfileCell(tally.amount);
}
ProfileCell mean_cell(const Tally& tally, const Trace&) {
  return tally.measured == 0 ? ProfileCell()
                             : ProfileCell(tally.amount / static_cast<double>(tally.measured));
}
template <auto Figure>
ProfileCell if_measured(const Tally& tally, const Trace&) {
  return tally.measured == 0 ? ProfileCell() : ProfileCell(tally.*Figure);
}

}  // namespace

std::string_view kind_label(trace::TallyKind kind) {
  using enum trace::TallyKind;
  switch (kind) {
    case gpu_metrics:
      return "GPU metrics";
    case unified_memory:
      return "Unified memory";
    case graphs:
      return "CUDA graphs";
    case nccl:
      return "NCCL";
    case mpi:
      return "MPI";
    case ucx:
      return "UCX";
    case openmp:
      return "OpenMP";
    case openacc:
      return "OpenACC";
    case operating_system:
      return "OS runtime";
    case kernel_calls:
      return "OS kernel calls";
    case network:
      return "Network";
    case storage:
      return "Storage";
    case unread:
      return "Not read";
  }
  return "";
}

ProfileTable others_sum(const ProfileReport& report, const Trace& trace, const ProfileScope& scope) {
  return table_of<Tally>(
      report, trace,
      {
          {words("Kind"), kind_cell},
          {words("Op"), plain<&Tally::op>},
          {words("Name"), plain<&Tally::name>},
          {whole("GPU"), plain<&Tally::device>},
          {whole("Count"),
           [](const Tally& tally, const Trace&) { return cell_of(static_cast<std::int64_t>(tally.count)); }},
          {whole("Total Time", "ns"), time_cell},
          {rounded("Total", "", 1), total_cell},
          {rounded("Avg", "", 1), mean_cell},
          {rounded("Min", "", 1), if_measured<&Tally::smallest>},
          {rounded("Max", "", 1), if_measured<&Tally::largest>},
          {words("Unit"), plain<&Tally::unit>},
      },
      trace::tallies_of(trace, scope.only));
}

}  // namespace mprof::profile
