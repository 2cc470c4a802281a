#include "runner/program/program_run.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "collectors/injection.hpp"
#include "collectors/range_times.hpp"
#include "model/rounds.hpp"
#include "model/trace/journal.hpp"
#include "model/trace/program.hpp"
#include "model/trace/writer.hpp"
#include "model/version.hpp"
#include "runner/program/family.hpp"
#include "runner/survey.hpp"
#include "system/temporary_folder.hpp"
#include "system/watched_program.hpp"

namespace mprof {
namespace {

constexpr std::uint32_t most_rounds = 5;  // where --rounds does not say
constexpr double longest_timing = 60;     // s, likewise: no round begins later
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
      sample("peak_memory", peak,
             "it was not above that of mprof itself, which Linux counts as the program's when it starts")};
}

Status status_of(const ProgramEnd& end) {
  switch (end.how) {
    case ProgramEnd::How::exited:
      return end.code == 0 ? Status::ok : Status::failed;
    case ProgramEnd::How::signalled:
      return Status::crashed;
    case ProgramEnd::How::time_limit:
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

class ProgramRunner {
 public:
  ProgramRunner(Run& run, const ProgramContext& context)
      : run_(run), context_(context), case_(run.cases.front()), variant_(run.variants.front()) {}

  void run() {
    context_.progress.surveying();
    if (!survey_machine(run_, context_.worker_command, context_.clock, context_.interrupt_fd))
      return finish(RunState::interrupted);
    context_.directory.save(run_);
    context_.progress.begin(steps(), static_cast<double>(steps()));
    for (PassResult& pass : case_.passes) {
      const bool ended = pass.pass == Pass::timing ? time(pass) : watch(pass);
      if (!ended) return finish(RunState::interrupted);
    }
    finish(RunState::complete);
  }

 private:
  [[nodiscard]] std::size_t steps() const {
    return case_.passes.size() - 1 + (case_.passes.front().pass == Pass::timing ? run_.plan.rounds : 1);
  }

  [[nodiscard]] PassResult run_once(Pass pass,
                                    const std::map<std::string, std::string>& variables = {}) const {
    context_.progress.case_begins(case_, pass);
    const ProgramEnd end = run_to_end({.command = command(),
                                       .variables = variables,
                                       .time_limit = run_.plan.timeout,
                                       .interrupt_fd = context_.interrupt_fd},
                                      context_.clock);
    PassResult result{.pass = pass, .status = status_of(end), .seconds = end.seconds};
    if (result.status != Status::ok) result.reason = how_it_ended(end, run_.plan.timeout);
    result.outcome = outcome_of(end);
    if (pass != Pass::timing) return result;
    result.sampling = Sampling{.samples = 1, .ended_by = Ending::samples};
    result.measurements = measurements_of(end);
    return result;
  }

  [[nodiscard]] std::vector<std::string> command() const {
    std::vector<std::string> words = variant_.command;
    words.front() = program_path(words.front());
    return words;
  }

  /// With nothing in its processes but what writes the times of NVTX ranges, where they have any.
  PassResult time_once() {
    const std::optional<std::filesystem::path> library = find_injection(ranges_library);
    if (!library) return run_once(Pass::timing);
    const TemporaryFolder folder("mprof-journals");
    PassResult result = run_once(Pass::timing, {{"NVTX_INJECTION64_PATH", library->string()},
                                                {journal::folder_variable, folder.path().string()}});
    RangeTimes times = read_range_times(folder.path(), run_.plan.ops);
    std::ranges::move(times.group_times, std::back_inserter(result.measurements));
    if (!times.ops.empty()) set_ops(times.ops);
    return result;
  }

  void set_ops(const std::vector<std::string>& ops) {
    run_.families.front().problems.front().ops.clear();
    add_program_ops(run_.families.front(), ops);
    case_.ops = run_.families.front().problems.front().ops;
  }

  /// False when it was interrupted. Rounds that are there stay.
  bool time(PassResult& pass) {
    const double begun = context_.clock.now();
    for (std::uint32_t round = 0; round < run_.plan.rounds; ++round) {
      const bool is_late = !is_given() && context_.clock.now() - begun > longest_timing;
      if ((round > 0 && pass.status != Status::ok) || is_late) {
        context_.progress.case_is_left_out(case_);
        continue;
      }
      PassResult result = time_once();
      if (result.status == Status::interrupted && round > 0) return false;
      const bool goes_on = result.status != Status::interrupted;
      store(pass, result, round);
      if (!goes_on) return false;
    }
    if (!is_given()) run_.plan.rounds = static_cast<std::uint32_t>(std::max<std::size_t>(rounds_of(pass), 1));
    return true;
  }

  /// Likewise.
  bool watch(PassResult& pass) {
    const InjectionKind* const kind = context_.injections.of(pass.pass);
    if (const auto reason = unavailable(kind)) {
      skip(pass, *reason);
      return true;
    }
    const TemporaryFolder folder("mprof-journals");
    std::map<std::string, std::string> variables = kind->variables(*find_injection(kind->library));
    variables[journal::folder_variable] = folder.path().string();
    PassResult result = run_once(pass.pass, variables);
    add_trace(kind->read(folder.path()), result);
    store(pass, result, 0);
    return result.status != Status::interrupted;
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
    const std::vector<std::string> ops =
        trace::make_program_case(seen.trace, {.case_id = case_.id, .ops = run_.plan.ops});
    if (ops.empty()) {
      if (result.status != Status::ok) return;
      result.status = Status::skipped;
      result.reason = result.outcome->notes.empty() ? "no process of the program called CUDA or NVTX"
                                                    : result.outcome->notes.front();
      return;
    }
    seen.trace.cases.front().counts.dropped += seen.dropped;
    trace::write_trace(context_.directory.trace_file(), seen.trace);
    set_ops(ops);
  }

  [[nodiscard]] bool is_given() const { return run_.plan.stopping.max_seconds == 0; }

  void store(PassResult& pass, const PassResult& result, std::uint32_t round) {
    if (round == 0)
      pass = result;
    else
      add_round(pass, result);
    context_.directory.save(case_);
    context_.progress.case_ends(case_, result);
  }

  void finish(RunState state) {
    run_.state = state;
    run_.finished = utc_now();
    context_.directory.save(run_);
    context_.progress.end();
  }

  Run& run_;
  const ProgramContext& context_;
  Case& case_;
  const VariantInfo& variant_;
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
  Run run;
  run.tool = {version, revision};
  run.command_line = request.command_line;
  run.started = utc_now();
  run.families = {program_family("Programs, as they are")};
  Nouns& nouns = run.families.front().nouns;
  nouns.group = "range";
  nouns.groups = "ranges";
  nouns.group_time_title = "Range Time";
  add_program_ops(run.families.front(), {trace::whole_program});
  run.variants = {variant_of(request)};
  run.plan.variants = {run.variants.front().id};
  run.plan.problems[program_family_id] = {Problem{}};
  run.plan.passes = request.passes;
  run.plan.timeout = request.timeout;
  run.plan.ops = request.ops;
  run.plan.rounds = request.rounds.value_or(most_rounds);
  // A sample a round; the time in which rounds may begin.
  run.plan.stopping = {.min_samples = 1,
                       .max_samples = 1,
                       .max_seconds = request.rounds ? 0 : longest_timing,
                       .relative_half_width = 0};
  Case& c = run.cases.emplace_back();
  c.key.variant = run.variants.front().id;
  c.id = case_id(c.key, run.variants.front());
  c.ops = run.families.front().problems.front().ops;
  for (const Pass pass : run.plan.passes)
    c.passes.push_back({.pass = pass, .status = Status::pending, .reason = "not reached"});
  return run;
}

void measure_program(Run& run, const ProgramContext& context) {
  ProgramRunner(run, context).run();
}

}  // namespace mprof
