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
};

ComparedSide read_side(const std::vector<std::string>& directories) {
  std::vector<Run> runs;
  for (const std::string& directory : directories) runs.push_back(read_run(directory));
  require_one_origin(runs, directories);
  ComparedSide side{.run = {}, .name = format::list(directories), .directories = directories.size()};
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

/// OLD=NEW, by OLD.
std::map<std::string, std::string> parse_renamed(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> renamed;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      throw Error(ExitCode::usage, fmt::format("--map {}: give OLD=NEW, the id of a variant in A and what it "
                                               "is called in B.",
                                               text));
    if (!renamed.emplace(text.substr(0, equals), text.substr(equals + 1)).second)
      throw Error(ExitCode::usage, fmt::format("--map {}: {} has been given another name already.", text,
                                               text.substr(0, equals)));
  }
  return renamed;
}

Pairing parse_pairing(const Arguments& arguments) {
  Pairing pairing{parse_renamed(arguments.texts("map")), arguments.text("of"), arguments.text("with")};
  if (pairing.of.empty() != pairing.with.empty())
    throw Error(ExitCode::usage,
                "--of and --with belong together: two variants, or two points of their "
                "parameters.");
  if (!pairing.of.empty() && !pairing.renamed.empty())
    throw Error(ExitCode::usage,
                "--map says which variant is which, and so do --of and --with: give one of "
                "them.");
  return pairing;
}

FailOn parse_fail_on(const std::string& text) {
  FailOn fail_on{.slower = false};
  const std::vector<std::string> parts = split(text);
  for (const std::string& part : parts) {
    if (part == "slower") {
      fail_on.slower = true;
    } else if (part == "inconclusive") {
      fail_on.inconclusive = true;
    } else if (part == "missing") {
      fail_on.missing = true;
    } else if (part != "none" || parts.size() > 1) {
      throw Error(ExitCode::usage,
                  fmt::format("--fail-on {}: give slower, inconclusive, missing, or none alone.{}", text,
                              did_you_mean(part, {"slower", "inconclusive", "missing", "none"})));
    }
  }
  return fail_on;
}

CompareOptions parse_options(const Arguments& arguments) {
  CompareOptions options;
  if (arguments.given("threshold")) {
    const double threshold = parse_threshold(arguments.text("threshold"));
    options.thresholds = {.device = threshold, .host = threshold};
  }
  options.allow_different_machines = arguments.flag("allow-different-machines");
  options.pairing = parse_pairing(arguments);
  options.fail_on = parse_fail_on(arguments.text("fail-on"));
  if (arguments.texts("B").empty() && options.pairing.of.empty())
    throw Error(ExitCode::usage,
                "mprof compare: B is missing: give the run to hold against A, or --of and --with for two "
                "variants of one run. See `mprof compare --help`.");
  return options;
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
  return compare(a.run, alone ? a.run : b.run, options);
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
  const std::string format = parse_comparison_format(arguments.text("format"), "comparison");
  const Comparison comparison = compared(arguments, parse_options(arguments));
  if (arguments.given("junit")) write_output(arguments.text("junit"), comparison_junit(comparison));
  if (arguments.given("step-summary"))
    append(arguments.text("step-summary"), render_step_summary(comparison));
  const std::string text = render_comparison(
      comparison, format, {.width = terminal_width(), .templates = {}, .all = arguments.flag("all")});
  if (arguments.given("out")) {
    write_output(arguments.text("out"), text);
    fmt::print("{}\n", arguments.text("out"));
  } else {
    std::fputs(text.c_str(), stdout);
  }
  return static_cast<int>(comparison.failed() ? ExitCode::regression : ExitCode::success);
}

}  // namespace

int compare_with_baseline(const Run& baseline, const std::string& name, const std::string& candidate) {
  const Run after = read_run(candidate);
  const Comparison comparison = compare(baseline, after, {.name_a = name, .name_b = candidate});
  std::fputs(render_comparison(comparison, "text", {.width = terminal_width()}).c_str(), stdout);
  return static_cast<int>(comparison.failed() ? ExitCode::regression : ExitCode::success);
}

Verb compare_verb() {
  return {
      .name = "compare",
      .positional = "A B",
      .summary = "what got faster, slower, or cannot be told between two runs",
      .description =
          "Pairs the cases of the result directories A (before) and B (after). Several runs of a side are "
          "put together, round by round: `mprof compare A1 A2 -- B1 B2`. Two variants, or two points of "
          "their parameters, inside one run: `mprof compare RUN --of map/direct --with "
          "map/tiled[width=16]`. Exits with 1 when B has a regression: a case slower beyond doubt, of "
          "lesser quality, or no longer right; with 4, and what differs, when the times were not taken "
          "under like conditions (CPU, GPU, driver, clock limits, ECC, MIG, contents of inputs, build "
          "type).",
      .options = {{"format", "NAME", "text", "text, md, html or json."},
                  {"out", "FILE", "", "Write there instead of standard output."},
                  {"threshold", "PERCENT", "",
                   "Changes up to this size are none; without it 1 for times of a GPU's clock and 3 for "
                   "those of the "
                   "host's."},
                  {"fail-on", "LIST", "slower",
                   "What makes the exit code 1 beside wrong results and lost quality, which always do: "
                   "slower, inconclusive, missing (a case of A that B lacks), or none."},
                  {"junit", "FILE", "", "Also write JUnit XML: a suite a variant, a test a case."},
                  {"step-summary", "FILE", "",
                   "Also append Markdown of at most 64 KB, for $GITHUB_STEP_SUMMARY."},
                  {"all", "", "", "Show the times that did not change as well."},
                  {"map", "OLD=NEW", "", "A variant of A that has another id in B; may be repeated.", true},
                  {"of", "POINT", "", "Of A only the cases of this variant, as ids of cases name it."},
                  {"with", "POINT", "", "Of B only the cases of this one, at the same problems."},
                  {"allow-different-machines", "", "",
                   "Compare although machines or conditions differ; the output then begins with how."}},
      .run = compare_runs,
      .sides = true};
}

}  // namespace mprof::cli
