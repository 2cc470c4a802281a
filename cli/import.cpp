// SPDX-License-Identifier: MIT
#include "runner/import.hpp"

#include <cstdio>

#include <fmt/format.h>

#include "cli/json_answer.hpp"
#include "cli/options.hpp"
#include "model/run_file.hpp"
#include "report/views/import_answer.hpp"
#include "report/views/run_json.hpp"
#include "system/error.hpp"

namespace mprof::cli {
namespace {

/// "FILE", or "NAME=FILE"; a file whose own name has a = is given as ./FILE.
ProfileFile profile_file(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || text.find('/') < equals) return {"", text};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

int import_files(const Arguments& arguments) {
  ImportOptions options;
  for (const std::string& text : arguments.texts("nsys")) options.traces.push_back(profile_file(text));
  for (const std::string& text : arguments.texts("torch")) options.torch.push_back(profile_file(text));
  for (const std::string& text : arguments.texts("ncu")) options.counters.push_back(profile_file(text));
  if (options.traces.empty() && options.torch.empty() && options.counters.empty()) {
    throw Error(
        ExitCode::usage,
        "mprof import needs a file: --nsys FILE.sqlite (of `nsys export --type sqlite`), --torch FILE.json "
        "(of PyTorch's profiler), --ncu FILE.csv (of `ncu --csv`), or a trace and counters together.");
  }
  if (!arguments.given("out"))
    throw Error(ExitCode::usage, "mprof import needs --out DIR: where to write the run.");
  options.ops = arguments.text("ops");
  options.out = arguments.text("out");
  options.mode =
      arguments.flag("overwrite") ? ResultDirectory::Mode::overwrite : ResultDirectory::Mode::create;
  options.command_line = arguments.command_line();
  JsonAnswer answer(arguments.flag("json"));
  const Imported imported = import_profiles(options);
  for (const std::string& note : imported.notes) fmt::print(stderr, "mprof: {}\n", note);
  for (std::size_t i = 0; i < imported.run.cases.size(); ++i) {
    const Case& c = imported.run.cases[i];
    fmt::print("{}: {}\n", c.id, find_variant(imported.run, c.key.variant)->title);
    const std::string others = other_kinds_text(imported.tallies.at(i));
    if (!others.empty())
      fmt::print("  also: {}. By op: mprof stats {} --report others_sum\n", others, options.out.string());
  }
  fmt::print("Result: {0}. Next: mprof report {0}\n", options.out.string());
  if (answer.is_wanted()) answer.print("mprof.run/1", run_json(read_run(options.out), options.out.string()));
  return 0;
}

}  // namespace

Verb import_verb() {
  return {
      .name = "import",
      .summary = "make a run of files of Nsight Systems, Nsight Compute and PyTorch",
      .description =
          "Makes the result directory --out from the files of other tools; report, stats, compare and "
          "export read it. Each program is a variant of the family program. Its ops are its outermost "
          "NVTX ranges, or the whole program. Counters are matched to kernels of the same name. Times "
          "without a profiler are unknown, and no output was verified.",
      .examples = {{"mprof import --nsys app.sqlite --ncu app.csv --out app", "with counters of ncu --csv"},
                   {"mprof import --torch trace.json.gz --out t", "a trace of PyTorch's profiler"},
                   {"mprof import --nsys old=a.sqlite new=b.sqlite --out both", "two programs to compare"}},
      .section = Section::data,
      .options = {{"nsys", "[NAME=]FILE", "",
                   "A database that `nsys export --type sqlite` made. NAME is the program's name; by default "
                   "the name of the file. The first program is the baseline of the others.",
                   true},
                  {"torch", "[NAME=]FILE", "",
                   "A trace that PyTorch's profiler wrote (`export_chrome_trace`), also compressed by gzip. "
                   "Its ops are its annotations.",
                   true},
                  {"ncu", "[NAME=]FILE", "",
                   "The output of `ncu --csv`: the details page, the raw page or a summary. Without NAME it "
                   "belongs to the only program that was traced.",
                   true},
                  {"ops", "GLOB", "", "The NVTX ranges that are ops. Default: the outermost ones."},
                  {"out", "DIR", "", "The directory of the run."},
                  {"overwrite", "", "", "Replace the run in --out."},
                  json_answer_option()},
      .run = import_files,
      .meant = [](const std::string& word) {
        const bool is_counters = word.ends_with(".csv");
        const bool is_torch = word.ends_with(".json") || word.ends_with(".json.gz");
        return fmt::format("To import it: mprof import --{} {} --out DIR.",
                           is_counters ? "ncu"
                           : is_torch  ? "torch"
                                       : "nsys",
                           word);
      }};
}

}  // namespace mprof::cli
