// SPDX-License-Identifier: MIT
#include "runner/program/program_run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include "collectors/injection.hpp"
#include "collectors/range_times.hpp"
#include "device/host_load.hpp"
#include "model/rounds.hpp"
#include "model/trace/counter_request.hpp"
#include "model/trace/journal.hpp"
#include "model/trace/program.hpp"
#include "model/trace/tallies.hpp"
#include "model/trace/writer.hpp"
#include "runner/begin.hpp"
#include "runner/coordinator.hpp"
#include "runner/further_rounds.hpp"
#include "runner/program/family.hpp"
#include "runner/program/gpu_sampling.hpp"
#include "runner/survey.hpp"
#include "system/cpus.hpp"
#include "system/error.hpp"
#include "system/named_pipe.hpp"
#include "system/temporary_folder.hpp"
#include "system/watched_program.hpp"

namespace mprof {
namespace {

// Where --rounds does not say: five rounds, none of which begins after a minute, and of what is short more,
// as long as they are needed and three seconds are not over.
constexpr std::uint32_t usual_program_rounds = 5, rounds_of_short = 10, most_rounds = 100;
constexpr double longest_timing = 60, longest_further = 3;  // s
constexpr double narrow = 0.01;                             // half the interval of a time, over the time
constexpr const char* gpu_device = "cuda";
constexpr const char* ranges_library = "libmprof_ranges.so";

Measurement sample(const char* metric, std::optional<double> value, const std::string& absent = {}) {
  Measurement row{.metric = metric};
  if (value) row.samples = {*value};
  if (!value) row.absent = absent;
  return row;
}

/// What is seen of a program from outside.
std::vector<Measurement> measurements_of(const ProgramEnd& end) {
  const auto peak = end.peak_memory ? std::optional(static_cast<double>(*end.peak_memory)) : std::nullopt;
  return {
      sample("total_time", end.seconds), sample("user_time", end.user_time),
      sample("system_time", end.system_time),
      sample(
          "peak_memory", peak,
          "it was not above the peak of mprof itself, which Linux counts as the program's when it starts")};
}

Status status_of(const ProgramEnd& end) {
  switch (end.how) {
    case ProgramEnd::How::exited:
      return end.code == 0 ? Status::ok : Status::failed;
    case ProgramEnd::How::signalled:
      return Status::crashed;
    case ProgramEnd::How::time_limit:
    case ProgramEnd::How::given_up:
      return Status::timeout;
    case ProgramEnd::How::interrupted:
      break;
  }
  return Status::interrupted;
}

ProgramOutcome outcome_of(const ProgramEnd& end) {
  ProgramOutcome outcome{.output = end.output};
  if (end.how == ProgramEnd::How::exited) outcome.exit_code = end.code;
  if (end.how == ProgramEnd::How::signalled) outcome.signal = end.code;
  return outcome;
}

/// By the clock of CUPTI's records.
std::int64_t nanoseconds_since_1970() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// Gives the kernels that lack a metric all that the other rows have of them. Returns how many got something.
std::size_t complete(std::vector<Measurement>& rows, const std::vector<Measurement>& others) {
  using Kernel = std::pair<std::string, std::string>;  // and its op before it
  std::map<std::pair<Kernel, std::string>, const Measurement*> known;
  for (const Measurement& row : others) {
    if (!row.samples.empty()) known[{{row.op, row.kernel}, row.metric}] = &row;
  }
  std::set<Kernel> lacking;
  for (const Measurement& row : rows) {
    const Kernel kernel{row.op, row.kernel};
    if (row.samples.empty() && known.contains({kernel, row.metric})) lacking.insert(kernel);
  }
  for (Measurement& row : rows) {
    const auto other = known.find({{row.op, row.kernel}, row.metric});
    if (!lacking.contains({row.op, row.kernel}) || other == known.end()) continue;
    row = *other->second;
  }
  return lacking.size();
}

/// The ops of a problem's cases.
std::vector<OpInfo>& find_ops(Run& run, const CaseKey& key) {
  FamilyInfo& family =
      *std::ranges::find(run.families, mprof::family_of(std::string_view(key.variant)), &FamilyInfo::id);
  return std::ranges::find(family.problems, key.problem, &ProblemInfo::problem)->ops;
}

/// One case's program.
class ProgramRunner {
 public:
  ProgramRunner(Run& run, const ProgramContext& context, Case& c)
      : run_(run), context_(context), case_(c), program_(program_of(run, context, c)) {
    const std::string& path = program_.launch.command.front();
    if (!context.files->is_as_at_first(path))
      replaced_ =
          fmt::format("{} was replaced after it had been run: this would measure another program", path);
  }

  /// Both are false when it was interrupted.
  bool time(std::uint32_t round) {
    PassResult& pass = pass_of(Pass::timing);
    if (!replaced_.empty()) {
      leave_out(pass, round);
      return true;
    }
    const bool is_late = run_.plan.stopping.max_seconds > 0 && pass.seconds > longest_timing;
    if (round > 0 && is_late) {
      context_.progress.case_is_left_out(case_);
      return true;
    }
    PassResult result = time_once();
    // Rounds that are there stay.
    if (result.status == Status::interrupted && round > 0) return false;
    const bool goes_on = result.status != Status::interrupted;
    store(pass, result, round);
    return goes_on;
  }

  bool watch(Pass which) {
    PassResult& pass = pass_of(which);
    if (!replaced_.empty()) {
      skip(pass, replaced_);
      return true;
    }
    const InjectionKind* const kind = context_.injections.of(pass.pass);
    if (const auto reason = unavailable(kind)) {
      skip(pass, *reason);
      return true;
    }
    if (!run_.plan.window.empty()) {
      window_ = require_window(run_.plan.window);
      if (window_->kind == trace::Window::Kind::steps) {
        if (const auto reason = why_no_steps(run_.plan.window, steps())) {
          skip(pass, *reason);
          return true;
        }
        window_->range = steps().range;
      }
    }
    try {
      watch_with(*kind, pass);
    } catch (const Error& error) {
      if (error.code() != ExitCode::environment) throw;
      skip(pass, error.what());
    }
    return pass.status != Status::interrupted;
  }

 private:
  /// A round of a program that is another one by now. The rounds before it stay.
  void leave_out(PassResult& pass, std::uint32_t round) {
    if (round == 0) return skip(pass, replaced_);
    pass.status = Status::suspect;
    pass.reason = fmt::format("round {} and those after it were not made: {}", round + 1, replaced_);
    context_.directory.save(case_);
    context_.progress.case_is_left_out(case_);
  }

  [[nodiscard]] FoundSteps steps() const {
    const auto found = context_.steps->find(case_.id);
    return found != context_.steps->end() ? found->second : FoundSteps{};
  }

  /// False where the window never opened: there is nothing then, with the reason.
  bool is_in_window(const InjectedPass& seen, PassResult& result) const {
    if (!window_ || seen.part) return true;
    std::string why = why_never_opened(run_.plan.window, *window_, steps(), seen.trace, result.seconds);
    if (result.status != Status::ok) {
      result.outcome->notes.push_back(std::move(why) + ".");
      return false;
    }
    result.status = Status::skipped;
    result.reason = std::move(why);
    return false;
  }

  void watch_with(const InjectionKind& kind, PassResult& pass) {
    auto [result, seen] = watched(kind, pass.pass, false);
    const bool is_short = result.status == Status::ok && result.seconds <= run_.plan.replay_limit;
    if (!seen.lacking.empty() && is_short) replay(kind, result, seen);
    if (pass.pass == Pass::counters)
      add_counters(std::move(seen), result);
    else if (pass.pass == Pass::source)
      add_source_lines(std::move(seen), result);
    else
      add_trace(std::move(seen), result);
    store(pass, result, 0);
  }

  /// Runs it again and lets CUPTI replay kernels: of those that lack something all is of that one launch
  /// then.
  void replay(const InjectionKind& kind, PassResult& result, InjectedPass& seen) {
    auto [again, replayed] = watched(kind, result.pass, true, seen.lacking);
    result.seconds += again.seconds;
    if (again.status == Status::interrupted) {
      result.status = again.status;
      result.reason = again.reason;
    } else if (again.status != Status::ok) {
      seen.notes.push_back(
          fmt::format("Run again, to replay kernels that are launched too seldom for all "
                      "metrics, the program did not end well: {}.",
                      again.reason));
    } else if (const std::size_t kernels = complete(seen.measurements, replayed.measurements); kernels > 0) {
      seen.notes.push_back(
          fmt::format("{} launched too seldom for all metrics: the program was run again, and "
                      "CUPTI replayed {} for the passes.",
                      kernels == 1 ? "One kernel is" : fmt::format("{} kernels are", kernels),
                      kernels == 1 ? "it" : "each of them"));
    }
  }

  struct Watched {
    PassResult result;
    InjectedPass seen;
  };

  /// Once more without the kernels that stop the program when they are counted, as often as there is another.
  Watched watched(const InjectionKind& kind, Pass which, bool replays = false,
                  const std::vector<std::string>& wanted = {}) {
    while (true) {
      const TemporaryFolder folder("mprof-journals");
      const InjectionRequest request{.folder = folder.path(),
                                     .plan = run_.plan,
                                     .ops = range_ops(),
                                     .left_out = left_out_,
                                     .replays = replays,
                                     .wanted = wanted,
                                     .seconds = untraced_seconds()};
      if (kind.prepare) kind.prepare(request);
      const NamedPipe stopped(folder.path() / journal::stopped_pipe);
      std::map<std::string, std::string> variables = kind.variables(*find_injection(kind.library), request);
      variables[journal::folder_variable] = folder.path().string();
      if (window_)
        variables[trace::window_variable] = trace::written_window(*window_, nanoseconds_since_1970());
      std::optional<GpuSampling> sampling;
      if (which == Pass::trace && run_.plan.sample_interval > 0) sampling.emplace(sampling_setting());
      PassResult result = run_once(which, variables, stopped.fd());
      InjectedPass seen = kind.read(request);
      if (sampling) std::ranges::move(sampling->finish(seen.trace), std::back_inserter(seen.notes));
      const std::size_t before = left_out_.size();
      for (std::string& symbol : seen.stopped_by) {
        if (std::ranges::count(left_out_, symbol) == 0) left_out_.push_back(std::move(symbol));
      }
      if (result.status == Status::timeout && left_out_.size() > before) continue;
      return {std::move(result), std::move(seen)};
    }
  }

  [[nodiscard]] GpuSampling::Setting sampling_setting() const {
    const Device* const gpu = Devices::instance().find(gpu_device);
    return {.worker_command = context_.worker_command,
            .gpus = context_.gpus    ? context_.gpus()
                    : gpu != nullptr ? gpu->units()
                                     : std::vector<DeviceUnit>{},
            .interval = run_.plan.sample_interval,
            .clock = context_.clock,
            .interrupt_fd = context_.interrupt_fd};
  }

  static CaseProgram program_of(const Run& run, const ProgramContext& context, const Case& c) {
    if (context.program_of) return context.program_of(c);
    std::vector<std::string> words = find_variant(run, c.key.variant)->command;
    words.front() = program_path(words.front());
    return {.launch = {.command = std::move(words), .time_limit = run.plan.timeout}};
  }

  [[nodiscard]] PassResult& pass_of(Pass pass) const {
    return *std::ranges::find(case_.passes, pass, &PassResult::pass);
  }

  PassResult run_once(Pass pass, const std::map<std::string, std::string>& variables = {},
                      int give_up_fd = -1) {
    context_.progress.case_begins(case_, pass);
    ProgramLaunch launch = program_.launch;
    for (const auto& [name, value] : variables) launch.variables[name] = value;
    launch.interrupt_fd = context_.interrupt_fd;
    launch.give_up_fd = give_up_fd;
    const std::unique_ptr<OutputReader> reader = program_.reader ? program_.reader(pass) : nullptr;
    if (reader) launch.on_output = [&](std::string_view output) { reader->take(output); };
    const HostReading before = read_host(context_.clock.now());
    const std::int64_t began = nanoseconds_since_1970();
    const ProgramEnd end = run_to_end(launch, context_.clock);
    life_ = {began, began + std::llround(end.seconds * 1e9)};
    PassResult result{.pass = pass, .status = status_of(end), .seconds = end.seconds};
    if (result.status != Status::ok) result.reason = how_it_ended(end, launch.time_limit);
    result.outcome = outcome_of(end);
    if (pass == Pass::timing) {
      result.sampling =
          Sampling{.samples = 1, .ended_by = Ending::samples, .host_disturbance = host_disturbance(before)};
      result.measurements = measurements_of(end);
    }
    if (reader && result.status == Status::ok) set_ops(reader->finish(result), true);
    return result;
  }

  /// What others did to the host during an execution; of a short one, since an execution of the same case
  /// that is so long ago that something can be said.
  [[nodiscard]] std::string host_disturbance(const HostReading& before) const {
    static std::map<std::string, HostReading> starts;
    HostReading& start = starts.try_emplace(case_.id, before).first->second;
    const HostReading now = read_host(context_.clock.now());
    if (now.at - before.at >= shortest_host_load) start = before;
    if (now.at - start.at < shortest_host_load) return "";
    std::string text = what_disturbs(load_between(start, now), usable_cpus());
    start = now;
    return text;
  }

  /// With nothing in its processes but what writes the times of NVTX ranges, where they have any.
  PassResult time_once() {
    const std::optional<std::filesystem::path> library = find_injection(ranges_library);
    if (!library) return run_once(Pass::timing);
    const TemporaryFolder folder("mprof-journals");
    PassResult result = run_once(Pass::timing, {{"NVTX_INJECTION64_PATH", library->string()},
                                                {journal::folder_variable, folder.path().string()}});
    RangeTimes times = read_range_times(folder.path(), run_.plan.ops);
    if (!times.step_range.empty())
      (*context_.steps)[case_.id] = {times.step_range, times.steps, times.step_ranges};
    for (Measurement& time : times.group_times) {
      const bool is_told = std::ranges::any_of(result.measurements, [&](const Measurement& row) {
        return row.metric == time.metric && row.op == time.op;
      });
      if (!is_told) result.measurements.push_back(std::move(time));
    }
    set_ops(times.ops);
    return result;
  }

  /// Adds those that were found to the ops of the case's problem, and so of its other cases.
  void set_ops(const std::vector<std::string>& ops, bool are_printed = false) {
    if (ops.empty()) return;
    std::vector<OpInfo>& all = find_ops(run_, case_.key);
    if (all == planned_program_ops()) all.clear();
    add_program_ops(all, ops, are_printed);
    for (Case& other : run_.cases) {
      if (&find_ops(run_, other.key) == &all) other.ops = all;
    }
  }

  void skip(PassResult& pass, const std::string& reason) {
    store(pass, PassResult{.pass = pass.pass, .status = Status::skipped, .reason = reason}, 0);
  }

  [[nodiscard]] static std::optional<std::string> unavailable(const InjectionKind* kind) {
    if (kind == nullptr) return "this build of mprof is without CUDA";
    if (auto reason = kind->unavailable()) return reason;
    if (!find_injection(kind->library))
      return fmt::format("{} is missing, which an installation of mprof has in lib/mprof", kind->library);
    return std::nullopt;
  }

  /// What was seen until the program ended, however it did. Its ops are the case's.
  void add_trace(InjectedPass seen, PassResult& result) {
    result.outcome->notes = std::move(seen.notes);
    if (!is_in_window(seen, result)) return;
    if (seen.part) {
      result.outcome->notes.push_back(window_note(run_.plan.window, *seen.part, result.seconds));
    } else if (auto note = ignored_profiler_calls(seen.trace)) {
      result.outcome->notes.push_back(std::move(*note));
    }
    if (const std::string& glob = run_.plan.ops; !glob.empty() && !trace::fits_any_range(seen.trace, glob))
      result.outcome->notes.push_back(
          fmt::format("no NVTX range of the program fits --ops {}, so that all of it is one op", glob));
    const std::vector<std::string> ops =
        trace::make_program_case(seen.trace, {.case_id = case_.id,
                                              .ops = run_.plan.ops,
                                              .life = life_,
                                              .cuda_starts = std::move(seen.cuda_starts),
                                              .part = seen.part});
    if (ops.empty()) {
      if (result.status != Status::ok) return;
      result.status = Status::skipped;
      result.reason = result.outcome->notes.empty() ? "no process of the program called CUDA or NVTX"
                                                    : result.outcome->notes.front();
      return;
    }
    seen.trace.cases.front().counts.dropped += seen.dropped;
    trace::add_sample_tallies(seen.trace);
    trace::write_trace(context_.directory.trace_file(), seen.trace);
    set_ops(ops);
  }

  /// Likewise. Ops that only this pass has seen come last.
  void add_counters(InjectedPass seen, PassResult& result) {
    result.outcome->notes = std::move(seen.notes);
    if (!is_in_window(seen, result)) return;
    result.measurements = std::move(seen.measurements);
    const bool any =
        std::ranges::any_of(result.measurements, [](const Measurement& row) { return !row.samples.empty(); });
    if (!any && result.status == Status::ok) {
      result.status = Status::skipped;
      result.reason = why_nothing(result);
    }
    std::vector<std::string> ops = range_ops();
    for (const Measurement& row : result.measurements) {
      if (std::ranges::count(ops, row.op.text()) == 0) ops.push_back(row.op);
    }
    if (!ops.empty()) set_ops(ops);
  }

  void add_source_lines(InjectedPass seen, PassResult& result) const {
    result.outcome->notes = std::move(seen.notes);
    if (!is_in_window(seen, result)) return;
    result.source_lines = std::move(seen.source_lines);
    if (!result.source_lines.empty() || result.status != Status::ok) return;
    result.status = Status::skipped;
    result.reason = result.outcome->notes.empty() ? "no kernel of the program was sampled"
                                                  : result.outcome->notes.front();
  }

  /// Of its first round; 0 where none ended well.
  [[nodiscard]] double untraced_seconds() const {
    const PassResult* const timing = find_pass(case_, Pass::timing);
    if (timing == nullptr || timing->status != Status::ok) return 0;
    return timing->seconds / static_cast<double>(std::max<std::size_t>(1, rounds_of(*timing)));
  }

  [[nodiscard]] static std::string why_nothing(const PassResult& result) {
    if (!result.outcome->notes.empty()) return result.outcome->notes.front();
    for (const Measurement& row : result.measurements) {
      if (!row.absent.empty()) return "no kernel was counted: " + row.absent;
    }
    return "no process of the program launched a kernel";
  }

  /// The ops that earlier passes found among the ranges; none: none looked, or there are no ranges.
  [[nodiscard]] std::vector<std::string> range_ops() const {
    const std::vector<Measurement>& told = case_.passes.front().measurements;
    std::vector<std::string> names;
    if (case_.ops == planned_program_ops()) return names;
    for (const OpInfo& op : case_.ops) {
      const bool is_printed = std::ranges::any_of(
          told, [&](const Measurement& row) { return row.op == op.name && row.source == Source::printed; });
      if (!is_printed) names.push_back(op.name);
    }
    return names;
  }
  void store(PassResult& pass, const PassResult& result, std::uint32_t round) {
    if (round == 0)
      pass = result;
    else
      add_round(pass, result);
    context_.directory.save(case_);
    context_.progress.case_ends(case_, result);
  }

  Run& run_;
  const ProgramContext& context_;
  Case& case_;
  CaseProgram program_;
  std::string replaced_;                   ///< why it is not run any more; empty: it is
  trace::Interval life_{};                 ///< of the last execution, ns since 1970
  std::vector<std::string> left_out_;      ///< symbols of kernels that stop the program when they are counted
  std::optional<trace::Window> window_{};  ///< of the pass that is made
};

/// Of many rounds the first one's beginning, and how many there are.
class RoundsAsOneStep final : public Progress {
 public:
  explicit RoundsAsOneStep(Progress& all) : all_(all) {}
  void case_begins(const Case& c, Pass pass) override {
    if (rounds_ == 0) all_.case_begins(c, pass);
  }
  void case_ends(const Case&, const PassResult&) override { all_.case_goes_on(++rounds_); }

 private:
  Progress& all_;
  std::uint32_t rounds_ = 0;
};

/// The programs of a run, in turn.
class Programs {
 public:
  Programs(Run& run, const ProgramContext& context) : run_(run), context_(context) {}

  void run() {
    run_.state = RunState::running;
    if (run_.environment.empty() && !survey()) return finish(RunState::interrupted);
    std::vector<Task> tasks = schedule(run_);
    // As many rounds as one program needs are one step.
    if (is_repeated())
      std::erase_if(tasks, [](const Task& task) { return task.pass == Pass::timing && task.round > 0; });
    std::size_t steps = 0;
    for (const Task& task : tasks) steps += task.cases.size();
    context_.progress.begin(steps, static_cast<double>(steps));
    for (const Task& task : tasks) {
      for (const std::size_t index : task.cases) {
        if (!run(task, run_.cases[index])) return finish(RunState::interrupted);
      }
    }
    finish(RunState::complete);
  }

 private:
  bool survey() {
    context_.progress.surveying();
    if (!survey_machine(run_, context_.worker_command, context_.clock, context_.interrupt_fd)) return false;
    context_.directory.save(run_);
    return true;
  }

  /// False when it was interrupted. What failed in one round is not tried in the next.
  bool run(const Task& task, Case& c) {
    if (task.round > 0 && find_pass(c, task.pass)->status != Status::ok) {
      context_.progress.case_is_left_out(c);
      return true;
    }
    if (task.pass == Pass::timing && is_repeated()) return time_in_rounds(c);
    ProgramRunner runner(run_, context_, c);
    return task.pass == Pass::timing ? runner.time(task.round) : runner.watch(task.pass);
  }

  /// In as many rounds as it takes. False when it was interrupted.
  bool time_in_rounds(Case& c) {
    RoundsAsOneStep progress(context_.progress);
    const ProgramContext counted{.worker_command = context_.worker_command,
                                 .directory = context_.directory,
                                 .clock = context_.clock,
                                 .progress = progress,
                                 .interrupt_fd = context_.interrupt_fd,
                                 .injections = context_.injections,
                                 .files = context_.files,
                                 .steps = context_.steps,
                                 .gpus = context_.gpus};
    bool goes_on = true;
    for (std::uint32_t round = 0; goes_on && (round == 0 || needs_round(c)); ++round)
      goes_on = ProgramRunner(run_, counted, c).time(round);
    context_.progress.case_ends(c, *find_pass(c, Pass::timing));
    return goes_on;
  }

  [[nodiscard]] bool needs_round(const Case& c) const {
    const PassResult& timing = *find_pass(c, Pass::timing);
    const std::size_t rounds = rounds_of(timing);
    if (timing.status != Status::ok) return false;
    if (rounds < usual_program_rounds) return timing.seconds < longest_timing;
    if (rounds >= most_rounds || timing.seconds >= longest_further) return false;
    return rounds < rounds_of_short || !is_narrow(run_, c.id, narrow);
  }

  /// Whether the plan leaves the number of rounds to the time that they take.
  [[nodiscard]] bool has_open_rounds() const { return run_.plan.stopping.max_seconds > 0; }
  /// Whether a program is run as often as it takes. The programs of a suite take turns, so that a drift of
  /// the machine hits all: each has the plan's rounds.
  [[nodiscard]] bool is_repeated() const { return has_open_rounds() && !context_.program_of; }

  /// A plan that left the number of rounds to the time that they take has then as many as were made.
  void finish(RunState state) {
    if (has_open_rounds() && state == RunState::complete) {
      std::size_t rounds = 1;
      for (const Case& c : run_.cases) {
        if (const PassResult* timing = find_pass(c, Pass::timing))
          rounds = std::max(rounds, rounds_of(*timing));
      }
      run_.plan.rounds = static_cast<std::uint32_t>(rounds);
    }
    run_.state = state;
    run_.finished = utc_now();
    context_.directory.save(run_);
    context_.progress.end();
  }

  Run& run_;
  const ProgramContext& context_;
};

VariantInfo variant_of(const ProgramRequest& request) {
  return {
      .id = fmt::format("{}/{}", program_family_id, request.name),
      .family = program_family_id,
      .title = request.name,
      .idea = fmt::format("A program as it is: {}. No output of it was verified: mprof knows its exit code "
                          "alone.",
                          fmt::join(request.command, " ")),
      .device = gpu_device,
      .subject = Subject::program,
      .command = request.command};
}

}  // namespace

Run planned_program_run(const ProgramRequest& request) {
  Run run = begin_record(request.command_line);
  run.families = {program_family("Programs, as they are")};
  Nouns& nouns = run.families.front().nouns;
  nouns.group = "range";
  nouns.groups = "ranges";
  nouns.group_time_title = "Range Time";
  run.families.front().problems.front().ops = planned_program_ops();
  run.variants = {variant_of(request)};
  run.plan.variants = {run.variants.front().id};
  run.plan.problems[program_family_id] = {Problem{}};
  run.plan.passes = request.passes;
  run.plan.timeout = request.timeout;
  run.plan.metrics = request.metrics;
  run.plan.ops = request.ops;
  run.plan.kernels = request.kernels;
  run.plan.launch_skip = request.launch_skip;
  run.plan.max_kernels = request.max_kernels;
  run.plan.window = request.window;
  run.plan.sample_interval = request.sample_interval;
  run.plan.without_stacks = request.without_stacks;
  run.plan.replay_limit = request.replay_limit;
  run.plan.rounds = request.rounds.value_or(usual_program_rounds);
  // A sample a round; the time in which rounds may begin.
  run.plan.stopping = {
      .min_samples = 1, .max_samples = 1, .max_seconds = request.rounds ? 0 : longest_timing};
  Case& c = run.cases.emplace_back();
  c.key.variant = run.variants.front().id;
  c.id = case_id(c.key, run.variants.front());
  c.ops = run.families.front().problems.front().ops;
  for (const Pass pass : run.plan.passes)
    c.passes.push_back({.pass = pass, .status = Status::pending, .reason = "not reached"});
  return run;
}

bool ProgramFiles::is_as_at_first(const std::string& path) {
  constexpr std::int64_t nano = 1'000'000'000;
  Identity now;
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0)
    now = {status.st_dev, status.st_ino, status.st_size,
           status.st_mtim.tv_sec * nano + status.st_mtim.tv_nsec};
  return first_.emplace(path, now).first->second == now;
}

void measure_programs(Run& run, const ProgramContext& context) {
  Programs(run, context).run();
}

}  // namespace mprof
