#include "runner/sanitize/sanitize.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include <fmt/format.h>

#include "cli/data_location.hpp"
#include "cli/interrupts.hpp"
#include "cli/options.hpp"
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

std::vector<CheckTool> parse_tools(const std::string& text) {
  std::vector<CheckTool> tools;
  for (const std::string& name : text.empty() ? std::vector{text} : split(text)) {
    CheckTool tool{};
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

CheckSelection parse_selection(const Arguments& arguments) {
  CheckSelection selection;
  selection.tools = parse_tools(arguments.text("tool"));
  for (const std::string& list : arguments.texts("variant")) {
    for (const std::string& pattern : split(list)) selection.patterns.push_back(pattern);
  }
  if (arguments.given("variant") && selection.patterns.empty()) {
    throw Error(ExitCode::usage, "--variant needs the name of a variant of the run, or a pattern.");
  }
  if (!arguments.given("batch")) return selection;
  selection.batch = parse_whole(arguments.text("batch"));
  if (!selection.batch) {
    throw Error(ExitCode::usage,
                fmt::format("--batch {}: give one whole number of images.", arguments.text("batch")));
  }
  return selection;
}

/// Where the run's inputs are: as asked for, where the run read them, or where a new run would.
DataPaths inputs_of(const Run& run, const Arguments& arguments) {
  std::error_code error;
  const bool asked = arguments.given("data") || arguments.given("weights");
  if (!asked && fs::exists(run.plan.images, error) && fs::exists(run.plan.weights, error)) {
    return {run.plan.images, run.plan.weights};
  }
  return locate_data(arguments.text("data"), arguments.text("weights"));
}

/// Missing or corrupt inputs end the check before it begins, unless nothing would read them.
void validate_inputs(const Run& run, const std::vector<CheckStep>& steps, const DataPaths& data) {
  std::set<std::string> families;
  for (const CheckStep& step : steps) {
    if (step.skipped.empty()) families.insert(find_variant(run, step.variant)->family);
  }
  for (const std::string& family : families) Registry::instance().family(family)->validate(data);
}

std::string outcome(const CheckResult& result) {
  switch (result.status) {
    case CheckStatus::clean:
      if (result.warnings == 0) return "clean";
      return fmt::format("clean, {} warning{}, the first: {}", result.warnings,
                         result.warnings == 1 ? "" : "s", result.first_report);
    case CheckStatus::errors:
      return fmt::format("{} error{}, the first: {}", result.errors, result.errors == 1 ? "" : "s",
                         result.first_report);
    case CheckStatus::failed:
    case CheckStatus::timeout:
    case CheckStatus::skipped:
      break;
  }
  return fmt::format("{}: {}", to_string(result.status), result.reason.substr(0, result.reason.find('\n')));
}

/// A line for each check that was made, and one for each reason why others were not. On a terminal also one
/// for the check that goes on, since a tool can take a minute over a variant.
class Lines final : public CheckProgress {
 public:
  Lines(std::size_t steps, bool quiet)
      : steps_(steps), quiet_(quiet), live_(!quiet && stderr_is_terminal()) {}

  void step_begins(const CheckStep& step) override {
    ++done_;
    if (!live_ || !step.skipped.empty()) return;
    const std::string line =
        fmt::format("[{}/{}] {} {} ...", done_, steps_, step.variant, to_string(step.tool));
    fmt::print(stderr, "\r\x1b[2K{}", line.substr(0, terminal_width() - 1));
    std::fflush(stderr);
  }

  void step_ends(const CheckResult& result) override {
    if (result.status == CheckStatus::skipped && !skip_reasons_.insert(result.reason).second) return;
    if (quiet_ && result.status == CheckStatus::clean) return;
    if (live_) fmt::print(stderr, "\r\x1b[2K");
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

std::size_t number_of(const std::vector<CheckResult>& results, CheckStatus status) {
  return static_cast<std::size_t>(std::count_if(
      results.begin(), results.end(), [&](const CheckResult& result) { return result.status == status; }));
}

/// "72 checks: 70 clean, 1 with errors, 1 skipped."
std::string summary(const std::vector<CheckResult>& results) {
  std::vector<std::string> parts;
  const auto add = [&](CheckStatus status, std::string_view words) {
    if (const std::size_t n = number_of(results, status)) parts.push_back(fmt::format("{} {}", n, words));
  };
  add(CheckStatus::clean, "clean");
  add(CheckStatus::errors, "with errors");
  add(CheckStatus::failed, "failed");
  add(CheckStatus::timeout, "over the time limit");
  add(CheckStatus::skipped, "skipped");
  return fmt::format("{} check{}: {}.", results.size(), results.size() == 1 ? "" : "s",
                     fmt::join(parts, ", "));
}

ExitCode exit_code_of(const CheckOutcome& outcome) {
  if (!outcome.completed) return ExitCode::interrupted;
  if (number_of(outcome.results, CheckStatus::errors) > 0) return ExitCode::wrong_output;
  const bool any = std::any_of(outcome.results.begin(), outcome.results.end(), is_checked);
  return any ? ExitCode::success : ExitCode::environment;
}

int check(const Arguments& arguments) {
  const CheckSelection selection = parse_selection(arguments);
  const double timeout = parse_timeout(arguments.text("timeout"));
  const fs::path path = arguments.text("DIR");
  const Run run = read_run(path);
  const ResultDirectory directory(path, ResultDirectory::Mode::resume);
  const fs::path file = check_file(path);
  Check record = read_check(file).value_or(Check{});
  const Sanitizer sanitizer = find_sanitizer(sanitizer_folders(), steady_clock());
  const std::vector<CheckStep> steps =
      plan_check(run, selection, Registry::instance(), Devices::instance(), sanitizer);
  if (steps.empty()) throw Error(ExitCode::usage, path.string() + " holds a run without a case.");
  const DataPaths data = inputs_of(run, arguments);
  validate_inputs(run, steps, data);

  const Interrupts interrupts;
  Lines lines(steps.size(), arguments.flag("quiet"));
  const std::string program = fs::read_symlink("/proc/self/exe").string();
  const CheckOutcome done = run_check(run, record, steps,
                                      {.sanitizer = sanitizer,
                                       .worker_command = {program, "worker"},
                                       .file = file,
                                       .data = data,
                                       .timeout = timeout,
                                       .clock = steady_clock(),
                                       .progress = lines,
                                       .interrupt_fd = interrupts.fd()});
  const ExitCode code = exit_code_of(done);
  if (!done.results.empty()) fmt::print("{}\n", summary(done.results));
  if (code == ExitCode::interrupted) {
    fmt::print("Interrupted; what was finished is in {}.\n", file.string());
  } else if (code == ExitCode::environment) {
    fmt::print("Nothing could be checked; {} says why. `mprof doctor` tells more of this machine.\n",
               file.string());
  } else {
    fmt::print("Result: {}. Next: mprof report {}\n", file.string(), path.string());
  }
  return static_cast<int>(code);
}

}  // namespace

Verb check_verb() {
  return {
      .name = "check",
      .positional = "DIR",
      .summary = "run the variants under NVIDIA's compute-sanitizer",
      .description =
          "Runs each CUDA variant of the run in DIR, at a small batch, under NVIDIA's compute-sanitizer, one "
          "tool\n"
          "after another, and keeps what it found in DIR/check.json, which `mprof report` shows. Exits with "
          "3\n"
          "when errors were found, and with 5 when nothing could be checked. What is not asked for stays as\n"
          "an earlier check left it.",
      .options =
          {
              {"tool", "LIST", "memcheck,racecheck,initcheck,synccheck",
               "Which tools: memcheck (accesses out of bounds or misaligned), racecheck (hazards in shared "
               "memory), initcheck (reads of memory that was never written), synccheck (invalid barriers)."},
              {"variant", "LIST", "", "Only these variants of the run; patterns like 'conv/fp*' too.", true},
              {"batch", "N", "", "Images; without it the smallest batch of the run."},
              {"timeout", "S", "600", "Time limit of a variant under a tool, in seconds."},
              {"data", "DIR", "",
               "Folder with the Fashion-MNIST files; else where the run read them, else as for `mprof run`."},
              {"weights", "FILE", "", "Weights; found likewise."},
              {"quiet", "", "", "Print only what is not clean, and where the result is."},
          },
      .run = check};
}

}  // namespace mprof::cli
