// SPDX-License-Identifier: MIT
#include <array>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>
#include <fnmatch.h>

#include "cli/options.hpp"
#include "cli/stats_tables.hpp"
#include "model/run_file.hpp"
#include "model/trace/reader.hpp"
#include "report/analysis/evidence.hpp"
#include "report/trace/profile_tables.hpp"
#include "report/trace/profile_text.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "system/output_writer.hpp"
#include "system/suggest.hpp"

namespace mprof::cli {
namespace {

namespace fs = std::filesystem;

/// What answers "where did the time go", without the long ones.
constexpr std::array<std::string_view, 6> usual_reports{"cuda_api_sum",          "cuda_gpu_kern_sum",
                                                        "cuda_gpu_kern_gb_sum",  "cuda_gpu_mem_time_sum",
                                                        "cuda_gpu_mem_size_sum", "nvtx_pushpop_sum"};

std::vector<const ProfileReport*> parse_reports(const std::string& text) {
  std::vector<const ProfileReport*> reports;
  for (const std::string& name : split(text)) {
    if (name == "usual") {
      for (const std::string_view usual : usual_reports) reports.push_back(&profile_report(usual));
    } else if (name == "all") {
      for (const ProfileReport& report : profile_reports()) reports.push_back(&report);
    } else {
      reports.push_back(&profile_report(name));
    }
  }
  if (reports.empty()) throw Error(ExitCode::usage, "--report needs a name, such as cuda_gpu_kern_sum.");
  return reports;
}

/// The trace of a result directory, or the file that was given itself.
fs::path trace_in(const fs::path& given) {
  std::error_code error;
  if (!fs::is_directory(given, error)) return given;
  const fs::path file = given / trace::file_name;
  if (fs::exists(fs::symlink_status(file, error))) {
    require_within(given, file);
    return file;
  }
  throw Error(ExitCode::usage,
              fmt::format("{} holds no trace.sqlite: {}. `mprof run` traces the variants for a GPU.",
                          given.string(), why_not_traced(read_run(given))));
}

/// The cases that a glob matches. An id with parameters has brackets, which a glob takes for something else,
/// so an id itself is as good as a pattern.
std::vector<std::string> matching_cases(const fs::path& trace, const std::string& glob) {
  const std::vector<std::string> known = trace::traced_cases(trace);
  if (known.empty()) {
    throw Error(ExitCode::usage,
                fmt::format("--case {}: {} does not say which cases it has, as no export of Nsight "
                            "Systems does. Leave --case out.",
                            glob, trace.string()));
  }
  std::vector<std::string> chosen;
  for (const std::string& id : known) {
    if (id == glob || fnmatch(glob.c_str(), id.c_str(), 0) == 0) chosen.push_back(id);
  }
  if (!chosen.empty()) return chosen;
  throw Error(ExitCode::usage,
              fmt::format("--case {}: {} has no such case.{} It has {} cases, such as {}.", glob,
                          trace.string(), did_you_mean(glob, known), known.size(), known.front()));
}

int stats(const Arguments& arguments) {
  const std::vector<const ProfileReport*> reports = parse_reports(arguments.text("report"));
  const std::string format = arguments.format();
  require_profile_format(format);
  const fs::path trace = trace_in(arguments.text("DIR"));
  trace::Query query{.with_pauses = arguments.flag("with-pauses")};
  if (arguments.given("case")) query.cases = matching_cases(trace, arguments.text("case"));
  trace::TraceFile file(trace, query);
  if (!arguments.given("out")) {
    print_reports(reports, format, file,
                  [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); });
    return 0;
  }
  OutputWriter output(arguments.text("out"));
  print_reports(reports, format, file, [&](std::string_view text) { output.write(text); });
  output.commit();
  fmt::print("{}\n", arguments.text("out"));
  return 0;
}

std::string report_names() {
  std::vector<std::string_view> names;
  for (const ProfileReport& report : profile_reports()) names.push_back(report.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

Verb stats_verb() {
  return {.name = "stats",
          .positional = "DIR",
          .summary = "print tables of the trace, in the columns of nsys stats",
          .description =
              "Prints tables of the trace in the result directory DIR, with the names, columns and units of "
              "`nsys stats`. DIR may also be a database that `nsys export --type sqlite` made.",
          .examples = {{"mprof stats results/a", "the usual tables"},
                       {"mprof stats results/a --report cuda_gpu_kern_sum", "one table"},
                       {"mprof stats results/a --format csv --out stats.csv", "as CSV"}},
          .section = Section::data,
          .options =
              {{"report", "LIST", "usual",
                fmt::format(
                    "The tables: all, usual (the first six), or names from this list: {}. Older names, like "
                    "gpukernsum, work too.",
                    report_names())},
               chosen_from("table csv json", {"format", "NAME", "table", "table, csv or json."}),
               json_option(),
               {"case", "GLOB", "", "Only the cases that match, like '*@100'."},
               {"with-pauses", "", "", "Also what mprof does between two ops, such as flushing the caches."},
               {"out", "FILE", "", "Write to this file. Default: standard output."}},
          .run = stats};
}

}  // namespace mprof::cli
