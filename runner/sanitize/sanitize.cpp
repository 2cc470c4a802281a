#include "runner/sanitize/sanitize.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <set>
#include <system_error>

#include <fmt/format.h>
#include <fnmatch.h>

#include "model/sanitizer_file.hpp"
#include "model/version.hpp"
#include "runner/plan.hpp"
#include "runner/protocol.hpp"
#include "runner/result_directory.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "system/process.hpp"
#include "system/suggest.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

/// The checked execution and one sample behind it: under compute-sanitizer a kernel takes many times as long,
/// and its times mean nothing.
constexpr Stopping one_sample{
    .min_samples = 1, .max_samples = 1, .max_seconds = 1e-3, .relative_half_width = 1};

/// With this compute-sanitizer ends when it found errors; no exit code of a worker.
constexpr const char* error_exit_code = "99";
/// Reports that compute-sanitizer writes; it counts them all.
constexpr const char* most_reports = "100";

/// The ids of the variants that have cases, in the order of the plan.
std::vector<std::string> variants_in(const Run& run) {
  std::vector<std::string> ids;
  for (const Case& c : run.cases) {
    if (std::find(ids.begin(), ids.end(), c.key.variant) == ids.end()) ids.push_back(c.key.variant);
  }
  return ids;
}

std::vector<std::string> select(const Run& run, const std::vector<std::string>& patterns) {
  const std::vector<std::string> known = variants_in(run);
  if (patterns.empty()) return known;
  std::set<std::string> chosen;
  for (const std::string& pattern : patterns) {
    bool matched = false;
    for (const std::string& id : known) {
      if (fnmatch(pattern.c_str(), id.c_str(), 0) != 0) continue;
      chosen.insert(id);
      matched = true;
    }
    if (!matched) {
      throw Error(ExitCode::usage,
                  fmt::format("--variant {}: the run has no such variant.{} It has {}.", pattern,
                              did_you_mean(pattern, known), fmt::join(known, ", ")));
    }
  }
  std::vector<std::string> ids;
  std::copy_if(known.begin(), known.end(), std::back_inserter(ids),
               [&](const std::string& id) { return chosen.contains(id); });
  return ids;
}

std::uint64_t smallest_batch(const Run& run) {
  const auto smallest =
      std::min_element(run.cases.begin(), run.cases.end(),
                       [](const Case& a, const Case& b) { return a.key.batch < b.key.batch; });
  return smallest == run.cases.end() ? 0 : smallest->key.batch;
}

std::string why_not(const VariantInfo& info, const Registry& registry, const Devices& devices,
                    const Sanitizer& sanitizer) {
  if (info.device != "cuda") return "compute-sanitizer reads CUDA code only";
  if (devices.find(info.device) == nullptr) return "this build of mprof has no cuda device";
  const RegisteredVariant* variant = registry.variant(info.id);
  if (variant == nullptr) return "this build of mprof has no such variant";
  if (const auto reason = unavailable(*variant, devices)) return *reason;
  return sanitizer.absent;
}

/// The variant's cases at this batch, whether the run has that batch or not.
std::vector<Case> cases_of(const Run& run, const VariantInfo& info, std::uint64_t batch,
                           const Registry& registry) {
  const Family* family = registry.family(info.family);
  std::set<Parameters> points;
  std::vector<Case> cases;
  for (const Case& c : run.cases) {
    if (c.key.variant != info.id || !points.insert(c.key.parameters).second) continue;
    Case& small = cases.emplace_back();
    small.key = {info.id, c.key.parameters, batch};
    small.id = case_id(small.key, info);
    if (family != nullptr) small.ops = family->ops(batch);
  }
  return cases;
}

void require_batch(std::uint64_t batch, const VariantInfo& info, const Registry& registry) {
  const Family* family = registry.family(info.family);
  if (family == nullptr || (batch >= 1 && batch <= family->max_batch())) return;
  throw Error(ExitCode::usage, fmt::format("--batch {}: the {} family takes 1 to {} images.", batch,
                                           family->id(), family->max_batch()));
}

/// A file for compute-sanitizer's log, gone with its folder at the end.
class LogFile {
 public:
  LogFile() {
    std::string folder = (fs::temp_directory_path() / "mprof-check-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) {
      throw Error(ExitCode::environment,
                  fmt::format("cannot make a folder for compute-sanitizer's log, {}: {}. Set TMPDIR to one "
                              "that can be written.",
                              folder, std::strerror(errno)));
    }
    folder_ = folder;
  }
  ~LogFile() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;
  [[nodiscard]] fs::path path() const { return folder_ / "log"; }
  /// Empty when nothing was written.
  [[nodiscard]] std::string text() const {
    std::error_code error;
    return fs::is_regular_file(path(), error) ? read_file(path()) : "";
  }

 private:
  fs::path folder_;
};

/// What a worker under compute-sanitizer came to.
struct Answers {
  Process::Event::Kind ending = Process::Event::Kind::ended;
  std::vector<PassResult> results;
  std::string stray;  ///< the first line that was no message
};

Answers listen(Process& process, const Clock& clock, double deadline, int interrupt_fd) {
  Answers answers;
  while (true) {
    const Process::Event event = process.next(clock, deadline, interrupt_fd);
    if (event.kind != Process::Event::Kind::line) {
      answers.ending = event.kind;
      return answers;
    }
    try {
      Message message = parse_message(event.line);
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
std::string wrong_in(const Answers& answers, const CheckStep& step) {
  for (const PassResult& result : answers.results) {
    if (result.status == Status::ok) continue;
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

void fail(CheckResult& result, std::string reason) {
  result.status = CheckStatus::failed;
  result.reason = std::move(reason);
}

/// From a log that compute-sanitizer brought to its end.
void judge_summary(CheckResult& result, const SanitizerLog& log, const Answers& answers,
                   const CheckStep& step, Process& process) {
  result.errors = log.errors;
  result.warnings = log.warnings;
  if (log.errors + log.warnings > 0) result.first_report = log.first_report;
  result.status = log.errors > 0 ? CheckStatus::errors : CheckStatus::clean;
  if (log.errors > 0) return;
  // No error in what was not executed to its end says nothing.
  if (const std::string wrong = wrong_in(answers, step); !wrong.empty()) {
    fail(result, fmt::format("{} (it ended with {})", wrong, how_it_ended(process, answers)));
  } else if (log.warnings == 0 && !process.ended_well()) {
    fail(result,
         "compute-sanitizer counts no error, and yet it ended with " + how_it_ended(process, answers));
  }
}

void judge(CheckResult& result, const SanitizerLog& log, const Answers& answers, const CheckStep& step,
           Process& process, double timeout) {
  using Kind = Process::Event::Kind;
  if (answers.ending == Kind::deadline) {
    result.status = CheckStatus::timeout;
    result.reason = fmt::format("took longer than {:g} s (--timeout){}", timeout,
                                reported(log, "; until then the tool had reported: "));
  } else if (answers.ending == Kind::flooded) {
    fail(result, "its worker wrote without end");
  } else if (log.has_summary) {
    judge_summary(result, log, answers, step, process);
  } else if (saw_nothing(log)) {
    fail(result,
         fmt::format("compute-sanitizer saw no CUDA call ({}): an installation without its libraries, "
                     "such as a part of it alone, does so; use that of the CUDA toolkit. It ended with {}",
                     log.first_report, how_it_ended(process, answers)));
  } else {
    fail(result, fmt::format("compute-sanitizer left no summary: {}{}", how_it_ended(process, answers),
                             reported(log, ". Its log says: ")));
  }
  // A result that is no count has none.
  if (result.status != CheckStatus::failed && result.status != CheckStatus::timeout) return;
  result.errors = result.warnings = 0;
  result.first_report.clear();
}

class Checker {
 public:
  Checker(const Run& run, Check& record, const std::vector<CheckStep>& steps, const CheckContext& context)
      : run_(run), record_(record), steps_(steps), context_(context) {}

  CheckOutcome run() {
    CheckOutcome outcome;
    for (const CheckStep& step : steps_) {
      context_.progress.step_begins(step);
      CheckResult result = begun(step);
      outcome.completed = !step.skipped.empty() || check(step, result);
      if (!outcome.completed) break;
      put(result);
      write_check(record_, context_.file);
      context_.progress.step_ends(result);
      outcome.results.push_back(std::move(result));
    }
    return outcome;
  }

 private:
  [[nodiscard]] static CheckResult begun(const CheckStep& step) {
    CheckResult result;
    result.variant = step.variant;
    result.tool = step.tool;
    result.batch = step.batch;
    result.reason = step.skipped;
    result.started = utc_now();
    result.mprof = {version, revision};
    return result;
  }

  [[nodiscard]] std::vector<std::string> command(CheckTool tool, const fs::path& log) const {
    // A worker loads its inputs before the first CUDA call; compute-sanitizer gives up waiting after seconds.
    const auto patience = static_cast<std::uint64_t>(std::ceil(std::min(context_.timeout, 1e6)));
    std::vector<std::string> words{context_.sanitizer.program,
                                   "--tool",
                                   std::string(to_string(tool)),
                                   "--error-exitcode",
                                   error_exit_code,
                                   "--print-limit",
                                   most_reports,
                                   "--launch-timeout",
                                   std::to_string(patience),
                                   "--log-file",
                                   log.string()};
    words.insert(words.end(), context_.worker_command.begin(), context_.worker_command.end());
    return words;
  }

  /// False when it was interrupted.
  bool check(const CheckStep& step, CheckResult& result) const {
    const LogFile log;
    result.device = step.device;
    result.sanitizer = context_.sanitizer.version;
    result.command = command(step.tool, log.path());
    const Job job{.cases = step.cases,
                  .stopping = one_sample,
                  .images = context_.data.images.string(),
                  .weights = context_.data.weights.string(),
                  .through_tool = true};
    const double start = context_.clock.now();
    Process process(result.command, to_line(job));
    const Answers answers = listen(process, context_.clock, start + context_.timeout, context_.interrupt_fd);
    if (answers.ending == Process::Event::Kind::interrupted) return false;
    if (answers.ending != Process::Event::Kind::ended) process.kill();
    judge(result, parse_sanitizer_log(log.text()), answers, step, process, context_.timeout);
    result.seconds = context_.clock.now() - start;
    return true;
  }

  /// In its place: variants in the run's order, and tools in theirs.
  void put(const CheckResult& result) {
    std::vector<CheckResult>& results = record_.results;
    const auto is_same = [&](const CheckResult& other) {
      return other.variant == result.variant && other.tool == result.tool;
    };
    const auto known = std::find_if(results.begin(), results.end(), is_same);
    const bool says_more = known != results.end() && known->status != CheckStatus::skipped &&
                           result.status == CheckStatus::skipped;
    if (says_more) return;
    std::erase_if(results, is_same);
    const auto place = [&](const CheckResult& other) {
      const auto variant = std::find_if(run_.cases.begin(), run_.cases.end(),
                                        [&](const Case& c) { return c.key.variant == other.variant; });
      return std::pair(variant - run_.cases.begin(), other.tool);
    };
    const auto behind = std::find_if(results.begin(), results.end(),
                                     [&](const CheckResult& other) { return place(other) > place(result); });
    results.insert(behind, result);
  }

  const Run& run_;
  Check& record_;
  const std::vector<CheckStep>& steps_;
  const CheckContext& context_;
};

}  // namespace

std::vector<CheckStep> plan_check(const Run& run, const CheckSelection& selection, const Registry& registry,
                                  const Devices& devices, const Sanitizer& sanitizer) {
  const std::uint64_t batch = selection.batch.value_or(smallest_batch(run));
  std::vector<CheckStep> steps;
  for (const std::string& id : select(run, selection.patterns)) {
    const VariantInfo* info = find_variant(run, id);
    if (info == nullptr) throw Error(ExitCode::usage, "the run does not describe its variant " + id);
    if (selection.batch) require_batch(batch, *info, registry);
    CheckStep step{.variant = id, .batch = batch, .cases = cases_of(run, *info, batch, registry)};
    step.skipped = why_not(*info, registry, devices, sanitizer);
    if (step.skipped.empty()) step.device = devices.find(info->device)->name();
    for (const CheckTool tool : selection.tools) {
      step.tool = tool;
      steps.push_back(step);
    }
  }
  return steps;
}

CheckOutcome run_check(const Run& run, Check& record, const std::vector<CheckStep>& steps,
                       const CheckContext& context) {
  return Checker(run, record, steps, context).run();
}

}  // namespace mprof
