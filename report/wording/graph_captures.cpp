// SPDX-License-Identifier: MIT
#include "report/wording/graph_captures.hpp"

#include <fmt/format.h>

#include "report/text/format.hpp"

namespace mprof {
namespace {

constexpr std::size_t longest_path = 72;

std::string path_or_none(const RangePath& path) {
  return path.empty() ? "in no range" : format::elide(format::one_line(path_text(path)), longest_path);
}

std::string counted(std::uint64_t count, const char* one, const char* many) {
  return count == 1 ? fmt::format("One {}", one) : fmt::format("{} {}", format::count(count), many);
}

/// The largest sum, in one sentence.
std::string largest_sentence(const GraphCaptures& captures, const CapturedWork& work) {
  const RangePath& path = captures.paths[*work.captured];
  return fmt::format("{} captured {} for CUDA graphs. {} ran {} {}: {} in all.",
                     path.empty() ? "Code in no range" : path_or_none(path),
                     work.nodes == 1 ? "one node" : format::count(work.nodes) + " nodes",
                     work.nodes == 1 ? "It" : "They",
                     work.works == 1 ? "once" : format::count(work.works) + " times",
                     work.launched.empty() ? "in no range" : "in " + path_or_none(work.launched),
                     format::nanoseconds(work.time));
}

}  // namespace

std::string captures_caption() {
  return "Where the work of CUDA graphs was captured, and where the graphs were launched. Nodes: kernels, "
         "copies and memsets that ran at least once. GPU: each time that they ran, one after the other.";
}

std::string captured_in(const GraphCaptures& captures, const CapturedWork& work) {
  return work.captured ? path_or_none(captures.paths[*work.captured]) : "not known";
}

std::string launched_in(const CapturedWork& work) {
  return path_or_none(work.launched);
}

std::vector<std::string> captures_remarks(const GraphCaptures& captures) {
  constexpr std::size_t most = 3;
  std::vector<std::string> remarks;
  if (!captures.work.empty() && captures.work.front().captured)
    remarks.push_back(largest_sentence(captures, captures.work.front()));
  std::uint64_t unknown = 0;
  for (const CapturedWork& work : captures.work) unknown += work.captured ? 0 : work.nodes;
  std::size_t idle = 0;
  for (std::size_t i = 0; i < captures.paths.size() && unknown == 0; ++i) {
    if (captures.ran[i] || captures.paths[i].empty() || ++idle > most) continue;
    remarks.push_back(
        fmt::format("{} captured {}. No kernel, copy or memset of them ran while the program was traced.",
                    path_or_none(captures.paths[i]), counted(captures.nodes[i], "node", "nodes")));
  }
  if (idle > most) remarks.push_back(fmt::format("So did {} more ranges.", idle - most));
  if (unknown > 0)
    remarks.push_back(
        fmt::format("{} of CUDA graphs ran whose capture is not known. It was before the trace began, or the "
                    "profiler does not record the making of nodes, or child graphs were captured in several "
                    "ranges. Their time stands where the graph was launched.",
                    counted(unknown, "node", "nodes")));
  if (captures.whole_graphs > 0)
    remarks.push_back(fmt::format(
        "{} of CUDA graphs were traced as a whole, {} in all. The kernels in them are not known, nor where "
        "they were captured. Nsight Systems records them with --cuda-graph-trace=node.",
        counted(captures.whole_graphs, "launch", "launches"), format::nanoseconds(captures.whole_time)));
  return remarks;
}

}  // namespace mprof
