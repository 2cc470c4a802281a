// SPDX-License-Identifier: MIT
#include "serve/judge/judge.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "model/rounds.hpp"
#include "model/statistics/median.hpp"
#include "model/statistics/paired.hpp"
#include "report/text/family_words.hpp"
#include "runner/challenge.hpp"
#include "runner/session/turns.hpp"
#include "runner/source/family_folder.hpp"
#include "runner/source/sources.hpp"
#include "runner/worker.hpp"
#include "serve/judge/against.hpp"
#include "serve/judge/causes.hpp"
#include "serve/judge/memcheck.hpp"
#include "serve/judge/session.hpp"
#include "serve/judge/workplace.hpp"
#include "system/error.hpp"
#include "system/programs.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

/// The quick round ends it where the file takes so many times as long.
constexpr double clearly_slower = 1.5;
/// Executions that each side is asked for after the first one, which wakes everything up.
constexpr std::size_t fewest_own = 5, most_own = 15;
/// They take at most this share of the budget.
constexpr double share_of_own = 0.25;
constexpr double alpha_of_own = 0.01;
constexpr std::size_t most_errors = 10;
constexpr std::size_t longest_reason = 600;
constexpr std::size_t longest_output = 2048;

/// Numbers that nobody outside of this process knows, unless a test gives the first one.
class Secrets {
 public:
  explicit Secrets(std::optional<std::uint64_t> seed) {
    if (seed) fixed_.emplace(*seed);
  }
  std::uint64_t next() {
    constexpr unsigned half = 32;
    return fixed_ ? (*fixed_)() : std::uint64_t{device_()} << half | device_();
  }

 private:
  std::random_device device_;
  std::optional<std::mt19937_64> fixed_;
};

/// The first errors of what a compiler wrote; all of its lines where none is called one.
CompilerWords compiler_words(const std::string& printed) {
  constexpr std::array<std::string_view, 5> marks{"error:", ": error", "): error", "undefined reference",
                                                  "catastrophic error"};
  std::istringstream lines(printed);
  std::vector<std::string> all, errors;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    all.push_back(tamed(line));
    const auto is_in_line = [&](std::string_view mark) { return line.find(mark) != std::string::npos; };
    if (std::ranges::any_of(marks, is_in_line)) errors.push_back(tamed(line));
  }
  CompilerWords words{errors.empty() ? std::move(all) : std::move(errors), 0};
  if (words.errors.size() > most_errors) {
    words.more = words.errors.size() - most_errors;
    words.errors.resize(most_errors);
  }
  return words;
}

/// The last words of a worker, where a reason holds them, are what the file printed.
std::pair<std::string, std::string> parted(const std::string& reason) {
  constexpr std::string_view mark = " Its last words: ";
  const std::size_t at = reason.find(mark);
  if (at == std::string::npos) return {reason, ""};
  return {reason.substr(0, at), reason.substr(at + mark.size())};
}

double work_of_problem(const Family& family, const Problem& problem) {
  Case c;
  c.ops = family.ops(problem);
  return work_of(c);
}

JudgeStatus status_of(Status status) {
  switch (status) {
    case Status::wrong:
      return JudgeStatus::wrong;
    case Status::suspect:
      return JudgeStatus::suspect;
    case Status::timeout:
      return JudgeStatus::timeout;
    default:
      return JudgeStatus::crashed;
  }
}

class Judging {
 public:
  Judging(const JudgeRequest& request, const JudgeContext& context)
      : request_(request),
        context_(context),
        secrets_(request.seed),
        place_(request.file, name_of_copy(request.file, context.registry),
               request.is_alone ? Beside::nothing : Beside::headers, context.sandbox),
        folder_(place_.libraries()) {
    if (context.sandbox != nullptr) guard_ = std::make_unique<SandboxGuard>(context.sandbox->limits());
  }
  ~Judging() {
    for (const PluginSource& source : sources_) {
      source.family.empty() ? context_.registry.remove(source.variant)
                            : context_.registry.remove_family(source.family);
    }
  }
  Judging(const Judging&) = delete;
  Judging& operator=(const Judging&) = delete;

  Judgement judge() {
    const double start = context_.clock.now();
    judgement_.file = request_.file.filename().string();
    judgement_.sandbox = context_.sandbox == nullptr ? "none" : "bwrap";
    go_through();
    if (judgement_.status != JudgeStatus::right) take_times_away();
    judgement_.seconds = context_.clock.now() - start;
    return std::move(judgement_);
  }

 private:
  /// The command line of a worker in the place that `command` makes.
  static std::vector<std::string> worker_in(std::vector<std::string> command) {
    for (const std::string& word : own_worker()) command.push_back(word);
    return command;
  }

  /// A name that no variant of mprof has, and that no compiler, shell or pattern takes for anything else.
  static std::string name_of_copy(const fs::path& file, const Registry& registry) {
    const std::string stem = variant_name(file);
    const bool is_taken = std::ranges::any_of(registry.variants(), [&](const RegisteredVariant* variant) {
      return variant->info.id.ends_with("/" + stem);
    });
    return stem + (is_taken ? "_judged" : "") + file.extension().string();
  }

  void go_through() {
    if (!stage(JudgeStage::compile, [&] { return compile(); })) return;
    plan();
    started_ = context_.clock.now();
    if (!stage(JudgeStage::small, [&] { return is_right_when_small(); })) return;
    if (!stage(JudgeStage::memcheck, [&] { return is_clean(); })) return;
    if (!stage(JudgeStage::full, [&] { return is_right_in_full(); })) return;
    if (!stage(JudgeStage::quick, [&] { return quick_round(); })) return;
    if (!stage(JudgeStage::trace, [&] { return trace(); })) return;
    if (!judgement_.is_clearly_slower) {
      if (!stage(JudgeStage::rounds, [&] { return rounds(); })) return;
    } else {
      skip(JudgeStage::rounds, "the quick round has decided it");
    }
    if (!request_.counters) return;
    stage(JudgeStage::counters, [&] { return count(); });
  }

  /// Whether it goes on.
  template <class Work>
  bool stage(JudgeStage name, Work work) {
    const double start = context_.clock.now();
    JudgedStage done{.stage = name};
    skipped_because_.clear();
    const bool goes_on = work();
    done.seconds = context_.clock.now() - start;
    if (!goes_on) done.outcome = StageOutcome::failed;
    if (!skipped_because_.empty()) {
      done.outcome = StageOutcome::skipped;
      done.why = tamed(skipped_because_);
    }
    judgement_.stages.push_back(done);
    context_.on_stage(done);
    return goes_on;
  }

  void skip(JudgeStage name, const std::string& why) {
    stage(name, [&] {
      skipped_because_ = why;
      return true;
    });
  }

  /// The file is not right: false, so that a stage ends with it.
  bool fail(JudgeStatus status, const std::string& reason) {
    const auto [said, printed] = parted(place_.without_paths(reason));
    judgement_.status = status;
    judgement_.reason = tamed(said, longest_reason);
    if (!printed.empty()) heard(printed);
    if (guard_ == nullptr) return false;
    if (const std::string why = guard_->take_reason(); !why.empty()) {
      judgement_.status = JudgeStatus::crashed;
      judgement_.reason = why + ", and was ended";
    }
    return false;
  }

  void heard(const std::string& printed) {
    if (!printed.empty()) judgement_.untrusted_output = tamed_end(printed, longest_output);
  }

  void take_times_away() {
    judgement_.verdict.reset();
    judgement_.times.clear();
    judgement_.own_clock.reset();
    judgement_.of_possible.reset();
    judgement_.kernels.clear();
    judgement_.advice.clear();
    judgement_.bound.clear();
  }

  bool compile() {
    const double start = context_.clock.now();
    const double answer_limit = std::min(request_.timeout, SourceContext::usual_answer_limit);
    SourceContext context{.registry = context_.registry,
                          .folder = folder_,
                          .worker_command = worker_in(place_.for_worker({}, true)),
                          .clock = context_.clock,
                          .interrupt_fd = context_.interrupt_fd,
                          .answer_limit = answer_limit,
                          .compile_limit = request_.compile_limit};
    if (context_.sandbox != nullptr)
      context.compile_through = [this](const fs::path& work) { return place_.for_compiler(work); };
    try {
      sources_ = load_sources({.patterns = {place_.file().string()},
                               .flags = request_.flags,
                               .baseline = request_.against,
                               .precision = request_.precision},
                              context);
    } catch (const CompileError& error) {
      judgement_.compiler = compiler_words(place_.without_paths(error.printed()));
      return fail(JudgeStatus::compile_failed, "the compiler does not accept it");
    } catch (const Error& error) {
      const double seconds = context_.clock.now() - start;
      const bool took_too_long = seconds >= std::min(request_.compile_limit, answer_limit);
      if (error.code() == ExitCode::usage) return fail(JudgeStatus::compile_failed, error.what());
      if (error.code() == ExitCode::wrong_output)
        return fail(took_too_long ? JudgeStatus::timeout : JudgeStatus::crashed, error.what());
      if (error.code() == ExitCode::environment && seconds >= request_.compile_limit)
        return fail(JudgeStatus::timeout,
                    fmt::format("the compiler took longer than {:g} s", request_.compile_limit));
      throw;
    }
    return true;
  }

  /// What is to be compared, on which problems; throws Error for what this machine cannot do.
  void plan() {
    const Registry& registry = context_.registry;
    const PluginSource& file = sources_.front();
    const VariantInfo& info = registry.variant(file.variant)->info;
    if (const auto reason = unavailable(*registry.variant(file.variant), context_.devices))
      throw Error(ExitCode::environment,
                  fmt::format("{} cannot run here: {}", request_.file.string(), *reason));
    if (info.baseline.empty() || registry.variant(info.baseline) == nullptr)
      throw Error(ExitCode::usage,
                  fmt::format("{} declares no variant that it improves on, or one that this mprof does not "
                              "have: name one with --against (`mprof list`).",
                              request_.file.string()));
    family_ = registry.family(info.family);
    is_own_family_ = std::ranges::any_of(
        sources_, [&](const PluginSource& source) { return source.family == info.family; });
    judgement_.variant = info.id;
    judgement_.family = info.family;
    judgement_.device = info.device;
    judgement_.against = info.baseline;
    arms_[0] = arm(info.baseline, "A");
    arms_[1] = arm(info.id, "B");
    arms_[2] = arm(info.baseline, "A-again");
    const Case& c = arms_[1].run.cases.at(0);
    const Words words(family_->info(), {c.key.problem});
    const std::vector<Problem> quick = family_->default_problems(true);
    small_ =
        quick.empty() || work_of_problem(*family_, quick.front()) > work_of_problem(*family_, c.key.problem)
            ? c.key.problem
            : quick.front();
    judgement_.problem = words.in_full(c.key.problem);
    judgement_.small_problem = words.in_full(small_);
  }

  /// What a variant is built from; nothing of one of mprof's own.
  [[nodiscard]] std::vector<PluginSource> sources_of(const std::string& variant) const {
    std::vector<PluginSource> needed;
    std::ranges::copy_if(sources_, std::back_inserter(needed), [&](const PluginSource& source) {
      return source.family.empty() ? source.variant == variant : source.family == family_->info().id;
    });
    return needed;
  }

  SessionArm arm(const std::string& variant, const char* name) {
    SessionArm arm{.side = {.name = variant == judgement_.variant ? judgement_.file : variant,
                            .variant = variant,
                            .program = own_program().string(),
                            .sources = sources_of(variant)}};
    RunRequest request;
    request.values = request_.problem ? request_.problem(*family_) : AxisValues{};
    request.seed = secrets_.next();
    request.max_seconds = request_.sampling_time;
    request.timeout = request_.timeout;
    request.inputs = request_.inputs;
    arm.run = planned_session_run(arm.side, request, context_.registry, request_.command_line);
    for (const InputFile& input : arm.run.inputs) inputs_.emplace_back(input.path);
    arm.side.through = place_.for_worker(inputs_, !arm.side.sources.empty());
    const fs::path out = request_.out.empty() ? place_.records() : request_.out;
    arm.directory = std::make_unique<ResultDirectory>(
        out / name, request_.overwrite ? ResultDirectory::Mode::overwrite : ResultDirectory::Mode::create,
        ResultDirectory::Offers{.overwrite = true});
    arm.directory->save(arm.run);
    arm.directory->save_sources(arm.run);
    if (!request_.out.empty()) judgement_.run = (out / "B").string();
    return arm;
  }

  [[nodiscard]] std::vector<std::string> worker_of(const SessionArm& arm) const {
    return worker_in(arm.side.through);
  }

  [[nodiscard]] Case case_of(const SessionArm& arm, const Problem& problem) const {
    Case c = arm.run.cases.at(0);
    c.key.problem = problem;
    c.ops = family_->ops(problem);
    return c;
  }

  [[nodiscard]] ChallengeContext challenge_of(const Case& subject, const SessionArm& arm,
                                              Workload& workload) const {
    return {.subject = subject,
            .plan = arm.run.plan,
            .workload = workload,
            .worker_command = worker_of(arm),
            .clock = context_.clock,
            .interrupt_fd = context_.interrupt_fd,
            .timeout = request_.timeout};
  }

  /// Whether this process can know what is right; skips the stage where it cannot.
  std::unique_ptr<Workload> own_workload(const Problem& problem) {
    if (!is_own_family_) {
      std::unique_ptr<Workload> workload = family_->load(problem, arms_[1].run.plan.inputs);
      if (can_be_challenged(*workload)) return workload;
    }
    skipped_because_ = "its family's reference is a library of its own, which this process does not load";
    return nullptr;
  }

  void note(const ChallengeResult& result) {
    judgement_.outputs = result.verification.size();
    for (const Verification& v : result.verification) {
      judgement_.elements += v.elements;
      if (v.relative_l2 >= judgement_.relative_error) judgement_.precision = v.precision;
      judgement_.declared_precision = v.declared_precision;
      judgement_.max_error = std::max(judgement_.max_error, v.max_error);
      judgement_.relative_error = std::max(judgement_.relative_error, v.relative_l2);
      judgement_.tolerance = std::max(judgement_.tolerance, v.tolerance);
    }
  }

  bool is_right_when_small() {
    const std::unique_ptr<Workload> workload = own_workload(small_);
    if (workload == nullptr) return true;
    const Case subject = case_of(arms_[1], small_);
    ChallengedWorker worker(challenge_of(subject, arms_[1], *workload));
    constexpr int executions = 2;  // the second one may find what the first one left
    for (int i = 0; i < executions; ++i) {
      const ChallengeResult result = worker.ask(secrets_.next(), secrets_.next());
      heard(worker.last_words());
      if (result.status != Status::ok)
        return fail(status_of(result.status),
                    fmt::format("at {}: {}", judgement_.small_problem, result.reason));
    }
    judgement_.checks.emplace_back("secret_inputs");
    return true;
  }

  bool is_clean() {
    if (!request_.memcheck) {
      skipped_because_ = "it was not asked for (--passes)";
      return true;
    }
    const Memcheck found = memcheck_of(
        {.run = arms_[1].run,
         .problem = small_,
         .through = [this](const fs::path& folder) { return place_.for_worker(inputs_, true, folder); },
         .registry = context_.registry,
         .devices = context_.devices,
         .clock = context_.clock,
         .interrupt_fd = context_.interrupt_fd,
         .timeout = request_.timeout,
         .folder = place_.records()});
    skipped_because_ = found.skipped;
    if (!found.skipped.empty()) {
      judgement_.absent.push_back({"memcheck", tamed(found.skipped)});
      return true;
    }
    if (!found.error.empty()) return fail(JudgeStatus::wrong, found.error);
    judgement_.checks.emplace_back("memcheck");
    return true;
  }

  /// Executions of both on inputs that nobody knew, by this process's clock. While one of them runs, the
  /// other and all of its threads stand still.
  bool is_right_in_full() {
    const Problem problem = arms_[1].run.cases.at(0).key.problem;
    const std::unique_ptr<Workload> workload = own_workload(problem);
    if (workload == nullptr) {
      judgement_.absent.push_back({"own_clock", skipped_because_});
      return true;
    }
    const Case of_file = case_of(arms_[1], problem), of_baseline = case_of(arms_[0], problem);
    ChallengedWorker file(challenge_of(of_file, arms_[1], *workload));
    ChallengedWorker baseline(challenge_of(of_baseline, arms_[0], *workload));
    std::vector<double> times, others, saved;
    const double until = context_.clock.now() + share_of_own * request_.budget;
    for (std::size_t i = 0; i <= most_own; ++i) {
      if (i > fewest_own && context_.clock.now() >= until) break;
      const bool is_first = (secrets_.next() & 1U) == 0;
      ChallengeResult of[2];
      for (const bool turn : {is_first, !is_first}) {
        ChallengedWorker &asked = turn ? file : baseline, &other = turn ? baseline : file;
        other.pause();
        of[turn ? 0 : 1] = asked.ask(secrets_.next(), secrets_.next());
        other.resume();
        if (of[turn ? 0 : 1].status != Status::ok) break;  // its process is gone
      }
      heard(file.last_words());
      if (of[0].status != Status::ok) return fail(status_of(of[0].status), of[0].reason);
      if (of[1].status != Status::ok)
        throw Error(ExitCode::environment,
                    fmt::format("{}, which it is compared with, is {} here: {}", judgement_.against,
                                to_string(of[1].status), of[1].reason));
      note(of[0]);
      if (i == 0) continue;
      times.push_back(of[0].seconds);
      others.push_back(of[1].seconds);
      saved.push_back(of[1].seconds - of[0].seconds);
    }
    const Interval interval = *interval_of_mean(saved, alpha_of_own);
    judgement_.own_clock = OwnClock{.executions = times.size(),
                                    .file = median(times),
                                    .against = median(others),
                                    .saved = (interval.low + interval.high) / 2,
                                    .low = interval.low,
                                    .high = interval.high};
    for (const char* check : {"full_problem", "bits_compared_here"}) judgement_.checks.emplace_back(check);
    return true;
  }

  /// One block of the session, in which each of the three runs twice.
  bool run_block() {
    ++blocks_;
    try {
      if (turns_->run_block()) return has_times();
      throw Error(ExitCode::interrupted, "interrupted");
    } catch (const Error& error) {
      if (error.code() != ExitCode::wrong_output) throw;
      const PassResult& timing = *find_pass(turns_->arms()[1].run.cases.at(0), Pass::timing);
      if (timing.status == Status::ok || timing.status == Status::pending) throw;  // the other side's fault
      if (timing.status == Status::suspect)
        judgement_.suspicions.push_back({"worker", tamed(timing.reason), ""});
      return fail(status_of(timing.status), timing.reason);
    }
  }

  /// Whether what the worker says are times, and all of them: something may have written them in its place.
  bool has_times() {
    const Case& of_file = turns_->arms()[1].run.cases.at(0);
    const PassResult& timing = *find_pass(of_file, Pass::timing);
    if (const std::string missing = missing_time(of_file); !missing.empty()) {
      judgement_.suspicions.push_back({"worker", missing, ""});
      return fail(JudgeStatus::suspect, "its worker reported no time of something that it ran");
    }
    for (const Measurement& row : timing.measurements) {
      const bool is_time =
          row.metric == "op_time" || row.metric == "group_time" || row.metric == "total_time";
      const auto is_positive = [](double value) { return std::isfinite(value) && value > 0; };
      if (!is_time || std::ranges::all_of(row.samples, is_positive)) continue;
      judgement_.suspicions.push_back(
          {"worker", fmt::format("a sample of {} is not a time", row.metric), ""});
      return fail(JudgeStatus::suspect, "its worker reported samples that are not times");
    }
    return true;
  }

  void take_session() {
    session_ = judged_session(turns_->arms());
    judgement_.blocks = session_.blocks;
    judgement_.times.clear();
    for (const SessionTime& time : session_.times)
      judgement_.times.push_back({time.metric, time.op, time.b, time.a, time.speed_up});
    judgement_.headline = 0;
    for (std::size_t i = 0; i < judgement_.times.size(); ++i) {
      const JudgedTime &time = judgement_.times[i], &longest = judgement_.times[judgement_.headline];
      if (!time.op.empty() && time.against && longest.against &&
          time.against->median > longest.against->median)
        judgement_.headline = i;
    }
  }

  /// What the file saves by the times of its ops must be saved by the whole execution too, and be possible by
  /// this process's clock.
  bool is_possible() {
    const auto whole = std::ranges::find(judgement_.times, "total_time", &JudgedTime::metric);
    if (whole == judgement_.times.end() || !whole->file || !whole->against) return true;
    double by_ops = 0;
    for (const JudgedTime& time : judgement_.times) by_ops += time.op.empty() ? 0 : saved(time);
    const double elsewhere = spent_elsewhere();
    const bool gives_back = by_ops > 0 && elsewhere > by_ops / 2;
    if (gives_back && judgement_.device == "cpu") {
      judgement_.suspicions.push_back(
          {"whole", fmt::format("its ops save {:.3g} s by their times", by_ops),
           fmt::format("outside of them an execution takes {:.3g} s longer", elsewhere)});
      return fail(JudgeStatus::suspect,
                  "its ops save what the whole execution spends again: it works where its op times do not "
                  "count it");
    }
    // A GPU's file may prepare as long as it likes. Its ops' times are then not what this clock can confirm.
    whole_counts_ = gives_back || counts_by_whole(by_ops, most_saved(*whole), judgement_.own_clock);
    if (whole_counts_) judgement_.headline = static_cast<std::size_t>(whole - judgement_.times.begin());
    if (!judgement_.own_clock) return true;
    OwnClock& own = *judgement_.own_clock;
    own.claimed = whole_counts_ ? saved(*whole) : claimed_saving(saved(*whole), by_ops);
    if (!own.contradicts()) return true;
    judgement_.suspicions.push_back(
        {"own_clock", fmt::format("its worker claims to save {:.3g} s in an execution", *own.claimed),
         fmt::format("mprof's own clock allows at most {:.3g} s", own.high)});
    return fail(JudgeStatus::suspect,
                "its times are shorter than mprof's own clock allows: something changed them");
  }

  static double saved(const JudgedTime& time) {
    return time.file && time.against ? time.against->median - time.file->median : 0;
  }

  /// The upper end of its 95 % interval.
  static double most_saved(const JudgedTime& time) {
    if (!time.against || !time.speed_up.interval) return std::numeric_limits<double>::infinity();
    return time.against->median * (1 - 1 / time.speed_up.interval->high);
  }

  /// How much longer an execution of the file takes outside of its ops than one of the other side, s: what
  /// lies between the rounds of both. 0 where they lie no further apart than each side's own rounds do.
  [[nodiscard]] double spent_elsewhere() const {
    constexpr double least = 20e-6;  // s
    std::vector<double> of_file, of_others;
    for (std::size_t i = 0; i < turns_->arms().size(); ++i)
      std::ranges::copy(outside_of_ops(turns_->arms()[i].run.cases.at(0)),
                        std::back_inserter(i == 1 ? of_file : of_others));
    if (of_file.size() < 2 || of_others.size() < 2) return 0;
    const auto [first, last] = std::ranges::minmax(of_file);
    const auto [shortest, longest] = std::ranges::minmax(of_others);
    const double gap = first - longest;
    return gap > least && gap > last - first && gap > longest - shortest ? gap : 0;
  }

  /// By round, the median over its executions of what the ops' times do not hold, s.
  static std::vector<double> outside_of_ops(const Case& c) {
    const Measurement* const whole = find_measurement(c, "total_time", "");
    if (whole == nullptr) return {};
    std::vector<double> outside = whole->samples;
    for (const OpInfo& op : c.ops) {
      const Measurement* const row = find_measurement(c, "op_time", op.name);
      if (row == nullptr || row->samples.size() != outside.size()) return {};
      for (std::size_t i = 0; i < outside.size(); ++i) outside[i] -= row->samples[i];
    }
    return round_medians({.samples = std::move(outside), .rounds = whole->rounds});
  }

  /// The shortest round of the file is longer than the longest of the other and of the control, by a factor;
  /// and this process's clock does not say that the file is faster.
  [[nodiscard]] bool is_slower_in_first_block() const {
    const JudgedTime* const time = judgement_.decisive();
    if (time == nullptr || (judgement_.own_clock && judgement_.own_clock->low > 0)) return false;
    std::vector<double> of_file, of_others;
    for (std::size_t i = 0; i < turns_->arms().size(); ++i) {
      const Measurement* const row =
          find_measurement(turns_->arms()[i].run.cases.at(0), time->metric, time->op);
      if (row == nullptr || row->samples.empty()) return false;
      std::ranges::copy(round_medians(*row), std::back_inserter(i == 1 ? of_file : of_others));
    }
    return std::ranges::min(of_file) > clearly_slower * std::ranges::max(of_others);
  }

  bool quick_round() {
    turns_ =
        std::make_unique<Turns>(std::move(arms_), secrets_.next(), context_.clock, context_.interrupt_fd);
    if (!run_block()) return false;
    take_session();
    for (const char* check : {"poison", "order", "inputs_kept", "every_execution"})
      judgement_.checks.emplace_back(check);
    if (!is_possible()) return false;
    if (is_slower_in_first_block()) {
      judgement_.is_clearly_slower = true;
      judgement_.verdict = Verdict::slower;
    }
    take_causes();
    return true;
  }

  bool rounds() {
    const auto has_time = [&] { return context_.clock.now() - started_ < request_.budget; };
    while (blocks_ < most_blocks() && (blocks_ < 2 || has_time())) {
      if (!run_block()) return false;
      take_session();
      if (is_look(session_.blocks) && session_.told()) break;
    }
    if (!is_possible()) return false;
    judgement_.verdict = verdict();
    take_causes();
    return true;
  }

  /// Slower where any time is; faster where one is, and all others are not slower. Where the whole counts, no
  /// op makes a file faster.
  [[nodiscard]] Verdict verdict() const {
    std::set<Verdict> all;
    for (const JudgedTime& time : judgement_.times) {
      if (!time.file || !time.against) continue;
      const bool counts = !whole_counts_ || time.op.empty() || time.speed_up.verdict == Verdict::slower;
      if (counts) all.insert(time.speed_up.verdict);
    }
    for (const Verdict each : {Verdict::slower, Verdict::faster, Verdict::inconclusive}) {
      if (all.contains(each)) return each;
    }
    return all.empty() ? Verdict::inconclusive : Verdict::same;
  }

  void take_causes() {
    const SessionArm& of_file = turns_->arms()[1];
    add_causes(turns_->arms()[0].run, of_file.run, of_file.directory->path(), judgement_);
  }

  /// One more execution that is watched; false where it contradicts the times. What it gave is `extra_`.
  bool watch(Pass pass, const char* name) {
    const SessionArm& arm = turns_->arms()[1];
    const fs::path directory = place_.records() / name;
    const fs::path written = place_.records() / fmt::format("{}-written", name);
    for (const fs::path& folder : {directory, written}) fs::create_directories(folder);
    extra_ = extra_pass({.run = arm.run,
                         .pass = pass,
                         .worker_command = worker_in(place_.for_worker(inputs_, true, written)),
                         .directory = directory,
                         .written = written,
                         .registry = context_.registry,
                         .clock = context_.clock,
                         .interrupt_fd = context_.interrupt_fd});
    if (!extra_.suspect.empty()) {
      judgement_.suspicions.push_back({name, tamed(extra_.suspect), ""});
      return fail(JudgeStatus::suspect, extra_.suspect);
    }
    skipped_because_ = extra_.absent;
    if (!extra_.absent.empty()) judgement_.absent.push_back({name, tamed(extra_.absent)});
    return true;
  }

  /// On a GPU the trace shows work that the op's time does not hold.
  bool trace() {
    if (judgement_.device == "cpu") {
      skipped_because_ = "the CPU time of each stage shows it already";
      return true;
    }
    if (!watch(Pass::trace, "trace")) return false;
    if (extra_.absent.empty()) judgement_.checks.emplace_back("trace");
    return true;
  }

  bool count() {
    if (!watch(Pass::counters, "counters")) return false;
    if (extra_.absent.empty()) add_kernels(extra_.run, judgement_);
    return true;
  }

  const JudgeRequest& request_;
  const JudgeContext& context_;
  Judgement judgement_{};
  Secrets secrets_;
  Workplace place_;
  LibraryFolder folder_;
  std::unique_ptr<SandboxGuard> guard_{};
  std::vector<PluginSource> sources_{};
  const Family* family_ = nullptr;
  bool is_own_family_ = false;
  SessionArms arms_{};
  std::vector<fs::path> inputs_{};
  Problem small_{};
  double started_ = 0;
  std::unique_ptr<Turns> turns_{};
  Session session_{};
  std::size_t blocks_ = 0;     ///< that were run, whatever they gave
  bool whole_counts_ = false;  ///< in place of the ops
  ExtraPass extra_{};
  std::string skipped_because_{};
};

}  // namespace

Judgement judge_file(const JudgeRequest& request, const JudgeContext& context) {
  require_against(request.against, request.is_alone ? fs::path() : request.file, context.registry);
  return Judging(request, context).judge();
}

}  // namespace mprof
