// SPDX-License-Identifier: MIT
#include "runner/sanitize/sanitize.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "kernels/choices.hpp"
#include "model/sanitizer_file.hpp"
#include "model/version.hpp"
#include "runner/protocol.hpp"
#include "runner/result_directory.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "system/glob.hpp"
#include "system/process.hpp"
#include "system/strays.hpp"
#include "system/suggest.hpp"
#include "system/temporary_folder.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

/// The verified execution and one sample behind it: under compute-sanitizer a kernel takes many times as
/// long, and its times mean nothing.
constexpr Stopping one_sample{
    .min_samples = 1, .max_samples = 1, .max_seconds = 1e-3, .relative_half_width = 1};

/// With this compute-sanitizer ends when it found errors; no exit code of a worker.
constexpr const char* error_exit_code = "99";
/// Reports that compute-sanitizer writes; it counts them all.
constexpr const char* most_reports = "100";

/// The ids of the variants that have cases, in the order of the run.
std::vector<std::string> variants_in(const Run& run) {
  std::vector<std::string> ids;
  std::set<std::string_view> seen;
  for (const Case& c : run.cases) {
    if (seen.insert(c.key.variant).second) ids.push_back(c.key.variant);
  }
  return ids;
}

/// Those of the run's variants that were asked for, as it describes them.
std::vector<const VariantInfo*> select(const Run& run, const std::vector<std::string>& patterns) {
  const std::vector<std::string> known = variants_in(run);
  for (const std::string& pattern : patterns) {
    if (std::ranges::any_of(known, [&](const std::string& id) { return matches(pattern, id); })) continue;
    throw Error(ExitCode::usage, fmt::format("--variant {}: the run has no such variant.{} It has {}.",
                                             pattern, did_you_mean(pattern, known), fmt::join(known, ", ")));
  }
  std::vector<const VariantInfo*> chosen;
  for (const std::string& id : known) {
    const auto asked = [&](const std::string& pattern) { return matches(pattern, id); };
    if (!patterns.empty() && std::ranges::none_of(patterns, asked)) continue;
    const VariantInfo* info = find_variant(run, id);
    if (info == nullptr) throw Error(ExitCode::usage, "the run does not describe its variant " + id);
    chosen.push_back(info);
  }
  return chosen;
}

/// Throws Error(usage) for values that these variants' families, as far as this build has them, do not take.
void require_values(const AxisValues& values, const std::vector<const VariantInfo*>& variants,
                    const Registry& registry) {
  for (const auto& [axis, chosen] : values) {
    if (chosen.size() == 1) continue;
    throw Error(ExitCode::usage, fmt::format("{} {}: each family is run with one problem; give one value.",
                                             axis, fmt::join(chosen, ",")));
  }
  std::vector<const Family*> families;
  for (const VariantInfo* variant : variants) {
    const Family* family = registry.family(variant->family);
    if (family != nullptr && std::ranges::find(families, family) == families.end())
      families.push_back(family);
  }
  if (!families.empty()) require_axes(values, families);
}

/// The smallest problem that the run has of each family, with the values that were asked for.
std::map<std::string, Problem> problems_of(const Run& run, const AxisValues& values) {
  std::map<std::string, Problem> problems;
  for (const Case& c : run.cases) {
    const VariantInfo* info = find_variant(run, c.key.variant);
    if (info == nullptr) continue;
    const auto [smallest, is_first] = problems.emplace(info->family, c.key.problem);
    if (!is_first) smallest->second = std::min(smallest->second, c.key.problem);
  }
  for (auto& [family, problem] : problems) {
    for (Coordinate& c : problem.coordinates) {
      if (const auto asked = values.find(c.axis); asked != values.end()) c.value = asked->second.front();
    }
  }
  return problems;
}

std::string why_not(const VariantInfo& info, const Registry& registry, const Devices& devices,
                    const Sanitizer& sanitizer) {
  if (info.is_program()) return "it is a program of its own: run `mprof sanitize -- PROGRAM`";
  if (info.device != "cuda") return "compute-sanitizer reads CUDA code only";
  if (devices.find(info.device) == nullptr) return "this build of mprof has no cuda device";
  const RegisteredVariant* variant = registry.variant(info.id);
  if (variant == nullptr) return "this build of mprof has no such variant";
  if (const auto reason = unavailable(*variant, devices)) return *reason;
  return sanitizer.absent;
}

/// One case for each point of the variant's parameters, whether the run has it with this problem or not.
std::vector<CaseKey> cases_of(const Run& run, const VariantInfo& info, const Problem& problem) {
  std::set<Parameters> points;
  std::vector<CaseKey> cases;
  for (const Case& c : run.cases) {
    if (c.key.variant != info.id || !points.insert(c.key.parameters).second) continue;
    cases.push_back({info.id, c.key.parameters, problem});
  }
  return cases;
}

/// compute-sanitizer's log; empty when it wrote none.
std::string text_of(const fs::path& log) {
  std::error_code error;
  // What runs under the tool may have put a link there.
  return fs::is_regular_file(fs::symlink_status(log, error)) ? read_file(log) : "";
}

/// What a worker under compute-sanitizer came to.
struct Answers {
  Process::Event::Kind ending = Process::Event::Kind::ended;
  bool begun = false;  ///< the first case
  std::vector<PassResult> results;
  std::string stray;  ///< the first line that was no message
};

/// `timeout`, s: from when the worker begins its first case.
Answers listen(Process& process, const Clock& clock, double timeout, int interrupt_fd) {
  Answers answers;
  double deadline = clock.now() + worker_start_limit;
  while (true) {
    const Process::Event event = process.next(clock, deadline, interrupt_fd);
    if (event.kind != Process::Event::Kind::line) {
      answers.ending = event.kind;
      return answers;
    }
    try {
      Message message = parse_message(event.line);
      if (!std::exchange(answers.begun, true)) deadline = clock.now() + timeout;
      if (message.result) answers.results.push_back(std::move(*message.result));
    } catch (const Error&) {
      // The tool itself may write here; that a result is missing is noticed at the end.
      if (answers.stray.empty()) answers.stray = event.line.substr(0, 200);
    }
  }
}

/// "; its first report: ..." or nothing.
std::string reported(const SanitizerLog& log, std::string_view lead) {
  return log.first_report.empty() ? "" : fmt::format("{}{}", lead, log.first_report);
}

/// What went wrong in the worker itself; empty when every case of the step was right.
std::string wrong_in(const Answers& answers, const SanitizeStep& step) {
  for (const PassResult& result : answers.results) {
    if (result.status == Status::ok || result.status == Status::suspect) continue;  // no time is asked for
    return fmt::format("the variant itself came to nothing: {}: {}", to_string(result.status), result.reason);
  }
  if (answers.results.size() >= step.cases.size()) return "";
  return fmt::format("the worker gave {} of {} results", answers.results.size(), step.cases.size());
}

/// How the process ended, with what helps to see why.
std::string how_it_ended(Process& process, const Answers& answers) {
  std::string text = process.how_it_ended();
  const std::string words = process.last_words();
  if (!words.empty()) text += ". Its last words: " + words;
  if (words.empty() && !answers.stray.empty()) text += ". It wrote: " + answers.stray;
  return text;
}

/// compute-sanitizer saw no kernel: what is known to cause it.
bool saw_nothing(const SanitizerLog& log) {
  return log.first_report.find("before first instrumented API call") != std::string::npos;
}

void fail(SanitizerResult& result, std::string reason) {
  result.status = SanitizerStatus::failed;
  result.reason = std::move(reason);
}

/// From a log that compute-sanitizer brought to its end.
void judge_summary(SanitizerResult& result, const SanitizerLog& log, const Answers& answers,
                   const SanitizeStep& step, Process& process) {
  result.errors = log.errors;
  result.warnings = log.warnings;
  if (log.errors + log.warnings > 0) result.first_report = log.first_report;
  result.status = log.errors > 0 ? SanitizerStatus::errors : SanitizerStatus::clean;
  if (log.errors > 0) return;
  // No error in what was not executed to its end says nothing.
  if (const std::string wrong = wrong_in(answers, step); !wrong.empty()) {
    fail(result, fmt::format("{} (it ended with {})", wrong, how_it_ended(process, answers)));
  } else if (log.warnings == 0 && !process.ended_well()) {
    fail(result,
         "compute-sanitizer counts no error, and yet it ended with " + how_it_ended(process, answers));
  }
}

void judge(SanitizerResult& result, const SanitizerLog& log, const Answers& answers, const SanitizeStep& step,
           Process& process, double timeout) {
  using Kind = Process::Event::Kind;
  if (answers.ending == Kind::deadline) {
    result.status = SanitizerStatus::timeout;
    result.reason =
        (answers.begun ? fmt::format("took longer than {:g} s (--timeout)", timeout)
                       : fmt::format("its worker did not begin within {:g} s", worker_start_limit)) +
        reported(log, "; until then the tool had reported: ");
  } else if (answers.ending == Kind::flooded) {
    fail(result, "its worker wrote without end");
  } else if (log.has_summary) {
    judge_summary(result, log, answers, step, process);
  } else if (saw_nothing(log)) {
    fail(result,
         fmt::format("compute-sanitizer saw no CUDA call ({}): an installation without its libraries, "
                     "such as a part of it alone, does so; use the one of the CUDA toolkit. It ended with {}",
                     log.first_report, how_it_ended(process, answers)));
  } else {
    fail(result, fmt::format("compute-sanitizer left no summary: {}{}", how_it_ended(process, answers),
                             reported(log, ". Its log says: ")));
  }
  // A result that is no count has none.
  if (result.status != SanitizerStatus::failed && result.status != SanitizerStatus::timeout) return;
  result.errors = result.warnings = 0;
  result.first_report.clear();
}

class Session {
 public:
  Session(const Run& run, SanitizerRecord& record, const std::vector<SanitizeStep>& steps,
          const SanitizeContext& context)
      : run_(run), plan_(run.plan), record_(record), steps_(steps), context_(context) {
    for (const std::string& id : variants_in(run)) order_.emplace(id, order_.size());
    plan_.stopping = one_sample;
    plan_.hot = false;
    plan_.inputs = context.inputs;
  }

  SanitizeOutcome run() {
    SanitizeOutcome outcome;
    for (const SanitizeStep& step : steps_) {
      context_.progress.step_begins(step);
      SanitizerResult result = begun(step);
      outcome.completed = !step.skipped.empty() || execute(step, result);
      if (!outcome.completed) break;
      put(result);
      write_sanitizer_record(record_, context_.file);
      context_.progress.step_ends(result);
      outcome.results.push_back(std::move(result));
    }
    return outcome;
  }

 private:
  [[nodiscard]] static SanitizerResult begun(const SanitizeStep& step) {
    SanitizerResult result;
    result.variant = step.variant;
    result.tool = step.tool;
    result.problem = step.problem;
    result.reason = step.skipped;
    result.started = utc_now();
    result.mprof = {version, revision};
    return result;
  }

  [[nodiscard]] std::vector<std::string> command(SanitizerTool tool, const fs::path& log) const {
    // A worker loads its inputs before the first CUDA call; compute-sanitizer gives up waiting after seconds.
    const auto patience = static_cast<std::uint64_t>(std::ceil(std::min(context_.timeout, 1e6)));
    std::vector<std::string> words;
    if (context_.through) words = context_.through(log.parent_path());
    words.insert(words.end(), {context_.sanitizer.program, "--tool", std::string(to_string(tool)),
                               "--error-exitcode", error_exit_code, "--print-limit", most_reports,
                               "--launch-timeout", std::to_string(patience), "--log-file", log.string()});
    words.insert(words.end(), context_.worker_command.begin(), context_.worker_command.end());
    return words;
  }

  /// With what the run's variants chose: to search cuDNN's engines once more takes minutes here.
  [[nodiscard]] Job job_of(const SanitizeStep& step) const {
    Job job{.plan = plan_, .cases = step.cases, .through_tool = true};
    for (const CaseKey& key : step.cases) {
      const Case* measured = find_case(run_, key);
      job.choices.push_back(measured == nullptr ? choices::All() : choices_of(*measured));
    }
    return job;
  }

  /// False when it was interrupted.
  bool execute(const SanitizeStep& step, SanitizerResult& result) const {
    const TemporaryFolder folder("mprof-sanitize");
    const fs::path log = folder.path() / "log";
    result.device = step.device;
    result.sanitizer = context_.sanitizer.version;
    result.command = command(step.tool, log);
    const double start = context_.clock.now();
    const StraysEnd with_worker;
    Process process(result.command, to_line(job_of(step)));
    const Answers answers = listen(process, context_.clock, context_.timeout, context_.interrupt_fd);
    if (answers.ending == Process::Event::Kind::interrupted) return false;
    if (answers.ending != Process::Event::Kind::ended) process.kill();
    judge(result, parse_sanitizer_log(text_of(log)), answers, step, process, context_.timeout);
    result.seconds = context_.clock.now() - start;
    return true;
  }

  /// In its place: variants in the run's order, and tools in theirs.
  void put(const SanitizerResult& result) {
    std::vector<SanitizerResult>& results = record_.results;
    const auto is_same = [&](const SanitizerResult& other) {
      return other.variant == result.variant && other.tool == result.tool;
    };
    const auto known = std::find_if(results.begin(), results.end(), is_same);
    const bool says_more = known != results.end() && known->status != SanitizerStatus::skipped &&
                           result.status == SanitizerStatus::skipped;
    if (says_more) return;
    std::erase_if(results, is_same);
    const auto place = [&](const SanitizerResult& other) {
      const auto variant = order_.find(other.variant);
      return std::pair(variant == order_.end() ? order_.size() : variant->second, other.tool);
    };
    const auto behind = std::find_if(results.begin(), results.end(), [&](const SanitizerResult& other) {
      return place(other) > place(result);
    });
    results.insert(behind, result);
  }

  const Run& run_;
  Plan plan_;                                              ///< the run's, as far as it holds here
  std::map<std::string, std::size_t, std::less<>> order_;  ///< of the run's variants
  SanitizerRecord& record_;
  const std::vector<SanitizeStep>& steps_;
  const SanitizeContext& context_;
};

}  // namespace

std::vector<SanitizeStep> plan_sanitize(const Run& run, const SanitizeRequest& request,
                                        const Registry& registry, const Devices& devices,
                                        const Sanitizer& sanitizer) {
  const std::vector<const VariantInfo*> variants = select(run, request.patterns);
  require_values(request.values, variants, registry);
  const std::map<std::string, Problem> problems = problems_of(run, request.values);
  std::vector<SanitizeStep> steps;
  for (const VariantInfo* info : variants) {
    const Problem& problem = problems.at(info->family);
    SanitizeStep step{.variant = info->id, .problem = problem, .cases = cases_of(run, *info, problem)};
    step.skipped = why_not(*info, registry, devices, sanitizer);
    if (step.skipped.empty()) step.device = devices.find(info->device)->name();
    for (const SanitizerTool tool : request.tools) {
      step.tool = tool;
      steps.push_back(step);
    }
  }
  return steps;
}

SanitizeOutcome sanitize(const Run& run, SanitizerRecord& record, const std::vector<SanitizeStep>& steps,
                         const SanitizeContext& context) {
  return Session(run, record, steps, context).run();
}

}  // namespace mprof
