// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "cli/compare_options.hpp"
#include "cli/options.hpp"
#include "cli/terminal.hpp"
#include "model/run_file.hpp"
#include "report/page/history_page.hpp"
#include "system/error.hpp"
#include "system/files.hpp"

namespace mprof::cli {
namespace {

/// One run at a time: of its samples nothing is kept.
std::vector<RecordedRun> read_runs(const std::vector<std::string>& directories) {
  std::vector<RecordedRun> runs;
  std::set<std::filesystem::path> seen;
  for (const std::string& directory : directories) {
    if (!seen.insert(std::filesystem::weakly_canonical(directory)).second)
      throw Error(
          ExitCode::usage,
          fmt::format("{} was given twice: a history would take it for two runs. Name it once.", directory));
    // A shell puts files in place of results/* as well. A folder that is no run may be a mistake.
    if (std::error_code error; std::filesystem::is_regular_file(directory, error)) {
      fmt::print(stderr, "Left out: {} is a file, and a run is a folder.\n", directory);
      continue;
    }
    runs.push_back(recorded_run(read_run(directory), directory));
  }
  if (runs.empty())
    throw Error(ExitCode::usage, "None of these is a run: a run is a folder with a run.json.");
  return runs;
}

int show_history(const Arguments& arguments) {
  const std::string format = parse_comparison_format(arguments.format(), "history");
  HistoryOptions options;
  if (arguments.given("threshold")) {
    const double threshold = parse_threshold(arguments.text("threshold"));
    options.thresholds = {.device = threshold, .host = threshold};
  }
  options.variants = arguments.texts("variant");
  options.op = arguments.text("op");
  const History history = history_of(read_runs(arguments.texts("DIR...")), options);
  const HistoryLayout layout{.width = table_width(), .templates = {}, .all = arguments.flag("all")};
  if (arguments.given("out")) {
    for (const auto& file : write_history(history, format, layout, arguments.text("out")))
      fmt::print("{}\n", file.string());
  } else {
    print_readable(render_history(history, format, layout));
  }
  return static_cast<int>(ExitCode::success);
}

}  // namespace

Verb history_verb() {
  return {.name = "history",
          .positional = "DIR...",
          .summary = "find where times changed over many runs, and at which revision",
          .description =
              "Sorts the runs in the result directories by their start, and marks where a time of a case "
              "changed, the newest change first. Runs of different machines are never joined. "
              "docs/guides/history.md explains the method. `mprof compare A B` shows what else differs.",
          .examples = {{"mprof history nightly/*", "all changes, the newest first"},
                       {"mprof history nightly/* --variant '{family}/*'", "some variants"},
                       {"mprof history nightly/* --format html --out history.html", "a page with charts"}},
          .section = Section::compare,
          .options = {chosen_from("text md html json", {"format", "NAME", "text", "text, md, html or json."}),
                      json_option(),
                      {"out", "FILE", "",
                       "Write to this file. Markdown has its charts in charts/ next to it. Default: standard "
                       "output."},
                      {"variant", "GLOB", "",
                       "Only the variants that match, like '*/cpu_*'. May be repeated.", true},
                      {"op", "NAME", "", "Only the times of this op; total: the time of the whole case."},
                      {"all", "", "", "Also show the times that did not change."},
                      {"threshold", "PERCENT", "",
                       "Ignore changes up to this size. Default: 1 for device times, 3 for host times."}},
          .run = show_history};
}

}  // namespace mprof::cli
