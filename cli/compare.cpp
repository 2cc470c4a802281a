// SPDX-License-Identifier: MIT
#include "cli/compare.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <future>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "cli/compare_options.hpp"
#include "cli/options.hpp"
#include "cli/terminal.hpp"
#include "model/case_file.hpp"
#include "model/derive/derive.hpp"
#include "model/pool.hpp"
#include "model/run_file.hpp"
#include "report/analysis/evidence.hpp"
#include "report/analysis/judgement/likeness.hpp"
#include "report/page/comparison_page.hpp"
#include "report/text/format.hpp"
#include "report/views/views.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "system/suggest.hpp"

namespace mprof::cli {
namespace {

/// The runs of one side as one, and what the reader calls it.
struct ComparedSide {
  Run run;
  std::string name;
  std::size_t directories = 0;
  std::map<std::string, std::string> runs{};  ///< the names of its runs, and of what was merged to them, by
                                              ///< their stamps
  ProgramPictures programs{};
};

ComparedSide read_side(const std::vector<std::string>& directories) {
  ComparedSide side{.run = {}, .name = format::list(directories), .directories = directories.size()};
  std::vector<Run> runs;
  for (const std::string& directory : directories) {
    TracedRun read = read_traced_run(directory, evidence_parts);
    side.programs.merge(program_pictures(read.run, read.trace));  // of a case in several, the first one's
    runs.push_back(std::move(read.run));
  }
  require_one_origin(runs, directories);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    side.runs.emplace(run_stamp(runs[i]), directories[i]);
    for (const RunPart& part : runs[i].parts)
      side.runs.emplace(run_stamp(part), fmt::format("A part of {}", directories[i]));
  }
  side.run = pooled(std::move(runs));
  if (directories.size() > 1) derive_variation(side.run);
  return side;
}

/// A run among several on each side would be held against itself, as if it were another one.
void refuse_on_both_sides(const ComparedSide& a, const ComparedSide& b) {
  const bool is_one_directory = a.directories == 1 && b.directories == 1;
  if (is_one_directory && run_stamp(a.run) == run_stamp(b.run)) return;
  for (const auto& [stamp, name] : a.runs) {
    if (b.runs.contains(stamp))
      throw Error(
          ExitCode::usage,
          fmt::format("{} is on both sides, and would be compared with itself: give it on one.", name));
  }
}

Comparison compared(const Arguments& arguments, CompareOptions options) {
  const bool alone = arguments.texts("B").empty();
  // Reading is nearly all of the time.
  std::future<ComparedSide> reading;
  if (!alone) reading = std::async(std::launch::async, read_side, arguments.texts("B"));
  const ComparedSide a = read_side(arguments.texts("A"));
  const ComparedSide b = alone ? ComparedSide{} : reading.get();
  refuse_on_both_sides(a, b);
  options.name_a = alone ? options.pairing.of : a.name;
  options.name_b = alone ? options.pairing.with : b.name;
  Comparison comparison = compare(a.run, alone ? a.run : b.run, options);
  add_program_changes(comparison, a.programs, alone ? a.programs : b.programs);
  return comparison;
}

/// Behind what other steps of a CI job have written there.
void append(const std::string& file, const std::string& text) {
  std::ofstream out(file, std::ios::app | std::ios::binary);
  out << text << std::flush;
  if (!out)
    throw Error(
        ExitCode::environment,
        fmt::format("--step-summary {}: it cannot be written; give a file in a directory that is there "
                    "and writable.",
                    file));
}

int compare_runs(const Arguments& arguments) {
  const std::string format = parse_comparison_format(arguments.format(), "comparison");
  const Comparison comparison = compared(arguments, parse_compare_options(arguments));
  if (arguments.given("junit")) write_output(arguments.text("junit"), comparison_junit(comparison));
  if (arguments.given("step-summary"))
    append(arguments.text("step-summary"), render_step_summary(comparison));
  const std::string text = render_comparison(
      comparison, format, {.width = terminal_width(), .templates = {}, .all = arguments.flag("all")});
  if (arguments.given("out")) {
    write_output(arguments.text("out"), text);
    fmt::print("{}\n", arguments.text("out"));
  } else {
    print_readable(text);
  }
  return static_cast<int>(comparison.failed() ? ExitCode::regression : ExitCode::success);
}

}  // namespace

int compare_with_baseline(const Run& baseline, const std::string& name, const std::string& candidate) {
  const TracedRun after = read_traced_run(candidate, evidence_parts);
  const Evidence before = read_evidence(baseline, std::filesystem::path(name) / trace::file_name);
  Comparison comparison = compare(baseline, after.run, {.name_a = name, .name_b = candidate});
  add_program_changes(comparison, program_pictures(baseline, before.profile),
                      program_pictures(after.run, after.trace));
  print_readable(render_comparison(comparison, "text", {.width = terminal_width()}));
  return static_cast<int>(comparison.failed() ? ExitCode::regression : ExitCode::success);
}

Verb compare_verb() {
  return {
      .name = "compare",
      .positional = "A B",
      .summary = "compare two runs: what got faster or slower, and what is undecided",
      .description =
          "Compares the cases of the result directories A (before) and B (after). The exit code is 1 when "
          "B has a regression: a case that is significantly slower, less accurate, or no longer correct. It "
          "is 4 when all times depend on conditions that differ, such as another GPU, driver or build type. "
          "The output names them.",
      .examples = {{"mprof compare results/before results/after", "two runs"},
                   {"mprof compare A1 A2 -- B1 B2", "several runs of each side, put together"},
                   {"mprof compare RUN --of {baseline} --with {variant}", "two variants of one run"}},
      .section = Section::compare,
      .options = {chosen_from("text md html json", {"format", "NAME", "text", "text, md, html or json."}),
                  json_option(),
                  {"out", "FILE", "", "Write to this file. Default: standard output."},
                  {"threshold", "PERCENT", "",
                   "Ignore changes up to this size. Default: 1 for device times, 3 for host times."},
                  chosen_from("slower inconclusive missing none",
                              {"fail-on", "LIST", "slower",
                               "What makes the exit code 1, besides wrong results and lost quality: slower, "
                               "inconclusive, missing (a case of A that B lacks), or none."}),
                  {"junit", "FILE", "", "Also write JUnit XML: a suite a variant, a test a case."},
                  {"step-summary", "FILE", "",
                   "Also append Markdown of at most 64 KB, for $GITHUB_STEP_SUMMARY."},
                  {"all", "", "", "Also show the times that did not change."},
                  {"map", "OLD=NEW", "", "A variant of A that has another id in B. May be repeated.", true},
                  {"of", "POINT", "", "Of A, only the cases of this variant, as ids of cases name it."},
                  {"with", "POINT", "", "Of B, only the cases of this variant, at the same problems."},
                  {"allow-different-machines", "", "",
                   "Compare although machines or conditions differ. The output begins with the "
                   "differences."}},
      .run = compare_runs,
      .sides = true};
}

}  // namespace mprof::cli
