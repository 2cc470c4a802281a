// SPDX-License-Identifier: MIT
#include "runner/sanitize/sanitize.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "cli/family_options.hpp"
#include "cli/interrupts.hpp"
#include "cli/json_answer.hpp"
#include "cli/options.hpp"
#include "cli/sanitize_lines.hpp"
#include "cli/sources.hpp"
#include "cli/values.hpp"
#include "model/run_file.hpp"
#include "model/sanitizer_file.hpp"
#include "report/views/json_parts.hpp"
#include "runner/program/family.hpp"
#include "runner/result_directory.hpp"
#include "runner/sanitize/program.hpp"
#include "runner/worker.hpp"
#include "system/error.hpp"
#include "system/standard_input.hpp"
#include "system/suggest.hpp"
#include "system/watched_program.hpp"

namespace mprof::cli {
namespace {

namespace fs = std::filesystem;

std::vector<SanitizerTool> parse_tools(const std::string& text) {
  std::vector<SanitizerTool> tools;
  for (const std::string& name : split(text)) {
    SanitizerTool tool{};
    if (!from_string(name, tool)) {
      throw Error(
          ExitCode::usage,
          fmt::format("--tool {}: compute-sanitizer has no tool '{}' that mprof knows.{} The tools are "
                      "memcheck, racecheck, initcheck and synccheck.",
                      text, name, did_you_mean(name, {"memcheck", "racecheck", "initcheck", "synccheck"})));
    }
    if (std::find(tools.begin(), tools.end(), tool) == tools.end()) tools.push_back(tool);
  }
  return tools;
}

SanitizeRequest sanitize_request(const Arguments& arguments) {
  SanitizeRequest request;
  request.tools = parse_tools(arguments.text("tool"));
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

/// What a program that stands behind "--" has no use for.
void refuse_options_of_runs(const Arguments& arguments) {
  constexpr std::array<std::string_view, 4> taken{"tool", "timeout", "quiet", "json"};
  if (arguments.given("DIR"))
    throw Error(ExitCode::usage, "mprof sanitize takes a run's folder, or a program after --: give one.");
  for (const Option& option : arguments.options()) {
    if (std::ranges::count(taken, option.name) > 0 || option.argument.empty()) continue;
    if (arguments.given(option.name))
      throw Error(
          ExitCode::usage,
          fmt::format("--{} is for the variants of a run, and not for a program after --.", option.name));
  }
}

ExitCode exit_code_of(const SanitizeOutcome& outcome) {
  if (!outcome.completed) return ExitCode::interrupted;
  if (number_of(outcome.results, SanitizerStatus::errors) > 0) return ExitCode::wrong_output;
  const bool any = std::any_of(outcome.results.begin(), outcome.results.end(), is_conclusive);
  return any ? ExitCode::success : ExitCode::environment;
}

nlohmann::ordered_json json_of(const std::vector<SanitizerResult>& results) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const SanitizerResult& result : results)
    rows.push_back({{"variant", result.variant},
                    {"tool", to_string(result.tool)},
                    {"problem", problem_json(result.problem)},
                    {"status", to_string(result.status)},
                    {"reason", result.reason},
                    {"errors", result.errors},
                    {"warnings", result.warnings},
                    {"first_report", result.first_report}});
  return rows;
}

/// Of a result that is not clean: what the program wrote last.
void show_output(const SanitizedProgram& sanitized) {
  if (sanitized.result.status != SanitizerStatus::clean && !sanitized.output.empty())
    fmt::print(stderr, "The last lines of {} under {}:\n{}\n", sanitized.result.variant,
               to_string(sanitized.result.tool), sanitized.output);
}

int sanitize_own_program(const Arguments& arguments) {
  refuse_options_of_runs(arguments);
  ProgramToSanitize program{.command = arguments.program(),
                            .name = name_of_command(arguments.program()),
                            .timeout = parse_seconds("timeout", arguments.text("timeout"))};
  program.command.front() = program_path(program.command.front());
  std::vector<SanitizerTool> tools{SanitizerTool::memcheck};
  if (arguments.given("tool")) tools = parse_tools(arguments.text("tool"));
  JsonAnswer answer(arguments.flag("json"));
  const Sanitizer sanitizer = find_sanitizer(sanitizer_folders(), steady_clock());
  static_cast<void>(keep_standard_input());
  const Interrupts interrupts;
  program.interrupt_fd = interrupts.fd();
  SanitizeLines lines(tools.size(), arguments.flag("quiet"));
  SanitizeOutcome outcome;
  for (const SanitizerTool tool : tools) {
    lines.step_begins({.variant = program.name, .tool = tool, .skipped = sanitizer.absent});
    const std::optional<SanitizedProgram> sanitized =
        sanitize_program(program, tool, sanitizer, steady_clock());
    outcome.completed = sanitized.has_value();
    if (!sanitized) break;
    lines.step_ends(sanitized->result);
    show_output(*sanitized);
    outcome.results.push_back(sanitized->result);
  }
  const ExitCode code = exit_code_of(outcome);
  if (!outcome.results.empty()) fmt::print("{}\n", summary(outcome.results));
  if (code == ExitCode::interrupted) fmt::print("Interrupted.\n");
  if (code == ExitCode::environment)
    fmt::print("Nothing was found out: {}.\n", outcome.results.front().reason);
  answer.print("mprof.sanitize/1",
               {{"file", ""}, {"completed", outcome.completed}, {"results", json_of(outcome.results)}});
  return static_cast<int>(code);
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
  const ExitCode code = exit_code_of(done);
  if (!done.results.empty()) fmt::print("{}\n", summary(done.results));
  if (code == ExitCode::interrupted) {
    fmt::print("Interrupted; what was finished is in {}.\n", file.string());
  } else if (code == ExitCode::environment) {
    fmt::print("Nothing could be run under it: {}. Result: {}.\n",
               done.results.empty() ? "there is no result" : done.results.front().reason, file.string());
  } else {
    fmt::print("Result: {}. Next: mprof report {}\n", file.string(), path.string());
  }
  answer.print("mprof.sanitize/1",
               {{"file", file.string()}, {"completed", done.completed}, {"results", json_of(done.results)}});
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
          "own "
          "stands after `--`: it runs once under each tool (memcheck without --tool), and nothing is "
          "written. "
          "Its kernels have line numbers in the findings when nvcc compiled them with -lineinfo.",
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
