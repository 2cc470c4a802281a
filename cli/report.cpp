#include "report/page/report.hpp"

#include <fmt/format.h>

#include "cli/options.hpp"
#include "cli/output_lock.hpp"
#include "kernels/sources.hpp"
#include "model/run_file.hpp"
#include "system/error.hpp"
#include "system/suggest.hpp"

namespace mprof::cli {
namespace {

std::vector<std::string> parse_formats(const std::string& text) {
  const std::vector<std::string> known{"md", "html", "pdf"};
  std::vector<std::string> formats = split(text);
  for (const std::string& format : formats) {
    if (std::find(known.begin(), known.end(), format) != known.end()) continue;
    throw Error(ExitCode::usage,
                fmt::format("--format {}: a report has no format '{}'.{} The formats are md, html and pdf.",
                            text, format, did_you_mean(format, known)));
  }
  return formats;
}

int report(const Arguments& arguments) {
  const std::filesystem::path directory = arguments.text("DIR");
  ReportOptions options;
  options.formats = parse_formats(arguments.text("format"));
  options.out = arguments.given("out") ? std::filesystem::path(arguments.text("out")) : directory;
  options.templates = arguments.text("templates");
  options.directory = directory;
  options.text = {arguments.text("title"), arguments.text("author")};
  options.selection = {split(arguments.text("only")), arguments.text("baseline")};
  options.own_sources = source_text;
  options.dump_view = arguments.flag("dump-view");
  options.written = [](const std::filesystem::path& file) { fmt::print("{}\n", file.string()); };
  const Run run = read_run(directory);
  const OutputLock lock(options.out);
  write_report(run, options);
  return 0;
}

}  // namespace

Verb report_verb() {
  return {
      .name = "report",
      .positional = "DIR",
      .summary = "write the milestone report of a run",
      .description =
          "Turns the result directory DIR into a report of three lengths: brief.md answers on two pages, "
          "milestone.md has each variant on a page, evidence.md every table, with SVG charts beside them; "
          "and "
          "milestone.html, one file that holds all of it and needs no network. Needs no GPU; the same run "
          "gives "
          "the same bytes. For milestone.pdf, the same page on paper, Chromium must be installed, or "
          "CHROMIUM "
          "name one.",
      .options = {{"format", "LIST", "md,html", "What to write: md, html, pdf."},
                  {"out", "DIR", "", "Where to write; without it into the result directory itself."},
                  {"title", "TEXT", "", "The report's title; without it the workload and the machine."},
                  {"author", "TEXT", "", "Who the report is by."},
                  {"only", "LIST", "",
                   "Only these variants (with the baselines that they are compared with): ids, separated by "
                   "commas."},
                  {"baseline", "ID", "",
                   "Compare every variant with this one instead of the baseline that it declares."},
                  {"templates", "DIR", "",
                   "Your own copies of templates/*: those found there replace the built-in ones."},
                  {"dump-view", "", "",
                   "Also write milestone.view.json: what the templates are given (docs/formats/view.md)."}},
      .run = report};
}

}  // namespace mprof::cli
