#include "runner/import.hpp"

#include <cstdio>

#include <fmt/format.h>

#include "cli/options.hpp"
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
  for (const std::string& text : arguments.texts("ncu")) options.counters.push_back(profile_file(text));
  if (options.traces.empty() && options.counters.empty()) {
    throw Error(
        ExitCode::usage,
        "mprof import needs a file: --nsys FILE.sqlite (of `nsys export --type sqlite`), --ncu FILE.csv "
        "(of `ncu --csv`), or both.");
  }
  if (!arguments.given("out"))
    throw Error(ExitCode::usage, "mprof import needs --out DIR: where the run is to be.");
  options.ops = arguments.text("ops");
  options.out = arguments.text("out");
  options.mode =
      arguments.flag("overwrite") ? ResultDirectory::Mode::overwrite : ResultDirectory::Mode::create;
  options.command_line = arguments.command_line();
  const Imported imported = import_profiles(options);
  for (const std::string& note : imported.notes) fmt::print(stderr, "mprof: {}\n", note);
  for (const Case& c : imported.run.cases) {
    fmt::print("{}: {}\n", c.id, find_variant(imported.run, c.key.variant)->title);
  }
  fmt::print("Result: {0}. Next: mprof report {0}\n", options.out.string());
  return 0;
}

}  // namespace

Verb import_verb() {
  return {
      .name = "import",
      .positional = "",
      .summary = "make a run of files of Nsight Systems and Nsight Compute",
      .description =
          "Makes the result directory --out of what other tools recorded: report, stats, compare and export "
          "take "
          "it as they take a run of mprof's own. Each program is a variant of the family program, and its "
          "ops are "
          "its outermost NVTX ranges, or the whole. Counters go to the kernels of the trace that are called "
          "alike. "
          "Nothing is known of times without a profiler, and no output was verified. A file that cannot be "
          "read: "
          "exit code 2, and nothing is written.",
      .options =
          {{"nsys", "[NAME=]FILE", "",
            "A database that `nsys export --type sqlite` made, of any version. NAME is what the program is "
            "called; without it the file's name. The first program is the others' baseline.",
            true},
           {"ncu", "[NAME=]FILE", "",
            "What `ncu --csv` printed: the details page, the raw page or a summary. Without NAME it is of "
            "the only program that was traced.",
            true},
           {"ops", "GLOB", "", "The NVTX ranges that are ops; without it the outermost ones."},
           {"out", "DIR", "", "Where the run is to be."},
           {"overwrite", "", "", "Replace the run in --out."}},
      .run = import_files};
}

}  // namespace mprof::cli
