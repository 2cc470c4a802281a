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
    runs.push_back(recorded_run(read_run(directory), directory));
  }
  return runs;
}

int show_history(const Arguments& arguments) {
  const std::string format = parse_comparison_format(arguments.text("format"), "history");
  HistoryOptions options;
  if (arguments.given("threshold")) {
    const double threshold = parse_threshold(arguments.text("threshold"));
    options.thresholds = {.device = threshold, .host = threshold};
  }
  options.variants = arguments.texts("variant");
  options.op = arguments.text("op");
  const History history = history_of(read_runs(arguments.texts("DIR...")), options);
  const HistoryLayout layout{.width = terminal_width(), .templates = {}, .all = arguments.flag("all")};
  if (arguments.given("out")) {
    for (const auto& file : write_history(history, format, layout, arguments.text("out")))
      fmt::print("{}\n", file.string());
  } else {
    std::fputs(render_history(history, format, layout).c_str(), stdout);
  }
  return static_cast<int>(ExitCode::success);
}

}  // namespace

Verb history_verb() {
  return {
      .name = "history",
      .positional = "DIR...",
      .summary = "where times changed over many runs, and at which revision",
      .description =
          "Orders the runs in the result directories by when they started, and marks where a time of a case "
          "changed, the newest change first. Runs of different machines are told apart and never joined. "
          "docs/guides/history.md says by what method. `mprof compare A B` then says what else two runs "
          "differ in.",
      .options = {{"format", "NAME", "text", "text, md, html or json."},
                  {"out", "FILE", "",
                   "Write there instead of standard output; Markdown with its charts in charts/ beside it."},
                  {.name = "variant",
                   .argument = "GLOB",
                   .default_value = "",
                   .meaning = "Only the variants that match, like '*/cpu_*'; may be given several times.",
                   .repeatable = true},
                  {"op", "NAME", "", "Only the times of this op; total: those of the whole case."},
                  {"all", "", "", "Show the times that did not change as well."},
                  {"threshold", "PERCENT", "",
                   "Changes up to this size are none; without it 1 for times of a GPU's clock and 3 for "
                   "those of the host's."}},
      .run = show_history};
}

}  // namespace mprof::cli
