// SPDX-License-Identifier: MIT
#include "runner/sanitize/sanitize.hpp"

#include <cstdio>
#include <set>

#include <fmt/format.h>

#include "cli/family_options.hpp"
#include "cli/interrupts.hpp"
#include "cli/json_answer.hpp"
#include "cli/options.hpp"
#include "cli/sanitize_lines.hpp"
#include "cli/sanitize_program.hpp"
#include "cli/sources.hpp"
#include "cli/values.hpp"
#include "model/run_file.hpp"
#include "model/sanitizer_file.hpp"
#include "runner/result_directory.hpp"
#include "runner/worker.hpp"
#include "system/error.hpp"

namespace mprof::cli {
namespace {

namespace fs = std::filesystem;

SanitizeRequest sanitize_request(const Arguments& arguments) {
  SanitizeRequest request;
  request.tools = parse_sanitizer_tools(arguments.text("tool"));
  for (const std::string& list : arguments.texts("variant")) {
    for (const std::string& pattern : split(list)) request.patterns.push_back(pattern);
  }
  request.values = axis_values(arguments);
  return request;
}

/// Missing or corrupt inputs end it before it begins, unless nothing would read them.
void validate_inputs(const Run& run, const std::vector<SanitizeStep>& steps, const InputPaths& inputs) {
  std::set<std::string> families;
  for (const SanitizeStep& step : steps) {
    if (step.skipped.empty()) families.insert(find_variant(run, step.variant)->family);
  }
  for (const std::string& family : families) {
    static_cast<void>(Registry::instance().family(family)->validate(inputs));
  }
}

int sanitize(const Arguments& arguments) {
  if (!arguments.program().empty()) return sanitize_own_program(arguments);
  const SanitizeRequest request = sanitize_request(arguments);
  const double timeout = parse_seconds("timeout", arguments.text("timeout"));
  const fs::path path = arguments.text("DIR");
  JsonAnswer answer(arguments.flag("json"));
  Run run = read_run(path);
  Sources sources(arguments, arguments.flag("quiet"));
  sources.reload(run);
  const ResultDirectory directory(path, ResultDirectory::Mode::resume);
  const fs::path file = sanitizer_file(path);
  SanitizerRecord record = read_sanitizer_record(file).value_or(SanitizerRecord{});
  const Sanitizer sanitizer = find_sanitizer(sanitizer_folders(), steady_clock());
  const std::vector<SanitizeStep> steps =
      plan_sanitize(run, request, Registry::instance(), Devices::instance(), sanitizer);
  if (steps.empty()) throw Error(ExitCode::usage, path.string() + " holds a run without a case.");
  const InputPaths inputs = locate_inputs(arguments, Registry::instance(), run.plan.inputs);
  validate_inputs(run, steps, inputs);

  const Interrupts interrupts;
  SanitizeLines lines(steps.size(), arguments.flag("quiet"));
  const SanitizeOutcome done = mprof::sanitize(run, record, steps,
                                               {.sanitizer = sanitizer,
                                                .worker_command = own_worker(),
                                                .file = file,
                                                .inputs = inputs,
                                                .timeout = timeout,
                                                .clock = steady_clock(),
                                                .progress = lines,
                                                .interrupt_fd = interrupts.fd()});
  const ExitCode code = exit_code_of_sanitizing(done);
  if (!done.results.empty()) fmt::print("{}\n", summary(done.results));
  if (code == ExitCode::interrupted) {
    fmt::print("Interrupted; what was finished is in {}.\n", file.string());
  } else if (code == ExitCode::environment) {
    fmt::print("Nothing could be run under it: {}. Result: {}.\n",
               done.results.empty() ? "there is no result" : done.results.front().reason, file.string());
  } else {
    fmt::print("Result: {}. Next: mprof report {}\n", file.string(), path.string());
  }
  answer.print(
      "mprof.sanitize/1",
      {{"file", file.string()}, {"completed", done.completed}, {"results", sanitizer_json(done.results)}});
  return static_cast<int>(code);
}

}  // namespace

Verb sanitize_verb() {
  std::vector<Option> options{
      {"tool", "LIST", "memcheck,racecheck,initcheck,synccheck",
       "The tools: memcheck (accesses out of bounds or misaligned), racecheck (hazards in shared memory), "
       "initcheck (reads of memory that was never written), synccheck (invalid barriers)."},
      {"variant", "LIST", "", "Only these variants of the run. Patterns like '*/fp*' work too.", true},
      {"timeout", "S", "600", "Time limit of a variant under one tool, in seconds."},
      {"quiet", "", "", "Print only what is not clean, and where the result is."},
      json_answer_option(),
  };
  add_axis_options(options, Registry::instance(), AxisUse::single);
  add_input_options(options, Registry::instance());
  return {
      .name = "sanitize",
      .positional = "DIR",
      .summary = "run the variants under NVIDIA's compute-sanitizer",
      .description =
          "Runs each CUDA variant of the run in DIR under NVIDIA's compute-sanitizer, on a small problem, "
          "one tool after another. The findings go to DIR/sanitizer.json, which `mprof report` shows. The "
          "exit code is 3 when errors were found, and 5 when nothing could run under it. A program of your "
          "own stands after `--`: it runs once under each tool (memcheck without --tool), and nothing is "
          "written. Its kernels have line numbers in the findings when nvcc compiled them with -lineinfo.",
      .examples = {{"mprof sanitize results/a", "all CUDA variants under all tools"},
                   {"mprof sanitize results/a --tool memcheck --variant '{family}/*'",
                    "some of them, under one"},
                   {"mprof sanitize -- ./program ARGUMENT", "your own program, under memcheck"}},
      .section = Section::start,
      .options = std::move(options),
      .run = sanitize,
      .takes_program = true};
}

}  // namespace mprof::cli
