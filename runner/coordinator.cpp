#include "runner/coordinator.hpp"

#include <algorithm>
#include <filesystem>
#include <random>
#include <set>
#include <system_error>

#include <fmt/format.h>

#include "system/error.hpp"
#include "system/process.hpp"

namespace mprof {
namespace {

constexpr double survey_timeout = 60;  // s
/// The fields of the environment that the survey leaves when it fails.
constexpr const char* survey_group = "survey";

bool to_do(Status status) {
  return status == Status::pending || status == Status::interrupted;
}

PassResult* find_pass(Case& c, Pass pass) {
  return const_cast<PassResult*>(mprof::find_pass(std::as_const(c), pass));
}

Case* find_case(Run& run, const std::string& id) {
  const auto found =
      std::find_if(run.cases.begin(), run.cases.end(), [&](const Case& c) { return c.id == id; });
  return found == run.cases.end() ? nullptr : &*found;
}

/// A Fisher-Yates shuffle of our own: std::shuffle gives other orders with other standard libraries, and a
/// recorded seed must give the same order everywhere.
template <class T>
void shuffle(std::vector<T>& values, std::mt19937_64& random) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random() % i]);
}

std::string with_last_words(const std::string& sentence, Process& worker) {
  const std::string words = worker.last_words();
  return words.empty() ? sentence : sentence + ". Its last words: " + words;
}

/// How one worker's job went on.
enum class Outcome { done, go_on_with_another_worker, interrupted };

class Coordinator {
 public:
  Coordinator(Run& run, const CoordinatorContext& context) : run_(run), context_(context) {}

  void run() {
    run_.state = RunState::running;
    context_.directory.save(run_);
    remove_stale_trace();
    if (run_.environment.empty() && survey() == Outcome::interrupted) return interrupted();
    std::vector<Job> jobs = schedule(run_);
    announce(jobs);
    for (Job& job : jobs) {
      job.ceilings = run_.ceilings;
      if (job.pass != Pass::timing) tell_times(job);
      Outcome outcome = Outcome::go_on_with_another_worker;
      while (outcome == Outcome::go_on_with_another_worker && !job.cases.empty()) outcome = measure(job);
      if (outcome == Outcome::interrupted) return interrupted();
    }
    finish(RunState::complete);
  }

 private:
  /// A run that replaces another one has nothing to do with that one's trace.
  void remove_stale_trace() const {
    const bool has_traces = std::any_of(run_.cases.begin(), run_.cases.end(), [](const Case& c) {
      const PassResult* result = mprof::find_pass(c, Pass::trace);
      return result != nullptr && result->status == Status::ok;
    });
    if (has_traces) return;
    for (const char* suffix : {"", "-journal"}) {
      std::error_code ignored;  // there is none, or the trace pass will say what is wrong
      std::filesystem::remove(context_.directory.trace_file() += suffix, ignored);
    }
  }

  /// Gives the job's cases their results of the timing pass, to compare with.
  void tell_times(Job& job) {
    for (Case& c : job.cases) {
      const PassResult* result = mprof::find_pass(*find_case(run_, c.id), Pass::timing);
      if (result != nullptr && result->status == Status::ok) c.passes = {*result};
    }
    if (job.pass == Pass::trace) job.trace_file = context_.directory.trace_file().string();
  }

  void announce(const std::vector<Job>& jobs) {
    std::size_t steps = 0;
    double work = 0;
    for (const Job& job : jobs) {
      steps += job.cases.size();
      for (const Case& c : job.cases) work += static_cast<double>(c.key.batch);
    }
    context_.progress.begin(steps, work);
  }

  Outcome survey() {
    context_.progress.surveying();
    Job job{.kind = JobKind::survey};
    std::set<std::string> devices{"cpu"};
    for (const VariantInfo& variant : run_.variants) devices.insert(variant.device);
    job.devices.assign(devices.begin(), devices.end());
    Process worker(context_.worker_command, to_line(job));
    const auto event =
        worker.next(context_.clock, context_.clock.now() + survey_timeout, context_.interrupt_fd);
    if (event.kind == Process::Event::Kind::interrupted) return Outcome::interrupted;
    try {
      if (event.kind != Process::Event::Kind::line) {
        worker.kill();
        throw Error(ExitCode::fault,
                    with_last_words("the worker gave none: " + worker.how_it_ended(), worker));
      }
      Message answer = parse_message(event.line);
      run_.environment = std::move(answer.environment);
      run_.ceilings = std::move(answer.ceilings);
    } catch (const Error& error) {
      run_.environment[survey_group]["fingerprint"] = Absent{error.what()};
    }
    context_.directory.save(run_);
    return Outcome::done;
  }

  /// Gives the job to a worker and takes from the job the cases that are done with, whatever became of them.
  Outcome measure(Job& job) {
    Process worker(context_.worker_command, to_line(job));
    double deadline = context_.clock.now() + run_.plan.timeout;
    const std::size_t given = job.cases.size();
    bool begun = false;  // the first of the cases that are left
    while (!job.cases.empty()) {
      const auto event = worker.next(context_.clock, deadline, context_.interrupt_fd);
      using Kind = Process::Event::Kind;
      switch (event.kind) {
        case Kind::interrupted:
          worker.kill();
          return interrupt(job);
        case Kind::deadline:
          worker.kill();
          return give_up(job, Status::timeout,
                         fmt::format("took longer than {:g} s (--timeout)", run_.plan.timeout));
        case Kind::flooded:
          worker.kill();
          return give_up(job, Status::crashed, "its worker wrote without end");
        case Kind::ended: {
          // A worker ends early, between two cases, when the last one may have left it unusable.
          if (!begun && job.cases.size() < given) return Outcome::go_on_with_another_worker;
          const std::string how = "its worker ended without a result: " + worker.how_it_ended();
          return give_up(job, Status::crashed, with_last_words(how, worker));
        }
        case Kind::line:
          break;
      }
      Message message;
      try {
        message = parse_message(event.line);
        check_in_place(message, job);
      } catch (const Error& error) {
        worker.kill();
        const std::string what = fmt::format("its worker wrote what is no message: {}", error.what());
        return give_up(job, Status::crashed, with_last_words(what, worker));
      }
      if (message.kind != MessageKind::sample) deadline = context_.clock.now() + run_.plan.timeout;
      if (message.kind == MessageKind::begin) begun = true;
      if (message.kind == MessageKind::end) begun = false;
      take(message, job);
    }
    return Outcome::done;
  }

  /// Throws Error when a message says what cannot be at this point of the job.
  static void check_in_place(const Message& message, const Job& job) {
    const Case& current = job.cases.front();
    if (message.case_id != current.id) {
      throw Error(ExitCode::usage,
                  fmt::format("a message about \"{}\" while \"{}\" is running", message.case_id, current.id));
    }
    const bool has_result = message.result && message.result->pass == job.pass;
    if (message.kind == MessageKind::end && !has_result) {
      throw Error(ExitCode::usage, "an end without the pass's result");
    }
  }

  void take(const Message& message, Job& job) {
    const Case& current = job.cases.front();
    if (message.kind == MessageKind::begin) context_.progress.case_begins(current, job.pass);
    if (message.kind == MessageKind::sample) context_.progress.case_goes_on(message.samples);
    if (message.kind == MessageKind::end) record(*message.result, job);
  }

  /// Stores the result of the job's first case, durably, and takes the case from the job.
  void record(const PassResult& result, Job& job) {
    Case& c = *find_case(run_, job.cases.front().id);
    *find_pass(c, job.pass) = result;
    job.cases.erase(job.cases.begin());
    context_.directory.save(run_);
    context_.progress.case_ends(c, result);
  }

  Outcome give_up(Job& job, Status status, std::string reason) {
    PassResult result{.pass = job.pass};
    result.status = status;
    result.reason = std::move(reason);
    record(result, job);
    return Outcome::go_on_with_another_worker;
  }

  Outcome interrupt(Job& job) {
    PassResult& result = *find_pass(*find_case(run_, job.cases.front().id), job.pass);
    result = {.pass = job.pass};
    result.status = Status::interrupted;
    result.reason = "the run was interrupted while this case ran; --resume runs it again";
    return Outcome::interrupted;
  }

  void interrupted() { finish(RunState::interrupted); }

  void finish(RunState state) {
    run_.state = state;
    run_.finished = utc_now();
    context_.directory.save(run_);
    context_.progress.end();
  }

  Run& run_;
  const CoordinatorContext& context_;
};

}  // namespace

std::vector<Job> schedule(const Run& run) {
  std::mt19937_64 random(run.plan.seed);
  std::vector<Job> jobs;
  for (const Pass pass : run.plan.passes) {
    std::vector<Job> of_pass;
    for (const std::string& variant : run.plan.variants) {
      Job job{.pass = pass,
              .stopping = run.plan.stopping,
              .metrics = run.plan.metrics,
              .hot = run.plan.hot,
              .images = run.plan.images,
              .weights = run.plan.weights};
      for (const Case& c : run.cases) {
        const PassResult* result = mprof::find_pass(c, pass);
        if (c.key.variant != variant || result == nullptr || !to_do(result->status)) continue;
        job.cases.push_back(c);
        job.cases.back().passes.clear();
      }
      shuffle(job.cases, random);
      if (!job.cases.empty()) of_pass.push_back(std::move(job));
    }
    shuffle(of_pass, random);
    for (Job& job : of_pass) jobs.push_back(std::move(job));
  }
  return jobs;
}

void coordinate(Run& run, const CoordinatorContext& context) {
  Coordinator(run, context).run();
}

}  // namespace mprof
