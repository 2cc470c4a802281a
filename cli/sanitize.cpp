#include "runner/sanitize/sanitize.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include <fmt/format.h>

#include "cli/family_options.hpp"
#include "cli/interrupts.hpp"
#include "cli/options.hpp"
#include "cli/sources.hpp"
#include "cli/standard_streams.hpp"
#include "cli/terminal.hpp"
#include "cli/values.hpp"
#include "model/run_file.hpp"
#include "model/sanitizer_file.hpp"
#include "runner/result_directory.hpp"
#include "system/error.hpp"
#include "system/suggest.hpp"

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

std::string outcome(const SanitizerResult& result) {
  switch (result.status) {
    case SanitizerStatus::clean:
      if (result.warnings == 0) return "clean";
      return fmt::format("clean, {} warning{}, the first: {}", result.warnings,
                         result.warnings == 1 ? "" : "s", result.first_report);
    case SanitizerStatus::errors:
      return fmt::format("{} error{}, the first: {}", result.errors, result.errors == 1 ? "" : "s",
                         result.first_report);
    case SanitizerStatus::failed:
    case SanitizerStatus::timeout:
    case SanitizerStatus::skipped:
      break;
  }
  return fmt::format("{}: {}", to_string(result.status), result.reason.substr(0, result.reason.find('\n')));
}

/// A line for each result, and one for each reason why there is none. On a terminal also one for what goes
/// on, since a tool can take a minute over a variant.
class ResultLines final : public SanitizeProgress {
 public:
  ResultLines(std::size_t steps, bool quiet)
      : steps_(steps), quiet_(quiet), live_(!quiet && stderr_is_terminal()) {}

  void step_begins(const SanitizeStep& step) override {
    ++done_;
    if (!live_ || !step.skipped.empty()) return;
    const std::string line =
        fmt::format("[{}/{}] {} {} ...", done_, steps_, step.variant, to_string(step.tool));
    clear_line();
    fmt::print(stderr, "{}", line.substr(0, terminal_width() - 1));
  }

  void step_ends(const SanitizerResult& result) override {
    if (result.status == SanitizerStatus::skipped && !skip_reasons_.insert(result.reason).second) return;
    if (quiet_ && result.status == SanitizerStatus::clean) return;
    if (live_) clear_line();
    const std::string seconds = result.seconds ? fmt::format(", {:.0f} s", std::ceil(*result.seconds)) : "";
    fmt::print(stderr, "[{}/{}] {} {}{}: {}\n", done_, steps_, result.variant, to_string(result.tool),
               seconds, outcome(result));
  }

 private:
  std::size_t steps_;
  std::size_t done_ = 0;
  bool quiet_;
  bool live_;
  std::set<std::string> skip_reasons_;
};

std::size_t number_of(const std::vector<SanitizerResult>& results, SanitizerStatus status) {
  return static_cast<std::size_t>(
      std::count_if(results.begin(), results.end(),
                    [&](const SanitizerResult& result) { return result.status == status; }));
}

/// "72 results: 70 clean, 1 with errors, 1 skipped."
std::string summary(const std::vector<SanitizerResult>& results) {
  std::vector<std::string> parts;
  const auto add = [&](SanitizerStatus status, std::string_view words) {
    if (const std::size_t n = number_of(results, status)) parts.push_back(fmt::format("{} {}", n, words));
  };
  add(SanitizerStatus::clean, "clean");
  add(SanitizerStatus::errors, "with errors");
  add(SanitizerStatus::failed, "failed");
  add(SanitizerStatus::timeout, "over the time limit");
  add(SanitizerStatus::skipped, "skipped");
  return fmt::format("{} result{}: {}.", results.size(), results.size() == 1 ? "" : "s",
                     fmt::join(parts, ", "));
}

ExitCode exit_code_of(const SanitizeOutcome& outcome) {
  if (!outcome.completed) return ExitCode::interrupted;
  if (number_of(outcome.results, SanitizerStatus::errors) > 0) return ExitCode::wrong_output;
  const bool any = std::any_of(outcome.results.begin(), outcome.results.end(), is_conclusive);
  return any ? ExitCode::success : ExitCode::environment;
}

int sanitize(const Arguments& arguments) {
  const SanitizeRequest request = sanitize_request(arguments);
  const double timeout = parse_seconds("timeout", arguments.text("timeout"));
  const fs::path path = arguments.text("DIR");
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
  ResultLines lines(steps.size(), arguments.flag("quiet"));
  const std::string program = fs::read_symlink("/proc/self/exe").string();
  const SanitizeOutcome done = mprof::sanitize(run, record, steps,
                                               {.sanitizer = sanitizer,
                                                .worker_command = {program, "worker"},
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
    fmt::print("Nothing could be run under it; {} says why. `mprof doctor` tells more of this machine.\n",
               file.string());
  } else {
    fmt::print("Result: {}. Next: mprof report {}\n", file.string(), path.string());
  }
  return static_cast<int>(code);
}

}  // namespace

Verb sanitize_verb() {
  std::vector<Option> options{
      {"tool", "LIST", "memcheck,racecheck,initcheck,synccheck",
       "Which tools: memcheck (accesses out of bounds or misaligned), racecheck (hazards in shared "
       "memory), initcheck (reads of memory that was never written), synccheck (invalid barriers)."},
      {"variant", "LIST", "", "Only these variants of the run; patterns like '*/fp*' too.", true},
      {"timeout", "S", "600", "Time limit of a variant under a tool, in seconds, from when it begins."},
      {"quiet", "", "", "Print only what is not clean, and where the result is."},
  };
  add_axis_options(options, Registry::instance(), AxisUse::single);
  add_input_options(options, Registry::instance());
  return {
      .name = "sanitize",
      .positional = "DIR",
      .summary = "run the variants under NVIDIA's compute-sanitizer",
      .description =
          "Runs each CUDA variant of the run in DIR, on a small problem, under NVIDIA's compute-sanitizer, "
          "one tool after another, and keeps what it found in DIR/sanitizer.json, which `mprof report` "
          "shows. Exits with 3 when errors were found, and with 5 when nothing could be run under it. What "
          "is not asked for stays as it was found before.",
      .options = std::move(options),
      .run = sanitize};
}

}  // namespace mprof::cli
