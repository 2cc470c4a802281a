// SPDX-License-Identifier: MIT
#include "cli/suite_run.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <random>
#include <string_view>

#include <fmt/format.h>

#include "cli/interrupts.hpp"
#include "cli/planned_run.hpp"
#include "cli/program_run.hpp"
#include "device/device.hpp"
#include "inputs/suite_file.hpp"
#include "model/metric_presets.hpp"
#include "model/run_file.hpp"
#include "runner/program/program_run.hpp"
#include "runner/suite/family.hpp"
#include "runner/suite/suite_run.hpp"
#include "system/error.hpp"

namespace mprof::cli {
namespace {

namespace fs = std::filesystem;

/// Those of run's options that a suite takes too; axes are its own.
bool takes(const Option& option) {
  constexpr std::string_view taken[] = {"suite",  "all",    "variant",   "problem",  "passes", "metrics",
                                        "quick",  "rounds", "seed",      "timeout",  "ops",    "out",
                                        "resume", "quiet",  "overwrite", "baseline", "json"};
  return option.origin == Option::Origin::axis || std::ranges::find(taken, option.name) != std::end(taken);
}

void refuse_options_of_variants(const Arguments& arguments) {
  for (const Option& option : arguments.options()) {
    const bool given = option.argument.empty() ? arguments.flag(option.name) : arguments.given(option.name);
    if (given && !takes(option))
      throw Error(ExitCode::usage, fmt::format("--{} is not for the programs of a suite.", option.name));
  }
  if (arguments.flag("resume") && arguments.flag("overwrite"))
    throw Error(ExitCode::usage,
                "--resume and --overwrite exclude each other: go on with the run, or replace it.");
  if (arguments.flag("resume") && !arguments.given("out"))
    throw Error(ExitCode::usage, "--resume needs --out DIR: the directory of the run to go on with.");
}

/// What is selected is selected in the suite, whatever the machine has; its programs need not be called after
/// it.
RunRequest request_of(const Arguments& arguments, const Suite& suite) {
  RunRequest request = given_request(arguments, {});
  if (request.all) request.devices = {"all"};
  for (std::string& pattern : request.patterns) {
    if (pattern.find('/') == std::string::npos) pattern = fmt::format("{}/{}", suite.name, pattern);
  }
  return request;
}

RunRequest completed(RunRequest request, const Suite& suite) {
  if (!request.all && request.patterns.empty())
    throw Error(ExitCode::usage, fmt::format("say what to run of {}: --all, or --variant {}, for example.",
                                             suite.file.filename().string(), suite.programs.front().name));
  if (request.passes.empty()) request.passes = ProgramRequest{}.passes;
  if (request.metrics.empty()) request.metrics = preset_metrics("default");
  if (!request.seed) request.seed = std::random_device{}();
  if (!request.timeout) request.timeout = ProgramRequest{}.timeout;
  return request;
}

Run new_suite_run(const Arguments& arguments, const Suite& suite, const Registry& registry) {
  Run run = planned_suite_run(completed(request_of(arguments, suite), suite), arguments.text("ops"), registry,
                              arguments.command_line());
  const Interrupts interrupts;
  build_suite(suite, run.plan.variants, steady_clock(), interrupts.fd(), [&](const std::string& command) {
    if (!arguments.flag("quiet")) fmt::print(stderr, "Building: {}\n", command);
  });
  find_programs(suite, run);
  return run;
}

Run resumed_suite_run(const Arguments& arguments, const Suite& suite, const Registry& registry,
                      const ResultDirectory& directory) {
  Run run = directory.load();
  const std::string path = directory.path().string();
  if (find_family(run, suite.name) == nullptr || run.plan.sources.empty())
    throw Error(ExitCode::usage, fmt::format("--resume: {} is no run of {}.", path, suite.file.string()));
  refuse_other_maker(run, directory);
  require_unchanged(suite, run);
  refuse_contradictions(contradictions(request_of(arguments, suite), run.plan, registry, Devices::instance()),
                        path);
  if (arguments.given("rounds")) run.plan.rounds = *given_request(arguments, {}).rounds;
  return run;
}

}  // namespace

int run_suite(const Arguments& arguments) {
  refuse_options_of_variants(arguments);
  const std::optional<Run> baseline =
      arguments.given("baseline") ? std::optional(read_run(arguments.text("baseline"))) : std::nullopt;
  const Suite suite = read_suite(arguments.text("suite"));
  Registry registry;
  register_suite(suite, registry);
  keep_input(arguments);
  const auto measure = [&](Run& run, ResultDirectory& directory) {
    return measure_and_tell(run, directory, arguments, baseline,
                            {.on_interrupt = fmt::format("Go on with: mprof run --suite {} --resume --out {}",
                                                         arguments.text("suite"), directory.path().string()),
                             .program_of = [&](const Case& c, int interrupt_fd) {
                               return program_of_suite(suite, run, c, steady_clock(), interrupt_fd);
                             }});
  };
  if (arguments.flag("resume")) {
    ResultDirectory directory(arguments.text("out"), ResultDirectory::Mode::resume);
    Run run = resumed_suite_run(arguments, suite, registry, directory);
    return measure(run, directory);
  }
  Run run = new_suite_run(arguments, suite, registry);
  const fs::path out =
      arguments.given("out") ? fs::path(arguments.text("out")) : default_result_path(run.started, suite.name);
  ResultDirectory directory(
      out, arguments.flag("overwrite") ? ResultDirectory::Mode::overwrite : ResultDirectory::Mode::create,
      {.resume = true, .overwrite = true});
  directory.save(run);
  return measure(run, directory);
}

}  // namespace mprof::cli
