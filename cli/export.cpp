// SPDX-License-Identifier: MIT
#include "report/export/export.hpp"

#include <algorithm>
#include <cstdio>
#include <set>

#include <fmt/format.h>

#include "cli/json_answer.hpp"
#include "cli/options.hpp"
#include "cli/output_lock.hpp"
#include "cli/values.hpp"
#include "model/run_file.hpp"
#include "model/trace/trace.hpp"
#include "report/text/format.hpp"
#include "system/error.hpp"
#include "system/files.hpp"

namespace mprof::cli {
namespace {

namespace fs = std::filesystem;

/// Whether a text begins with a further axis of a problem, such as rounds=5: with a name, = and digits alone.
bool is_coordinate(const std::string& text) {
  const std::string part = text.substr(0, text.find(','));
  const std::size_t equals = part.find('=');
  return equals != std::string::npos && equals > 0 && equals + 1 < part.size() &&
         part.find_first_of("/@[") == std::string::npos &&
         part.find_first_not_of("0123456789", equals + 1) == std::string::npos;
}

/// Splits at commas, but not within an id: family/a[x=1,y=2]@size=8,rounds=5,family/b@100 are two.
std::vector<std::string> split_ids(const std::string& text) {
  std::vector<std::string> ids(1);
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '[' ? 1 : text[i] == ']' ? -1 : 0;
    if (text[i] == ',' && depth <= 0 && !is_coordinate(text.substr(i + 1))) {
      ids.emplace_back();
    } else {
      ids.back() += text[i];
    }
  }
  return ids;
}

/// What has no trace is no error unless the trace is what was asked for.
int explain(const Exported& exported, bool asked_for_trace) {
  if (exported.no_trace.empty()) return 0;
  const bool several = exported.left_out.size() > 1;
  const std::string message = fmt::format(
      "{} {} not written: {}. Run the variants with `mprof run` where there is an NVIDIA GPU, with trace "
      "among the --passes, and export that run.",
      format::list(exported.left_out), several ? "were" : "was", exported.no_trace);
  if (asked_for_trace) throw Error(ExitCode::usage, message);
  fmt::print(stderr, "mprof: {}\n", message);
  return 0;
}

/// Its folder's own name, however the path was written.
std::string name_of(const fs::path& directory) {
  return fs::weakly_canonical(directory).filename().string();
}

/// Otava's table has a row for each run; every other format is of one.
void require_history(const Arguments& arguments, const std::vector<std::string>& formats) {
  const std::vector<std::string> directories = arguments.texts("DIR...");
  if (formats != std::vector<std::string>{"otava"}) {
    throw Error(ExitCode::usage,
                fmt::format("mprof export takes one directory, and {} were given. Only --format "
                            "otava, by itself, takes several: the runs of a history.",
                            directories.size()));
  }
  if (!arguments.given("out"))
    throw Error(ExitCode::usage, "--format otava of several runs needs --out DIR: where to write.");
  std::set<fs::path> seen;
  for (const std::string& directory : directories) {
    if (seen.insert(fs::weakly_canonical(directory)).second) continue;
    throw Error(ExitCode::usage,
                fmt::format("{} was given twice, and would be two runs of the history. Name it "
                            "once.",
                            directory));
  }
}

nlohmann::ordered_json json_of(const Exported& exported) {
  nlohmann::ordered_json written = nlohmann::ordered_json::array();
  for (const fs::path& file : exported.written) written.push_back(file.string());
  return {{"written", std::move(written)},
          {"left_out", exported.left_out},
          {"no_trace", exported.no_trace},
          {"untracked", exported.untracked}};
}

int export_run(const Arguments& arguments) {
  const std::vector<std::string> directories = arguments.texts("DIR...");
  const fs::path directory = directories.front();
  require_folder(arguments.text("out"));
  ExportOptions options;
  options.formats = split(arguments.text("format"));
  options.out = arguments.given("out") ? fs::path(arguments.text("out")) : directory / "export";
  options.trace = directory / trace::file_name;
  options.name = name_of(directory);
  options.with_pauses = arguments.flag("with-pauses");
  if (arguments.given("case")) options.cases = split_ids(arguments.text("case"));
  require_export_formats(options.formats);
  if (directories.size() > 1) require_history(arguments, options.formats);
  for (std::size_t i = 1; i < directories.size(); ++i)
    options.other_runs.push_back(
        tracked_run(read_run(directories[i]), name_of(directories[i]), options.cases));
  const Run run = read_run(directory);
  if (!arguments.given("out")) require_no_link(options.out);
  const OutputLock lock(options.out);
  JsonAnswer answer(arguments.flag("json"));
  const Exported exported = write_export(run, options);
  if (!answer.is_wanted()) {
    for (const fs::path& file : exported.written) fmt::print("{}\n", file.string());
  }
  answer.print("mprof.export/1", json_of(exported));
  if (!exported.untracked.empty()) {
    fmt::print(stderr, "mprof: the files for trackers lack these cases, which have no valid times: {}.\n",
               exported.untracked);
  }
  const bool asked_for_trace =
      arguments.given("format") && std::ranges::any_of(options.formats, is_filled_by_traces);
  return explain(exported, asked_for_trace);
}

}  // namespace

Verb export_verb() {
  return {
      .name = "export",
      .positional = "DIR...",
      .summary = "write a run's data for Perfetto, pandas, JSON and services that track times",
      .description =
          "Writes the data of the result directory DIR for other programs. It makes "
          "trace.perfetto-trace.gz for ui.perfetto.dev, tables in CSV for pandas, and analysis.json with "
          "the findings of the report. It prints their names. docs/formats/export.md explains them. "
          "perfetto, perfetto-json, nsys, folded and speedscope need a run with a trace; otherwise the exit "
          "code is 2. Three "
          "formats are for services that track times over many runs: bmf (Bencher), benchmark-action "
          "(github-action-benchmark) and otava (Apache Otava). Only otava takes several directories.",
      .examples = {{"mprof export results/a", "all formats, into results/a/export"},
                   {"mprof export results/a --format csv --out tables", "tables for pandas"},
                   {"mprof export nightly/* --format otava --out tracked", "a history for Apache Otava"}},
      .section = Section::data,
      .options =
          {chosen_from(
               "perfetto perfetto-json csv json nsys folded speedscope bmf benchmark-action otava",
               {"format", "LIST", "perfetto,csv,json",
                "What to write: some of perfetto, perfetto-json, csv, json, nsys, folded, speedscope, bmf, "
                "benchmark-action and otava. perfetto-json is the timeline as JSON. nsys writes the one "
                "case that --case names as Nsight Systems exports it. Flame graphs of the GPU's time by the "
                "lines that launch kernels: folded and speedscope."}),
           {"out", "DIR", "", "Where to write. Default: DIR/export."},
           {"case", "LIST", "",
            "Only these cases: ids, or patterns like '*/cpu_*@100'. Speed-ups and findings are "
            "of the whole run."},
           {"with-pauses", "", "",
            "Also what mprof does between two ops, such as flushing the caches. It is no work of the "
            "variant."},
           json_answer_option()},
      .run = export_run};
}

}  // namespace mprof::cli
