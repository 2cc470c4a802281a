// SPDX-License-Identifier: MIT
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/options.hpp"
#include "cli/terminal.hpp"
#include "inputs/torch_trace.hpp"
#include "report/materials/rank_files.hpp"
#include "report/page/ranks_page.hpp"
#include "report/views/ranks_view.hpp"
#include "system/error.hpp"
#include "system/files.hpp"

namespace mprof::cli {
namespace {

using Json = nlohmann::ordered_json;

void write_summaries(const std::vector<RankSummary>& ranks, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw Error(ExitCode::usage, fmt::format("--summaries {}: the folder cannot be made: {}.",
                                             folder.string(), error.message()));
  for (const RankSummary& rank : ranks) {
    const std::filesystem::path file = folder / rank_file_name(rank);
    require_replaceable(file, rank);
    write_output(file.string(), rank_file(rank));
  }
}

void require_several(const std::vector<RankSummary>& ranks) {
  if (ranks.size() > 1) return;
  throw Error(
      ExitCode::incomparable,
      fmt::format("{} is the only rank: nothing can be said of who waits for whom. Give the traces of all "
                  "ranks, or the folder that they are in.",
                  ranks.front().name));
}

int show_ranks(const Arguments& arguments) {
  const std::vector<RankSummary> ranks = read_ranks(arguments.texts("TRACE..."), read_torch_trace);
  if (arguments.given("summaries")) {
    write_summaries(ranks, arguments.text("summaries"));
    if (ranks.size() == 1) return 0;
  }
  require_several(ranks);
  const World world = world_of(ranks);
  if (arguments.flag("json"))
    fmt::print("{}\n", ranks_json(world).dump(2, ' ', false, Json::error_handler_t::replace));
  else
    print_readable(render_ranks_text(world, arguments.flag("all"), table_width()));
  if (arguments.given("html")) write_output(arguments.text("html"), render_ranks(world));
  return 0;
}

}  // namespace

Verb ranks_verb() {
  return {
      .name = "ranks",
      .positional = "TRACE...",
      .summary = "where a distributed training waits, and for whom",
      .description =
          "Lays the traces of all ranks of a program on one clock. Says how much of a step is communication "
          "that no computing hides, which rank the others wait for and why, and what the links carry. A "
          "TRACE is a result directory of mprof, an export of Nsight Systems (.sqlite), a trace of "
          "PyTorch's profiler (.json, .json.gz), a summary, or a folder of these. "
          "docs/guides/ranks.md starts from there.",
      .examples = {{"mprof ranks traces/", "a trace of each rank, whoever wrote it"},
                   {"mprof ranks ddp --html ranks.html", "a run of torchrun, and a page with a map"},
                   {"mprof ranks rank7.json.gz --summaries shared/",
                    "on each node: a few kilobytes a step, to be read together later"}},
      .section = Section::cluster,
      .options = {{"all", "", "", "Show every rank in the table."},
                  {"html", "FILE", "",
                   "Also write a page with a map of ranks and steps, and the slowest step."},
                  {"json", "", "", "Print JSON (mprof.ranks/1)."},
                  {"summaries", "DIR", "",
                   "Also write the summary of each rank here. `mprof ranks DIR` reads them in place of the "
                   "traces."}},
      .run = show_ranks};
}

}  // namespace mprof::cli
