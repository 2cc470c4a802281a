// SPDX-License-Identifier: MIT
#include "runner/merge.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "cli/json_answer.hpp"
#include "cli/options.hpp"
#include "cli/terminal.hpp"
#include "model/derive/derive.hpp"
#include "model/run_file.hpp"
#include "report/analysis/judgement/likeness.hpp"
#include "report/views/run_json.hpp"
#include "report/views/summary.hpp"
#include "system/error.hpp"

namespace mprof::cli {
namespace {

namespace fs = std::filesystem;

std::vector<MergeSource> read_sources(const std::vector<std::string>& directories) {
  std::vector<MergeSource> sources;
  std::set<fs::path> seen;
  for (const std::string& directory : directories) {
    if (!seen.insert(fs::weakly_canonical(directory)).second)
      throw Error(ExitCode::usage, fmt::format("{} was given twice: name it once.", directory));
    sources.push_back({directory, read_record(directory)});
  }
  return sources;
}

/// Times of one plan on machines or inputs that differ are no times of one run.
void require_like_conditions(const std::vector<MergeSource>& sources) {
  const MergeSource& first = sources.front();
  for (const MergeSource& source : sources) {
    const Differences differences =
        differences_between(first.run, source.run, first.path.string(), source.path.string());
    if (differences.unlike.empty()) continue;
    throw Error(ExitCode::incomparable,
                fmt::format("{} and {} cannot be merged: {}. Run the shards on machines of one kind with the "
                            "same inputs, and compare runs of different machines with `mprof compare`.",
                            first.path.string(), source.path.string(),
                            fmt::join(texts_of(differences.unlike), "; ")));
  }
}

/// Reading what is to be replaced while it is replaced would lose it.
void refuse_own_source(const fs::path& out, const std::vector<MergeSource>& sources) {
  for (const MergeSource& source : sources) {
    if (fs::weakly_canonical(source.path) == fs::weakly_canonical(out))
      throw Error(
          ExitCode::usage,
          fmt::format("--out {}: this is one of the runs to merge; choose another directory.", out.string()));
  }
}

int merge(const Arguments& arguments) {
  if (!arguments.given("out"))
    throw Error(ExitCode::usage, "mprof merge needs --out DIR: where to write the merged run.");
  const fs::path out = arguments.text("out");
  JsonAnswer answer(arguments.flag("json"));
  std::vector<MergeSource> sources = read_sources(arguments.texts("DIR..."));
  refuse_own_source(out, sources);
  require_like_conditions(sources);
  Run run = merged(sources, {arguments.flag("pool"), arguments.flag("incomplete")});
  run.command_line = arguments.command_line();
  ResultDirectory directory(
      out, arguments.flag("overwrite") ? ResultDirectory::Mode::overwrite : ResultDirectory::Mode::create,
      {.overwrite = true});
  write_merged(run, sources, directory);
  const bool is_complete = run.state == RunState::complete;
  const std::size_t cases = run.cases.size();
  if (!arguments.flag("quiet") || answer.is_wanted()) derive(run, out);
  if (!arguments.flag("quiet")) {
    print_readable(render_summary(run, table_width()));
  }
  fmt::print("Merged {} runs, {} cases, {}: {}. Next: mprof {} {}\n", sources.size(), cases,
             is_complete ? "all complete" : "some of them still to run", out.string(),
             is_complete ? "report" : "run --resume --out", out.string());
  if (answer.is_wanted()) answer.print("mprof.run/1", run_json(run, out.string()));
  return static_cast<int>(ExitCode::success);
}

}  // namespace

Verb merge_verb() {
  return {
      .name = "merge",
      .positional = "DIR...",
      .summary = "make one run of the shards of a plan",
      .description =
          "Makes one run of the shards that `mprof run --shard` left in the directories DIR, in any order. "
          "Shards of another plan, build, kind of machine or input are refused by name, with exit code 4. "
          "So are missing shards. docs/guides/clusters.md has examples for schedulers.",
      .examples = {{"mprof merge runs/a/shards/* --out runs/a", "all shards as one run"},
                   {"mprof merge a b --pool --out ab", "two whole runs of one plan as one of more rounds"},
                   {"mprof merge runs/a/shards/* --out b --incomplete", "what there is so far"}},
      .section = Section::cluster,
      .options = {{"out", "DIR", "", "The directory of the merged run."},
                  {"pool", "", "",
                   "Give a case that several runs have the rounds of all of them. Default: refuse it."},
                  {"incomplete", "", "",
                   "Merge what there is. `mprof run --resume` can then run what is missing."},
                  {"overwrite", "", "", "Replace the run in --out."},
                  {"quiet", "", "", "Print only where the result is."},
                  json_answer_option()},
      .run = merge};
}

}  // namespace mprof::cli
