// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "report/analysis/ranks/rank_summary.hpp"

/// What there is of the ranks of a distributed program: runs of mprof, exports of Nsight Systems, traces of
/// PyTorch's profiler, and summaries that were made of any of these.
namespace mprof {

/// Reads a trace that is no SQLite database, such as one of PyTorch's profiler.
using TraceReader = std::function<trace::Trace(const std::filesystem::path&)>;

/// Of files, of result directories, and of folders that hold some; sorted by rank. A trace of several
/// processes is several ranks. Throws Error(usage) for a path that has none, or for two files of one rank.
[[nodiscard]] std::vector<RankSummary> read_ranks(const std::vector<std::string>& paths,
                                                  const TraceReader& read_other);

/// The schema of a summary.
inline constexpr const char* rank_schema = "mprof.rank/1";

/// A rank as a file that read_ranks() reads: a few kilobytes a step. The text is JSON.
[[nodiscard]] std::string rank_file(const RankSummary& rank);
/// Throws Error(usage) that names the file and the place in it.
[[nodiscard]] RankSummary parse_rank_file(std::string text, const std::string& name);

/// "rank-0003.json": the name under which a rank's summary is kept. Where the rank is not known, it is made
/// of the host, the trace's file and the process: "rank-node7-report-4711.json".
[[nodiscard]] std::string rank_file_name(const RankSummary& rank);

/// Throws Error(usage) where a file is there already that is no summary, or the summary of another trace. A
/// damaged summary may be replaced.
void require_replaceable(const std::filesystem::path& file, const RankSummary& rank);

}  // namespace mprof
