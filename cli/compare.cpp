#include <charconv>
#include <cstdio>

#include <fmt/format.h>

#include "cli/options.hpp"
#include "cli/terminal.hpp"
#include "model/run_file.hpp"
#include "report/page/comparison_page.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "system/suggest.hpp"

namespace mprof::cli {
namespace {

double parse_threshold(const std::string& text) {
  double percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (error != std::errc{} || end != text.data() + text.size() || !(percent >= 0 && percent < 100)) {
    throw Error(ExitCode::usage, fmt::format("--threshold {}: give a percentage from 0 to below 100.", text));
  }
  return percent / 100;
}

std::string parse_format(const std::string& text) {
  const std::vector<std::string> known{"text", "md", "html", "json"};
  if (std::find(known.begin(), known.end(), text) != known.end()) return text;
  throw Error(ExitCode::usage,
              fmt::format("--format {}: a comparison has no such format.{} The formats are text, md, html "
                          "and json.",
                          text, did_you_mean(text, known)));
}

int compare_runs(const Arguments& arguments) {
  const std::string format = parse_format(arguments.text("format"));
  CompareOptions options;
  options.threshold = parse_threshold(arguments.text("threshold"));
  options.allow_different_machines = arguments.flag("allow-different-machines");
  options.name_a = arguments.text("A");
  options.name_b = arguments.text("B");
  const Run before = read_run(arguments.text("A"));
  const Run after = read_run(arguments.text("B"));
  const Comparison comparison = compare(before, after, options);
  const std::string text =
      render_comparison(comparison, format, {.width = terminal_width(), .templates = {}});
  if (arguments.given("out")) {
    write_file(arguments.text("out"), text);
    fmt::print("{}\n", arguments.text("out"));
  } else {
    std::fputs(text.c_str(), stdout);
  }
  return static_cast<int>(comparison.regression() ? ExitCode::regression : ExitCode::success);
}

}  // namespace

Verb compare_verb() {
  return {.name = "compare",
          .positional = "A B",
          .summary = "what got faster, slower, or cannot be told between two runs",
          .description =
              "Pairs the cases of the result directories A (before) and B (after). Exits with 1 when B has a "
              "regression: a case slower beyond doubt, of lesser quality, or no longer right.",
          .options = {{"format", "NAME", "text", "text, md, html or json."},
                      {"out", "FILE", "", "Write there instead of standard output."},
                      {"threshold", "PERCENT", "5", "Changes up to this size count as the same."},
                      {"allow-different-machines", "", "",
                       "Compare although the runs come from different machines."}},
          .run = compare_runs};
}

}  // namespace mprof::cli
