// SPDX-License-Identifier: MIT
#include "runner/coordinator.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <future>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>
#include <poll.h>

#include "collectors/os_runtime.hpp"
#include "model/rounds.hpp"
#include "model/trace/journal.hpp"
#include "runner/further_rounds.hpp"
#include "runner/host_retries.hpp"
#include "runner/shards.hpp"
#include "runner/shared_progress.hpp"
#include "runner/survey.hpp"
#include "system/error.hpp"
#include "system/process.hpp"
#include "system/strays.hpp"
#include "system/temporary_folder.hpp"

namespace mprof {
namespace {

/// Cases that one worker is given. What is left of them when it ends early is written anew for the next one.
constexpr std::size_t most_cases = 250;

bool to_do(Status status) {
  return status == Status::pending || status == Status::interrupted;
}

PassResult* find_pass(Case& c, Pass pass) {
  return const_cast<PassResult*>(mprof::find_pass(std::as_const(c), pass));
}

/// A Fisher-Yates shuffle of our own: std::shuffle gives other orders with other standard libraries, and a
/// recorded seed must give the same order everywhere.
template <class T>
void shuffle(std::vector<T>& values, std::mt19937_64& random) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random() % i]);
}

/// What one worker is given of a task, and how far it is.
struct Assignment {
  Pass pass = Pass::timing;
  std::uint32_t round = 0;
  std::span<const std::size_t> cases;
  std::size_t done = 0;
  bool begun = false;  ///< the case behind those that are done
  std::string token = random_token();
};

bool collects_counters(Pass pass) {
  return pass == Pass::counters || pass == Pass::source;
}

/// Whether its cases may run in the process that those of others run in: in a source pass, whose samples are
/// the same then and which takes most of a second to start, mprof's own variants, which nobody wrote to harm
/// each other; none of a CPU's, whose libraries' threads may wait actively for more work. Not where counters
/// are read: in a process that had run other variants kernels of microseconds waited longer for instructions
/// at their variant's first problem, and were counted to take 2 % longer, some of them 30 % (H200).
bool shares_process(const Run& run, Pass pass, const std::string& id) {
  const VariantInfo* const variant = find_variant(run, id);
  if (pass != Pass::source || variant == nullptr || variant->device == "cpu") return false;
  return std::ranges::none_of(run.plan.sources, [&](const PluginSource& source) {
    return source.variant == id || source.family == variant->family;
  });
}

/// What progress is told of tasks before they begin.
struct Extent {
  std::size_t steps = 0;
  double work = 0;
};

Extent extent_of(const std::vector<Task>& tasks, const Run& run) {
  Extent extent;
  for (const Task& task : tasks) {
    extent.steps += task.cases.size();
    for (const std::size_t index : task.cases) extent.work += work_of(run.cases[index]);
  }
  return extent;
}

enum class Outcome { done, interrupted, out_of_time };

/// The host, held for as long as it lives: alone, or with others that do not need it alone either.
class HostTurn {
 public:
  HostTurn(SharedHost* host, bool alone) : host_(host) {
    if (host == nullptr) return;
    if (alone)
      alone_ = std::unique_lock(host->turn);
    else
      with_others_ = std::shared_lock(host->turn);
    ++host->holders;
  }
  ~HostTurn() {
    if (host_ != nullptr) --host_->holders;
  }
  HostTurn(const HostTurn&) = delete;
  HostTurn& operator=(const HostTurn&) = delete;

 private:
  SharedHost* host_;
  std::unique_lock<std::shared_mutex> alone_;
  std::shared_lock<std::shared_mutex> with_others_;
};

class Coordinator {
 public:
  Coordinator(Run& run, const CoordinatorContext& context) : run_(run), context_(context) {}

  ~Coordinator() {
    say_timed();
    if (context_.alternation != nullptr) context_.alternation->leave(context_.side, !has_finished_);
  }
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  void run() {
    ask_for_huge_pages();
    run_.state = RunState::running;
    save();
    if (run_.environment.empty() && survey() == Outcome::interrupted) return finish(RunState::interrupted);
    std::vector<Task> tasks = schedule(run_, context_.rounds);
    announce(tasks);
    costs_ = expected_costs(run_.cases, context_.host == nullptr ? nullptr : context_.host->earlier);
    for (const Task& task : tasks) left_ += cost_of(task);
    if (context_.host != nullptr)
      std::stable_partition(tasks.begin(), tasks.end(), [&](const Task& task) { return needs_host(task); });
    const Outcome outcome = measure(tasks);
    if (outcome == Outcome::interrupted) return finish(RunState::interrupted);
    if (context_.adds_rounds && context_.alternation == nullptr && outcome == Outcome::done) {
      const std::vector<Task> further = further_tasks(run_, rounds_wanted(run_));
      announce_more(further);
      if (measure(further) == Outcome::interrupted) return finish(RunState::interrupted);
    }
    finish(RunState::complete);
  }

 private:
  /// The record as it is before anything runs. A resumed run may skip what it still had to do before.
  void save() {
    context_.directory.save(run_);
    for (const Case& c : run_.cases) {
      const bool skips = std::ranges::any_of(
          c.passes, [](const PassResult& pass) { return pass.status == Status::skipped; });
      if (skips) context_.directory.save(c);
    }
  }

  void announce(const std::vector<Task>& tasks) {
    const auto [steps, work] = extent_of(tasks, run_);
    context_.progress.begin(steps, work);
  }

  void announce_more(const std::vector<Task>& tasks) {
    for (const Task& task : tasks) {
      for (const std::size_t index : task.cases) context_.progress.case_is_added(run_.cases[index]);
    }
  }

  Outcome survey() {
    context_.progress.surveying();
    const double asked = context_.clock.now();
    const HostTurn host_turn(context_.host, true);
    const std::optional<Alternation::Turn> turn = own_turn();
    if (!run_.plan.passes.empty()) note_waiting(run_.plan.passes.front(), asked);
    Run surveyed{.variants = run_.variants};
    if (context_.host != nullptr) {
      surveyed.environment = context_.host->environment;
      surveyed.ceilings = context_.host->ceilings;
    }
    if (!survey_machine(surveyed, context_.worker_command, context_.clock, context_.interrupt_fd,
                        context_.host == nullptr ? Surveyed::all : Surveyed::devices))
      return Outcome::interrupted;
    run_.environment = std::move(surveyed.environment);
    run_.ceilings = std::move(surveyed.ceilings);
    context_.directory.save(run_);
    return Outcome::done;
  }

  Outcome measure(const std::vector<Task>& tasks) {
    for (const Task& task : tasks) {
      begin_task(task);
      if (context_.host != nullptr && !needs_host(task)) {
        say_timed();
        const double asked = context_.clock.now();
        context_.host->all_timed.wait();
        note_waiting(task.pass, asked);
      }
      if (const Outcome outcome = measure(task); outcome != Outcome::done) return outcome;
      left_ -= cost_of(task);
    }
    return Outcome::done;
  }

  [[nodiscard]] double cost_of(const Task& task) const {
    double sum = 0;
    for (const std::size_t index : task.cases) sum += costs_[index];
    return sum;
  }

  /// With as many workers as it takes.
  Outcome measure(const Task& task) {
    const std::vector<std::size_t> cases = still_to_do(task);
    for (std::span<const std::size_t> left = cases; !left.empty();) {
      Assignment assignment{
          .pass = task.pass, .round = task.round, .cases = left.first(std::min(left.size(), most_cases))};
      if (const Outcome outcome = measure(assignment); outcome != Outcome::done) return outcome;
      left = left.subspan(assignment.done);
    }
    for (const std::size_t index : std::exchange(to_run_alone_, {})) {
      Assignment alone{.pass = task.pass, .round = task.round, .cases = std::span(&index, 1)};
      if (const Outcome outcome = measure(alone); outcome != Outcome::done) return outcome;
    }
    return Outcome::done;
  }

  /// What failed in one round is not tried in the next.
  std::vector<std::size_t> still_to_do(const Task& task) {
    std::vector<std::size_t> cases;
    for (const std::size_t index : task.cases) {
      const Case& c = run_.cases[index];
      if (task.round == 0 || mprof::find_pass(c, task.pass)->status == Status::ok)
        cases.push_back(index);
      else
        context_.progress.case_is_left_out(c);
    }
    return cases;
  }

  /// What an earlier round showed of the case, or before another pass the timing pass: what was right to FP32
  /// when it was timed is not watched in a lower precision.
  [[nodiscard]] static std::vector<Verification> verified_before(const Case& c,
                                                                 const Assignment& assignment) {
    const bool is_first_timed = assignment.pass == Pass::timing && assignment.round == 0;
    const PassResult* const timing = is_first_timed ? nullptr : mprof::find_pass(c, Pass::timing);
    return timing == nullptr ? std::vector<Verification>{} : timing->verification;
  }

  [[nodiscard]] Job job_of(const Assignment& assignment) const {
    Job job{.pass = assignment.pass,
            .plan = run_.plan,
            .seed = run_.plan.seed + assignment.round,
            .token = assignment.token,
            .takes_busy_host = !context_.host_disturbance.empty() || !host_retries_.are_worth_it(),
            .takes_turns = context_.alternation != nullptr};
    for (const std::size_t index : assignment.cases) {
      job.cases.push_back(run_.cases[index].key);
      job.choices.push_back(choices_of(run_.cases[index]));
      job.verified.push_back(verified_before(run_.cases[index], assignment));
    }
    if (job.pass == Pass::trace)
      job.trace_file =
          (context_.trace_file.empty() ? context_.directory.trace_file() : context_.trace_file).string();
    return job;
  }

  /// In the trace pass it notes its calls of the operating system in a folder.
  [[nodiscard]] static std::map<std::string, std::string> variables_of_worker(const TemporaryFolder* calls) {
    if (calls == nullptr) return {};
    std::map<std::string, std::string> variables = os_runtime::variables();
    variables[journal::folder_variable] = calls->path().string();
    return variables;
  }

  /// Until a worker ends, or must be ended. At least one case is done with then, whatever became of it.
  Outcome measure(Assignment& assignment) {
    const double asked = context_.clock.now();
    std::optional<Seats::Taken> seat;
    if (context_.host != nullptr && collects_counters(assignment.pass) && !is_of_cpu(current(assignment)))
      seat.emplace(context_.host->counting, left_);
    const HostTurn turn(context_.host, needs_host(assignment.pass, current(assignment)));
    note_waiting(assignment.pass, asked);
    if (is_out_of_time()) return Outcome::out_of_time;
    if (context_.alternation != nullptr && context_.alternation->other_failed(context_.side))
      return Outcome::interrupted;
    started_ = context_.clock.now();
    const Outcome outcome = run_worker(assignment);
    PassTime& spent = spent_on(assignment.pass);
    ++spent.workers;
    spent.seconds += context_.clock.now() - started_;
    return outcome;
  }

  /// For others on the host. A lock that is free is no wait.
  void note_waiting(Pass pass, double since) {
    constexpr double shortest_wait = 1e-3;  // s
    const double waited = context_.clock.now() - since;
    if (context_.host != nullptr && waited >= shortest_wait) spent_on(pass).waiting += waited;
  }

  [[nodiscard]] PassTime& spent_on(Pass pass) {
    const auto known = std::ranges::find(run_.spent, pass, &PassTime::pass);
    return known != run_.spent.end() ? *known : run_.spent.emplace_back(PassTime{.pass = pass});
  }

  /// Nothing where nobody takes turns with it.
  [[nodiscard]] std::optional<Alternation::Turn> own_turn() const {
    if (context_.alternation == nullptr) return std::nullopt;
    return std::optional<Alternation::Turn>(std::in_place, *context_.alternation, context_.side);
  }

  void begin_task(const Task& task) {
    ++task_;
    places_.clear();
    for (const std::size_t index : task.cases) places_.emplace(index, places_.size());
  }

  /// Of the case that the worker is at. The same for both sides, whose schedules are the same.
  [[nodiscard]] Alternation::Step step_of(const Assignment& assignment) const {
    constexpr unsigned bits_of_place = 32;
    return (task_ << bits_of_place) + places_.at(assignment.cases[assignment.done]);
  }

  /// Answers a worker that waits because it takes turns. Returns how long the other side had its turn, s. A
  /// worker that has none is stopped with its process group, so that no thread of it works.
  double change_turns(Process& worker, Alternation::Turn& turn, const Message& message,
                      const Assignment& assignment) {
    const double since = context_.clock.now();
    worker.pause();
    if (message.kind == MessageKind::begin) {
      turn.give();
      context_.alternation->meet(context_.side, step_of(assignment));
      turn.take();
    } else {
      context_.alternation->note(context_.side, message.ending);
      turn.change();
    }
    worker.resume();
    const bool goes_on =
        message.kind == MessageKind::begin || context_.alternation->wants_another(context_.side);
    worker.tell(fmt::format("{}\n", goes_on ? go_on : no_more_samples));
    return context_.clock.now() - since;
  }

  Outcome run_worker(Assignment& assignment) {
    if (context_.alternation != nullptr) context_.alternation->arrive(context_.side, step_of(assignment));
    std::optional<Alternation::Turn> turn = own_turn();
    if (turn) spent_on(assignment.pass).waiting += context_.clock.now() - started_;
    started_ = context_.clock.now();
    const bool is_traced = assignment.pass == Pass::trace;
    const auto calls = is_traced ? std::make_unique<TemporaryFolder>("mprof-calls") : nullptr;
    const StraysEnd with_worker;
    Process worker(context_.worker_command, to_line(job_of(assignment)), variables_of_worker(calls.get()),
                   turn ? Process::Input::open : Process::Input::whole);
    double deadline = context_.clock.now() + worker_start_limit;
    while (assignment.done < assignment.cases.size()) {
      const auto event =
          worker.next(context_.clock, std::min(deadline, context_.deadline), context_.interrupt_fd);
      if (event.kind == Process::Event::Kind::deadline && is_out_of_time()) {
        worker.kill();
        return Outcome::out_of_time;
      }
      if (event.kind == Process::Event::Kind::interrupted ||
          (event.kind == Process::Event::Kind::ended && is_interrupted_with(worker))) {
        worker.kill();
        interrupt(assignment);
        return Outcome::interrupted;
      }
      if (event.kind != Process::Event::Kind::line) {
        give_up(assignment, event.kind, worker);
        return Outcome::done;
      }
      Message message;
      try {
        message = parse_message(event.line);
        require_in_place(message, assignment);
      } catch (const Error& error) {
        worker.kill();
        const std::string what = fmt::format("its worker wrote what is no message: {}", error.what());
        record(assignment, Status::crashed, with_last_words(what, worker));
        return Outcome::done;
      }
      if (message.kind != MessageKind::sample) deadline = context_.clock.now() + limit_after(message);
      take(message, assignment);
      if (turn && (message.kind == MessageKind::begin || message.kind == MessageKind::sample)) {
        const double waited = change_turns(worker, *turn, message, assignment);
        spent_on(assignment.pass).waiting += waited;
        deadline += waited;
        started_ += waited;
        begun_ += waited;
      }
    }
    return Outcome::done;
  }

  /// What ends all processes of a job at once, such as Ctrl-C or a scheduler's cancelling, may reach the
  /// worker first.
  [[nodiscard]] bool is_interrupted_with(Process& worker) const {
    constexpr int patience = 1000;  // ms
    if (!worker.was_asked_to_end()) return false;
    pollfd interrupt{.fd = context_.interrupt_fd, .events = POLLIN, .revents = 0};
    int ready = 0;
    do {
      ready = ::poll(&interrupt, 1, patience);
    } while (ready < 0 && errno == EINTR);
    return ready > 0;
  }

  [[nodiscard]] bool is_out_of_time() const { return context_.clock.now() >= context_.deadline; }

  /// Whether others on the host would disturb it, or it them: the timing pass takes host times, and ops of
  /// the CPU keep the host busy in each pass.
  [[nodiscard]] bool needs_host(Pass pass, const Case& c) const {
    if (!context_.host_disturbance.empty()) return false;
    return pass == Pass::timing || is_of_cpu(c);
  }
  [[nodiscard]] bool is_of_cpu(const Case& c) const {
    const VariantInfo* variant = find_variant(run_, c.key.variant);
    return variant == nullptr || variant->device == "cpu";
  }
  [[nodiscard]] bool needs_host(const Task& task) const {
    return needs_host(task.pass, run_.cases[task.cases.front()]);
  }

  /// Once: others wait for it, however this one ends.
  void say_timed() {
    if (context_.host != nullptr && !said_timed_) context_.host->all_timed.count_down();
    said_timed_ = true;
  }

  /// A case's time begins when its worker begins it.
  [[nodiscard]] double limit_after(const Message& message) const {
    return message.kind == MessageKind::begin ? run_.plan.timeout : worker_start_limit;
  }

  [[nodiscard]] const Case& current(const Assignment& assignment) const {
    return run_.cases[assignment.cases[assignment.done]];
  }

  /// Throws Error when a message says what cannot be at this point of the job.
  void require_in_place(const Message& message, const Assignment& assignment) const {
    const std::string& id = current(assignment).id;
    if (message.token != assignment.token) {
      throw Error(ExitCode::usage,
                  "it does not hold the token that this worker was given, so that something "
                  "else in its process wrote it");
    }
    if (message.case_id != id) {
      throw Error(ExitCode::usage,
                  fmt::format("a message about \"{}\" while \"{}\" is running", message.case_id, id));
    }
    const bool is_of_a_case = message.kind == MessageKind::begin || message.kind == MessageKind::sample ||
                              message.kind == MessageKind::end;
    // Each of these gives it time.
    if (!is_of_a_case || (message.kind == MessageKind::begin) == assignment.begun) {
      throw Error(ExitCode::usage, "a message out of its turn");
    }
    const bool has_result = message.result && message.result->pass == assignment.pass;
    if (message.kind == MessageKind::end && !has_result) {
      throw Error(ExitCode::usage, "an end without the pass's result");
    }
  }

  void take(const Message& message, Assignment& assignment) {
    switch (message.kind) {
      case MessageKind::begin:
        assignment.begun = true;
        context_.progress.case_begins(current(assignment), assignment.pass);
        begun_ = context_.clock.now();
        beside_ = work_beside();
        if (assignment.done == 0) spent_on(assignment.pass).starting += begun_ - started_;
        break;
      case MessageKind::sample:
        context_.progress.case_goes_on(message.samples);
        break;
      case MessageKind::end:
        if (beside_.empty()) beside_ = work_beside();
        note_seconds(assignment.pass, message.result->seconds);
        record(assignment, *message.result);
        break;
      case MessageKind::surveyed:
      case MessageKind::described:
      case MessageKind::ready:
      case MessageKind::output:
      case MessageKind::answered:
      case MessageKind::sampled:
        break;
    }
  }

  /// Of a case that has ended.
  void note_seconds(Pass pass, double measuring) {
    PassTime& spent = spent_on(pass);
    spent.measuring += measuring;
    spent.loading += std::max(0.0, context_.clock.now() - begun_ - measuring);
  }

  /// What host times are taken beside, those of a trace too, at this moment.
  [[nodiscard]] std::string work_beside() const {
    if (!context_.host_disturbance.empty()) return context_.host_disturbance;
    const bool has_company = context_.host != nullptr && context_.host->holders > 1;
    return has_company ? "other devices of the host were at work" : "";
  }

  /// The worker says nothing more.
  void give_up(Assignment& assignment, Process::Event::Kind kind, Process& worker) {
    // A worker ends early, between two cases, when the last one may have left it unusable.
    if (kind == Process::Event::Kind::ended && !assignment.begun && assignment.done > 0) return;
    if (kind != Process::Event::Kind::ended) worker.kill();
    if (kind == Process::Event::Kind::deadline && assignment.begun) {
      record(assignment, Status::timeout,
             fmt::format("took longer than {:g} s (--timeout)", run_.plan.timeout));
    } else if (kind == Process::Event::Kind::deadline) {
      record(assignment, Status::timeout,
             with_last_words(fmt::format("its worker did not begin it within {:g} s", worker_start_limit),
                             worker));
    } else if (kind == Process::Event::Kind::flooded) {
      record(assignment, Status::crashed, "its worker wrote without end");
    } else {
      const std::string how = "its worker ended without a result: " + worker.how_it_ended();
      record(assignment, Status::crashed, with_last_words(how, worker));
    }
  }

  void record(Assignment& assignment, Status status, std::string reason) {
    PassResult result{.pass = assignment.pass};
    result.status = status;
    result.reason = std::move(reason);
    record(assignment, std::move(result));
  }

  /// Whether what went wrong with a case may be the doing of another variant that ran in its process before.
  [[nodiscard]] bool may_be_anothers_doing(const Assignment& assignment, Status status) const {
    const auto before = assignment.cases.first(assignment.done);
    return status != Status::ok && status != Status::skipped &&
           std::ranges::any_of(before, [&](std::size_t index) {
             return run_.cases[index].key.variant != current(assignment).key.variant;
           });
  }

  /// Stores the result of the case that the worker is at, durably; or lets the case run once more, alone.
  void record(Assignment& assignment, PassResult result) {
    if (context_.alternation != nullptr) context_.alternation->part(context_.side);
    if (may_be_anothers_doing(assignment, result.status)) {
      to_run_alone_.push_back(assignment.cases[assignment.done]);
      ++assignment.done;
      assignment.begun = false;
      return;
    }
    Case& c = run_.cases[assignment.cases[assignment.done]];
    ++assignment.done;
    assignment.begun = false;
    if (result.sampling && assignment.pass == Pass::timing) host_retries_.add(*result.sampling);
    if (result.sampling && !beside_.empty()) {
      std::string& said = result.sampling->host_disturbance;
      said = beside_ + (said.empty() ? "" : "; " + said);
    }
    PassResult& stored = *find_pass(c, assignment.pass);
    if (assignment.round == 0)
      stored = result;
    else
      add_round(stored, result);
    context_.directory.save(c);
    context_.progress.case_ends(c, result);
  }

  /// A case keeps the rounds that it has.
  void interrupt(const Assignment& assignment) {
    if (assignment.round > 0) return;
    Case& c = run_.cases[assignment.cases[assignment.done]];
    PassResult& result = *find_pass(c, assignment.pass);
    result = {.pass = assignment.pass};
    result.status = Status::interrupted;
    result.reason = "the run was interrupted while this case ran";
    context_.directory.save(c);
  }

  /// A variant has the rights of its user. What it did to the record is not believed, nor is anything else of
  /// the case.
  void disown_what_was_changed() {
    for (Case& c : run_.cases) {
      if (!context_.directory.was_changed(c)) continue;
      for (PassResult& pass : c.passes) {
        if (pass.status != Status::ok) continue;
        pass.status = Status::suspect;
        pass.reason =
            "something changed the file of this case while the run went on; it is again as it was measured";
      }
      context_.directory.save(c);
    }
  }

  void finish(RunState state) {
    disown_what_was_changed();
    has_finished_ = true;
    run_.state = state;
    run_.finished = utc_now();
    context_.directory.save(run_);
    context_.progress.end();
  }

  Run& run_;
  const CoordinatorContext& context_;
  HostRetries host_retries_;
  std::vector<double> costs_{};  ///< expected of each case
  double left_ = 0;              ///< of them, for the tasks that are not through
  bool said_timed_ = false;
  bool has_finished_ = false;
  Alternation::Step task_ = 0;                                   ///< counted from 1
  std::unordered_map<std::size_t, Alternation::Step> places_{};  ///< of the cases in the task
  std::vector<std::size_t> to_run_alone_{};                      ///< cases of the task that is measured
  double started_ = 0;                                           ///< the worker that runs, by the clock
  double begun_ = 0;                                             ///< the case that it is at
  std::string beside_{};                                         ///< what that case is measured beside
};

/// Whether this round of a pass is still to be made.
bool is_to_do(const PassResult& result, std::uint32_t round) {
  return to_do(result.status) || (result.status == Status::ok && rounds_of(result) <= round);
}

std::uint32_t rounds_of(const Plan& plan, Pass pass, std::span<const std::uint32_t> rounds) {
  if (pass != Pass::timing) return 1;
  return rounds.empty() ? plan.rounds : std::ranges::max(rounds);
}

/// The cases of each variant that this round of a pass is still to be made of, in the run's order.
std::unordered_map<std::string_view, std::vector<std::size_t>> cases_to_do(
    const Run& run, Pass pass, std::uint32_t round, std::span<const std::uint32_t> rounds) {
  std::unordered_map<std::string_view, std::vector<std::size_t>> by_variant;
  for (std::size_t i = 0; i < run.cases.size(); ++i) {
    if (!rounds.empty() && rounds[i] <= round) continue;
    const PassResult* result = mprof::find_pass(run.cases[i], pass);
    if (result != nullptr && is_to_do(*result, round)) by_variant[run.cases[i].key.variant].push_back(i);
  }
  return by_variant;
}

std::vector<Task> shuffled_tasks(const Run& run, Pass pass, std::uint32_t round,
                                 std::unordered_map<std::string_view, std::vector<std::size_t>> by_variant,
                                 std::mt19937_64& random) {
  std::vector<Task> tasks;
  std::map<std::string_view, std::size_t> shared;  // of tasks, by device
  for (const std::string& variant : run.plan.variants) {
    std::vector<std::size_t> cases = std::move(by_variant[variant]);
    if (cases.empty()) continue;
    const bool shares = shares_process(run, pass, variant);
    const std::size_t place =
        shares ? shared.try_emplace(find_variant(run, variant)->device, tasks.size()).first->second
               : tasks.size();
    if (place == tasks.size()) tasks.push_back({.pass = pass, .round = round});
    std::ranges::copy(cases, std::back_inserter(tasks[place].cases));
  }
  for (Task& task : tasks) {
    if (pass == Pass::timing)
      shuffle(task.cases, random);
    else
      std::ranges::stable_sort(task.cases, {}, [&](std::size_t i) { return work_of(run.cases[i]); });
  }
  shuffle(tasks, random);
  return tasks;
}

}  // namespace

std::vector<Task> schedule(const Run& run, std::span<const std::uint32_t> rounds) {
  std::mt19937_64 random(run.plan.seed);
  std::vector<Task> tasks;
  for (const Pass pass : run.plan.passes) {
    for (std::uint32_t round = 0; round < rounds_of(run.plan, pass, rounds); ++round)
      std::ranges::move(shuffled_tasks(run, pass, round, cases_to_do(run, pass, round, rounds), random),
                        std::back_inserter(tasks));
  }
  return tasks;
}

std::vector<Task> further_tasks(const Run& run, std::span<const std::uint32_t> rounds) {
  std::mt19937_64 random(run.plan.seed);
  std::vector<Task> tasks;
  const std::uint32_t most = rounds.empty() ? 0 : std::ranges::max(rounds);
  for (std::uint32_t round = run.plan.rounds; round < most; ++round) {
    std::unordered_map<std::string_view, std::vector<std::size_t>> by_variant;
    for (std::size_t i = 0; i < run.cases.size(); ++i) {
      const PassResult* timing = mprof::find_pass(run.cases[i], Pass::timing);
      if (round < rounds[i] && timing != nullptr && rounds_of(*timing) <= round)
        by_variant[run.cases[i].key.variant].push_back(i);
    }
    std::ranges::move(shuffled_tasks(run, Pass::timing, round, std::move(by_variant), random),
                      std::back_inserter(tasks));
  }
  return tasks;
}

void ask_for_huge_pages() {
  constexpr const char* tunables = "GLIBC_TUNABLES";
  if (std::getenv(tunables) == nullptr) ::setenv(tunables, "glibc.malloc.hugetlb=1", 0);
}

double work_of(const Case& c) {
  double work = 0;
  for (const OpInfo& op : c.ops) work += op.flops + op.special_operations + op.bytes;
  return work > 0 ? work : 1;
}

void coordinate(Run& run, const CoordinatorContext& context) {
  Coordinator(run, context).run();
}

void coordinate_in_turns(Run& baseline, const CoordinatorContext& of_baseline, Run& candidate,
                         const CoordinatorContext& of_candidate) {
  ask_for_huge_pages();
  Alternation alternation;
  const Extent of_one = extent_of(schedule(candidate), candidate);
  of_candidate.progress.begin(2 * of_one.steps, 2 * of_one.work);
  SharedProgress progress(of_candidate.progress);
  const auto measure = [&](Run& run, const CoordinatorContext& context, Alternation::Side side) {
    CoordinatorContext own{context.worker_command, context.directory, context.clock, progress,
                           context.interrupt_fd};
    own.alternation = &alternation;
    own.side = side;
    coordinate(run, own);
  };
  auto other = std::async(std::launch::async, measure, std::ref(baseline), std::cref(of_baseline),
                          Alternation::Side::baseline);
  measure(candidate, of_candidate, Alternation::Side::candidate);
  other.get();
  of_candidate.progress.end();
}

}  // namespace mprof
