// SPDX-License-Identifier: MIT
#include "report/page/report.hpp"

#include <fmt/format.h>

#include "cli/json_answer.hpp"
#include "cli/options.hpp"
#include "cli/output_lock.hpp"
#include "kernels/sources.hpp"
#include "model/run_file.hpp"
#include "report/analysis/evidence.hpp"
#include "report/materials/materials.hpp"
#include "report/views/run_json.hpp"
#include "runner/result_directory.hpp"
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

/// Of the file that a reader opens first.
std::string best_format(const std::vector<std::string>& formats) {
  for (const char* const format : {"html", "pdf"}) {
    if (std::ranges::find(formats, format) != formats.end()) return format;
  }
  return "md";
}

/// The first page as data; no file is written.
int print_brief(const std::filesystem::path& directory, const ReportOptions& options) {
  TracedRun read = read_traced_run(directory, evidence_parts);
  const Run run = selected(read.run, options.selection);
  const Materials materials = read_materials(run, directory, options.own_sources, std::move(read.trace));
  const RunAnalysis analysis = analyse(run, materials.sanitizer ? &*materials.sanitizer : nullptr, &read.run);
  nlohmann::ordered_json document{{"run", directory.string()}};
  document.update(brief_json(analysis, materials));
  JsonAnswer(true).print("mprof.report/1", document);
  return 0;
}

int report(const Arguments& arguments) {
  const std::filesystem::path directory =
      arguments.given("DIR") ? std::filesystem::path(arguments.text("DIR")) : newest_result();
  if (!arguments.given("DIR")) fmt::print(stderr, "The newest run is {}.\n", directory.string());
  require_folder(arguments.text("out"));
  ReportOptions options;
  options.formats = parse_formats(arguments.text("format"));
  options.out = arguments.given("out") ? std::filesystem::path(arguments.text("out")) : directory;
  options.templates = arguments.text("templates");
  options.directory = directory;
  options.text = {arguments.text("title"), arguments.text("author")};
  options.selection = {split(arguments.text("only")), arguments.text("baseline")};
  options.own_sources = source_text;
  options.dump_view = arguments.flag("dump-view");
  if (arguments.flag("json")) return print_brief(directory, options);
  const bool quiet = arguments.flag("quiet");
  const std::string to_open = "milestone." + best_format(options.formats);
  options.written = [&](const std::filesystem::path& file) {
    if (!quiet || file.filename() == to_open) fmt::print("{}\n", file.string());
  };
  TracedRun read = read_traced_run(directory, evidence_parts);
  const OutputLock lock(options.out);
  write_report(read.run, options, std::move(read.trace));
  return 0;
}

}  // namespace

Verb report_verb() {
  return {
      .name = "report",
      .positional = "[DIR]",
      .summary = "write the report of a run: HTML and Markdown",
      .description =
          "Writes a report of the result directory DIR, or of the newest run below results/. Two pages of "
          "answers are in brief.md, a page for each variant in milestone.md, every table in evidence.md. One "
          "HTML file, milestone.html, has all of it and needs no network. The same run gives the same "
          "bytes.",
      .examples = {{"mprof report", "the newest run below results/"},
                   {"mprof report results/a --format html --out report", "one HTML file, elsewhere"},
                   {"mprof report results/a --only {variant} --title Milestone", "some variants, by title"}},
      .section = Section::start,
      .options =
          {chosen_from("md html pdf",
                       {"format", "LIST", "md,html",
                        "What to write: md, html, pdf. For pdf, Chromium must be installed, or named by the "
                        "variable CHROMIUM."}),
           {"out", "DIR", "", "Where to write. Default: the result directory."},
           {"title", "TEXT", "", "The report's title. Default: the workload and the machine."},
           {"author", "TEXT", "", "The report's author."},
           {"only", "LIST", "", "Only these variants and their baselines: ids, separated by commas."},
           {"baseline", "ID", "",
            "Compare every variant with this one. Default: the baseline that it declares."},
           {"templates", "DIR", "",
            "Your own copies of templates/*. They replace the built-in ones of the same name."},
           {"dump-view", "", "",
            "Also write milestone.view.json, the data of the templates (docs/formats/view.md)."},
           {"quiet", "", "", "Print only the file to open."},
           {"json", "", "",
            "Write no file; print the answers of the first page as JSON (docs/formats/verbs-json.md)."}},
      .run = report};
}

}  // namespace mprof::cli
