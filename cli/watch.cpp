// SPDX-License-Identifier: MIT
#include <cstdio>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "cli/family_options.hpp"
#include "cli/interrupts.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "cli/sources.hpp"
#include "cli/terminal.hpp"
#include "cli/values.hpp"
#include "cli/version_lines.hpp"
#include "runner/watch/watched_source.hpp"
#include "runner/watch/watched_suite.hpp"
#include "runner/worker.hpp"

namespace mprof::cli {
namespace {

namespace fs = std::filesystem;

WatchRequest watch_request_of(const Arguments& arguments) {
  return {.rounds = parse_rounds(arguments.text("rounds")),
          .sampling_time = parse_seconds("sampling-time", arguments.text("sampling-time")),
          .timeout = parse_seconds("timeout", arguments.text("timeout")),
          .command_line = arguments.command_line(),
          .problem = [&](const Family& family) { return one_problem(arguments, family); }};
}

/// Throws Error(usage) for a command that no version could mend.
std::unique_ptr<Watched> watched_by(const Arguments& arguments, Sources& sources) {
  const std::string file = arguments.text("FILE");
  WatchRequest request = watch_request_of(arguments);
  if (fs::path(file).extension() == ".toml") {
    for (const char* option : {"against", "compiler-flags", "sampling-time"}) {
      if (arguments.given(option))
        throw Error(
            ExitCode::usage,
            fmt::format("--{} is for a source: what a suite's programs are is said in the suite.", option));
    }
    return std::make_unique<WatchedSuite>(file, std::move(request));
  }
  Registry& registry = Registry::instance();
  const auto build = [&arguments, &sources, file] {
    return sources.load({.patterns = {fs::absolute(file).lexically_normal().string()},
                         .flags = compiler_flags(arguments),
                         .baseline = arguments.text("against")});
  };
  auto source = std::make_unique<WatchedSource>(file, std::move(request), registry, build, [&] {
    return locate_inputs(arguments, Registry::instance());
  });
  static_cast<void>(one_problem(arguments, *registry.families().front()));
  return source;
}

int watch(const Arguments& arguments) {
  Sources sources(arguments, false);  // as long as anything of them is measured
  const std::unique_ptr<Watched> watched = watched_by(arguments, sources);
  const fs::path out =
      arguments.given("out") ? fs::path(arguments.text("out")) : default_result_path(utc_now(), "watch");
  if (fs::exists(out / "1"))
    throw Error(ExitCode::usage,
                fmt::format("--out {}: it holds versions already; name another directory.", out.string()));
  const Interrupts interrupts;
  const auto progress =
      make_progress(stderr_is_terminal() ? ProgressStyle::bar : ProgressStyle::quiet, steady_clock());
  VersionLines lines(arguments.text("FILE"));
  const std::size_t measured = mprof::watch(*watched,
                                            {.out = out,
                                             .worker_command = own_worker(),
                                             .clock = steady_clock(),
                                             .progress = *progress,
                                             .interrupt_fd = interrupts.fd()},
                                            lines);
  if (measured == 0)
    fmt::print("\nNo version was measured.\n");
  else
    fmt::print("\nMeasured {} of {}; each is a run in {}.\n",
               measured == 1 ? "1 version" : fmt::format("{} versions", measured), arguments.text("FILE"),
               out.string());
  return static_cast<int>(ExitCode::success);
}

}  // namespace

Verb watch_verb() {
  std::vector<Option> options{
      {"against", "ID", "", "The variant to compare with. Default: the baseline that the source declares."},
      {"compiler-flags", "TEXT", "",
       "More options for the compiler, separated by blanks, such as '-lcublas'."},
      {"rounds", "N", "3", "Fresh processes in which each version and its baseline are timed."},
      {"sampling-time", "S", "1.5", "Longest sampling of a case over all rounds, in seconds."},
      {"timeout", "S", "60", "Time limit of a case in one pass, in seconds."},
      {"out", "DIR", "results/<UTC time>-watch",
       "Where the run of each version is kept: DIR/1, DIR/2 and so on."},
  };
  add_axis_options(options, Registry::instance(), AxisUse::one);
  add_input_options(options, Registry::instance());
  return {
      .name = "watch",
      .positional = "FILE",
      .summary = "measure a source or a suite each time you save it",
      .description =
          "Builds the source, verifies it, and measures it and its baseline at one problem. It prints the "
          "verdict, the change since the version before, and the first reason. Then it waits until the "
          "file, or a source or header beside it, is saved. A version that does not compile or is wrong is "
          "skipped. FILE may be a suite, such as mprof.toml. Ctrl-C ends it.",
      .examples = {{"mprof watch mine.cu", "your kernel against its baseline"},
                   {"mprof watch mine.cu --against {variant}", "against another variant"},
                   {"mprof watch mprof.toml", "the programs of a suite"}},
      .section = Section::compare,
      .options = std::move(options),
      .run = watch,
      .takes_sources = true};
}

}  // namespace mprof::cli
