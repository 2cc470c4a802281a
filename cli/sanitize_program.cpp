// SPDX-License-Identifier: MIT
#include "cli/sanitize_program.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "cli/interrupts.hpp"
#include "cli/json_answer.hpp"
#include "cli/sanitize_lines.hpp"
#include "cli/values.hpp"
#include "report/views/json_parts.hpp"
#include "runner/program/family.hpp"
#include "runner/sanitize/program.hpp"
#include "runner/worker.hpp"
#include "system/error.hpp"
#include "system/standard_input.hpp"
#include "system/suggest.hpp"
#include "system/watched_program.hpp"

namespace mprof::cli {
namespace {

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

/// Of a result that is not clean: what the program wrote last.
void show_output(const SanitizedProgram& sanitized) {
  if (sanitized.result.status != SanitizerStatus::clean && !sanitized.output.empty())
    fmt::print(stderr, "The last lines of {} under {}:\n{}\n", sanitized.result.variant,
               to_string(sanitized.result.tool), sanitized.output);
}

}  // namespace

std::vector<SanitizerTool> parse_sanitizer_tools(const std::string& text) {
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

ExitCode exit_code_of_sanitizing(const SanitizeOutcome& outcome) {
  if (!outcome.completed) return ExitCode::interrupted;
  if (number_of(outcome.results, SanitizerStatus::errors) > 0) return ExitCode::wrong_output;
  const bool any = std::any_of(outcome.results.begin(), outcome.results.end(), is_conclusive);
  return any ? ExitCode::success : ExitCode::environment;
}

nlohmann::ordered_json sanitizer_json(const std::vector<SanitizerResult>& results) {
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

int sanitize_own_program(const Arguments& arguments) {
  refuse_options_of_runs(arguments);
  ProgramToSanitize program{.command = arguments.program(),
                            .name = name_of_command(arguments.program()),
                            .timeout = parse_seconds("timeout", arguments.text("timeout"))};
  program.command.front() = program_path(program.command.front());
  std::vector<SanitizerTool> tools{SanitizerTool::memcheck};
  if (arguments.given("tool")) tools = parse_sanitizer_tools(arguments.text("tool"));
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
  const ExitCode code = exit_code_of_sanitizing(outcome);
  if (!outcome.results.empty()) fmt::print("{}\n", summary(outcome.results));
  if (code == ExitCode::interrupted) fmt::print("Interrupted.\n");
  if (code == ExitCode::environment)
    fmt::print("Nothing was found out: {}.\n", outcome.results.front().reason);
  answer.print(
      "mprof.sanitize/1",
      {{"file", ""}, {"completed", outcome.completed}, {"results", sanitizer_json(outcome.results)}});
  return static_cast<int>(code);
}

}  // namespace mprof::cli
