// SPDX-License-Identifier: MIT
#include "cli/program_run.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <optional>
#include <regex>
#include <string_view>

#include <fmt/format.h>

#include "cli/interrupts.hpp"
#include "cli/json_answer.hpp"
#include "cli/planned_run.hpp"
#include "cli/progress.hpp"
#include "cli/terminal.hpp"
#include "cli/values.hpp"
#include "collectors/gpu_sampling.hpp"
#include "model/derive/derive.hpp"
#include "model/run_file.hpp"
#include "report/views/run_json.hpp"
#include "report/views/summary.hpp"
#include "runner/program/family.hpp"
#include "runner/program/program_run.hpp"
#include "runner/worker.hpp"
#include "system/error.hpp"
#include "system/numbers.hpp"
#include "system/standard_input.hpp"
#include "system/watched_program.hpp"

namespace mprof::cli {
namespace {

namespace fs = std::filesystem;

/// Those of run's options that a program takes too.
bool takes(std::string_view option) {
  constexpr std::string_view taken[] = {"passes",   "rounds", "timeout", "out", "overwrite",
                                        "baseline", "quiet",  "metrics", "json"};
  return std::ranges::find(taken, option) != std::end(taken);
}

bool is_of_programs(const Option& option) {
  return std::ranges::any_of(program_options(), [&](const Option& own) { return own.name == option.name; });
}

void refuse_others_options(const Arguments& arguments) {
  for (const Option& option : arguments.options()) {
    const bool is_flag = option.argument.empty();
    const bool given = is_flag ? arguments.flag(option.name) : arguments.given(option.name);
    if (!given || takes(option.name) || is_of_programs(option)) continue;
    const std::string_view instead = option.name == "quick" ? " Use --rounds 1 for a short run of it." : "";
    throw Error(ExitCode::usage,
                fmt::format("--{} is for variants of mprof's families, and not for a program after --.{}",
                            option.name, instead));
  }
}

/// What chooses kernels says nothing where none are counted.
void require_counters_pass(const Arguments& arguments, const std::vector<Pass>& passes) {
  if (std::ranges::find(passes, Pass::counters) != passes.end()) return;
  for (const char* option : {"kernels", "launch-skip", "max-kernels"}) {
    if (arguments.given(option))
      throw Error(ExitCode::usage,
                  fmt::format("--{} is for the counters pass, which --passes leaves out.", option));
  }
}

void require_window_passes(const Arguments& arguments, const ProgramRequest& request) {
  if (!arguments.given("window")) return;
  const trace::Window window = require_window(request.window);
  const auto has = [&](Pass pass) { return std::ranges::count(request.passes, pass) > 0; };
  if (!has(Pass::trace) && !has(Pass::counters) && !has(Pass::source))
    throw Error(ExitCode::usage,
                "--window is for the trace, the counters and the hot lines, which --passes leaves out.");
  if (window.kind == trace::Window::Kind::steps && !has(Pass::timing))
    throw Error(ExitCode::usage,
                fmt::format("--window {}: the timing pass finds the steps, which --passes leaves out.",
                            request.window));
}

void require_regular_expression(const std::string& text, bool given) {
  if (given && text.empty())
    throw Error(ExitCode::usage, "--kernels '': give a regular expression, or leave it out to count all.");
  try {
    const std::regex tried(text);
  } catch (const std::regex_error& error) {
    throw Error(ExitCode::usage,
                fmt::format("--kernels '{}' is no regular expression of ECMAScript ({}). Characters such as "
                            "( [ * + stand for themselves behind a backslash.",
                            text, error.what()));
  }
}

std::uint64_t parse_count(const Arguments& arguments, const std::string& option) {
  const std::optional<std::uint64_t> count = parse_whole(arguments.text(option));
  if (count && *count > 0) return *count;
  throw Error(ExitCode::usage,
              fmt::format("--{} {}: give a whole number from 1 on.", option, arguments.text(option)));
}

/// "100us", "1ms", in s.
double parse_sample_interval(const std::string& text) {
  for (const auto& [unit, size] : {std::pair{"us", 1e-6}, std::pair{"ms", 1e-3}}) {
    if (!text.ends_with(unit)) continue;
    const auto number = parse_as<double>(text.substr(0, text.size() - std::string_view(unit).size()));
    if (!number || !std::isfinite(*number)) break;
    const double seconds = *number * size;
    if (seconds > 0 && seconds < least_sample_interval * (1 - 1e-9))
      throw Error(ExitCode::usage,
                  fmt::format("--sample={}: the shortest interval is 50us, which the hardware's buffer can "
                              "keep up with.",
                              text));
    if (seconds <= 0 || seconds > longest_sample_interval) break;
    return seconds;
  }
  throw Error(ExitCode::usage,
              fmt::format("--sample={}: give the time between two samples, from 50us to 1000ms.", text));
}

ProgramRequest request_of(const Arguments& arguments) {
  const RunRequest given = given_request(arguments, {});
  ProgramRequest request{.command = arguments.program(), .command_line = arguments.command_line()};
  request.path = program_path(request.command.front());
  request.name = arguments.given("name") ? arguments.text("name") : name_of_command(request.command);
  require_program_name(request.name);
  if (!given.passes.empty()) request.passes = given.passes;
  require_counters_pass(arguments, request.passes);
  request.rounds = given.rounds;
  if (given.timeout) request.timeout = *given.timeout;
  request.ops = arguments.text("ops");
  request.window = arguments.text("window");
  require_window_passes(arguments, request);
  request.metrics = given.metrics;
  request.kernels = arguments.text("kernels");
  require_regular_expression(request.kernels, arguments.given("kernels"));
  if (arguments.given("launch-skip")) request.launch_skip = parse_count(arguments, "launch-skip");
  if (arguments.given("max-kernels")) request.max_kernels = parse_count(arguments, "max-kernels");
  if (arguments.given("sample")) {
    if (std::ranges::count(request.passes, Pass::trace) == 0)
      throw Error(ExitCode::usage, "--sample goes with the trace pass, which --passes leaves out.");
    request.sample_interval = parse_sample_interval(arguments.text("sample"));
  }
  request.without_stacks = arguments.flag("no-stacks");
  if (arguments.given("replay-limit")) {
    const std::string limit = arguments.text("replay-limit");
    request.replay_limit = limit == "0" ? 0 : parse_seconds("replay-limit", limit);
  }
  return request;
}

bool has_failed(const PassResult& pass) {
  return pass.status != Status::ok && pass.status != Status::skipped;
}

ExitCode exit_code_of_programs(const Run& run) {
  if (run.state == RunState::interrupted) return ExitCode::interrupted;
  const bool failed =
      std::ranges::any_of(run.cases, [](const Case& c) { return std::ranges::any_of(c.passes, has_failed); });
  return failed ? ExitCode::wrong_output : ExitCode::success;
}

/// What the trace pass of a program that failed knows of it, such as the kernel at fault.
void show_trace_notes(const Case& c) {
  const PassResult* const trace = find_pass(c, Pass::trace);
  if (trace == nullptr || !trace->outcome || trace->status == Status::skipped) return;
  for (const std::string& note : trace->outcome->notes) fmt::print(stderr, "{}\n", note);
}

/// Of each case that failed what its program wrote last, and what its trace knows; where its output was
/// wrong, why.
void show_failures(const Run& run) {
  for (const Case& c : run.cases) {
    const auto failed = std::ranges::find_if(c.passes, has_failed);
    if (failed == c.passes.end() || !failed->outcome) continue;
    const std::string title = run.cases.size() == 1 ? find_variant(run, c.key.variant)->title : c.id;
    if (failed->status == Status::wrong || failed->status == Status::suspect)
      fmt::print(stderr, "{} in the {} pass: {}.\n", title, to_string(failed->pass), failed->reason);
    else if (!failed->outcome->output.empty())
      fmt::print(stderr, "The last lines of {} in the {} pass:\n{}\n", title, to_string(failed->pass),
                 failed->outcome->output);
    show_trace_notes(c);
  }
}

}  // namespace

std::vector<Option> program_options() {
  return {
      {"name", "NAME", "",
       "The program's name in the record. Default: the name of its file, or of the script that an "
       "interpreter runs."},
      {"ops", "GLOB", "",
       "The program's NVTX ranges that are ops. Default: the outermost ones, or the whole program."},
      {"window", "PART", "",
       "Trace and count this part of the program alone: step:10..20, range:NAME[3..5], profiler-api or "
       "seconds:1.5..3. The timing pass finds the steps by NVTX ranges. Steps and ranges count from 1, and "
       "both bounds belong to the part. NAME may be a glob; without brackets it is the first one. "
       "profiler-api: from the first cudaProfilerStart() to cudaProfilerStop()."},
      {"sample", "INTERVAL", "",
       "Sample the GPUs in the trace pass: how many SMs, tensor cores and how much of DRAM are active over "
       "time. INTERVAL is 50us to 1000ms; without it 100us. A process of mprof's own does it. At 100us it "
       "uses more than half a core for each GPU.",
       false, Option::Origin::verb, "100us"},
      {"no-stacks", "", "",
       "Take no call stacks of launches in the trace pass. With them the report says which lines of Python "
       "and C++ launch the kernels."},
      {"kernels", "REGEX", "",
       "The kernels that the counters pass counts: the ones whose demangled names match. Default: all."},
      {"launch-skip", "N", "", "Skip N launches of these kernels in each process before counting."},
      {"max-kernels", "N", "",
       "Count at most N distinct kernels (name, grid, block, op) in each process. Default: all."},
      {"replay-limit", "S", "",
       "Some kernels are launched too seldom for all metrics. If a run takes at most S seconds, the program "
       "runs once more, and CUPTI replays these kernels. Default: 30; 0: never."}};
}

void refuse_program_options(const Arguments& arguments) {
  for (const Option& option : program_options()) {
    if (arguments.given(option.name))
      throw Error(ExitCode::usage,
                  fmt::format("--{} is for a program, which stands after --, as in: mprof run "
                              "--{} {} -- ./program ARGUMENT",
                              option.name, option.name, option.argument));
  }
}

void keep_input(const Arguments& arguments) {
  if (keep_standard_input() == KeptInput::silent && !arguments.flag("quiet"))
    fmt::print(
        stderr,
        "Standard input is a pipe that gives nothing: programs find it empty. To give them input, write "
        "it to a file: < FILE\n");
}

int run_program(const Arguments& arguments) {
  refuse_others_options(arguments);
  const std::optional<Run> baseline =
      arguments.given("baseline") ? std::optional(read_run(arguments.text("baseline"))) : std::nullopt;
  Run run = planned_program_run(request_of(arguments));
  keep_input(arguments);
  const fs::path out = arguments.given("out") ? fs::path(arguments.text("out"))
                                              : default_result_path(run.started, run.variants.front().id);
  ResultDirectory directory(
      out, arguments.flag("overwrite") ? ResultDirectory::Mode::overwrite : ResultDirectory::Mode::create,
      {.overwrite = true});
  directory.save(run);
  return measure_and_tell(run, directory, arguments, baseline,
                          {.on_interrupt = "Begin again with --overwrite."});
}

int measure_and_tell(Run& run, ResultDirectory& directory, const Arguments& arguments,
                     const std::optional<Run>& baseline, const MeasuredPrograms& programs) {
  JsonAnswer answer(arguments.flag("json"));
  const Interrupts interrupts;
  const bool quiet = arguments.flag("quiet");
  const auto progress = make_progress(quiet                  ? ProgressStyle::quiet
                                      : stderr_is_terminal() ? ProgressStyle::bar
                                                             : ProgressStyle::lines,
                                      steady_clock());
  ProgramContext context{.worker_command = own_worker(),
                         .directory = directory,
                         .clock = steady_clock(),
                         .progress = *progress,
                         .interrupt_fd = interrupts.fd()};
  if (programs.program_of)
    context.program_of = [&](const Case& c) { return programs.program_of(c, interrupts.fd()); };
  measure_programs(run, context);
  derive(run, directory.path());
  if (!quiet) print_readable(render_summary(run, table_width()));
  show_failures(run);
  const ExitCode code = exit_code_of_programs(run);
  const std::string path = directory.path().string();
  if (code == ExitCode::interrupted)
    fmt::print("Interrupted; what was finished is in {}. {}\n", path, programs.on_interrupt);
  else
    fmt::print("Result: {0}. Next: mprof report {0}\n", path);
  const int with_baseline = compared_with(baseline, arguments, path, code);
  if (answer.is_wanted()) answer.print("mprof.run/1", run_json(run, path));
  return with_baseline;
}

}  // namespace mprof::cli
