// SPDX-License-Identifier: MIT
#include "runner/worker.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <future>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "collectors/gpu_sampling.hpp"
#include "kernels/choices.hpp"
#include "kernels/family_library.hpp"
#include "kernels/plugin.hpp"
#include "model/version.hpp"
#include "runner/measure.hpp"
#include "runner/protocol.hpp"
#include "system/error.hpp"
#include "system/process_state.hpp"
#include "system/programs.hpp"
#include "system/strays.hpp"

namespace mprof {
namespace {

/// The way back to the coordinator.
class Channel {
 public:
  /// Takes over standard input and output. Whatever prints from now on prints to standard error.
  Channel() : fd_(::dup(STDOUT_FILENO)), input_fd_(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)) {
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::dup2(nothing, STDIN_FILENO);
    ::close(nothing);
  }

  /// Reads the job, which is the first line of standard input. From then on others read nothing there.
  Job job() {
    Job job = parse_job(next_line().value_or(""));
    token_ = std::exchange(job.token, {});
    return job;
  }

  /// Waits so many milliseconds, or less; false when the coordinator said something or ended.
  [[nodiscard]] bool is_quiet_for(int milliseconds) const {
    pollfd input{input_fd_, POLLIN, 0};
    const int ready = ::poll(&input, 1, milliseconds);
    return ready == 0 || (ready < 0 && errno == EINTR);
  }

  /// Waits for what the coordinator says next; nullopt when it says nothing more.
  std::optional<std::string> next_line() {
    std::size_t end = 0;
    while ((end = received_.find('\n')) == std::string::npos) {
      std::array<char, 65536> chunk;
      const ssize_t count = ::read(input_fd_, chunk.data(), chunk.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return received_.empty() ? std::nullopt : std::optional(std::exchange(received_, {}));
      received_.append(chunk.data(), static_cast<std::size_t>(count));
    }
    std::string line = received_.substr(0, end);
    received_.erase(0, end + 1);
    return line;
  }

  void send(Message message) const {
    message.token = token_;
    write(to_line(message));
  }

  /// What a message before it announced.
  void send(std::span<const float> values) const {
    write({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  }

  /// Ends the process when nobody reads any more. Without a parent to watch, a worker that hangs would stay.
  void end_with_reader() const {
    std::thread([fd = fd_] {
      pollfd reader{fd, 0, 0};  // POLLERR is always watched for
      while (::poll(&reader, 1, -1) < 0 && errno == EINTR) {
      }
      ::kill(::getpid(), SIGKILL);
    }).detach();
  }

 private:
  void write(std::string_view bytes) const {
    if (::getpid() != owner_) ::_exit(EXIT_FAILURE);  // a copy of the worker says nothing
    for (std::size_t sent = 0; sent < bytes.size();) {
      const ssize_t written = ::write(fd_, bytes.data() + sent, bytes.size() - sent);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) throw Error(ExitCode::fault, "the coordinator no longer listens");
      sent += static_cast<std::size_t>(written);
    }
  }

  int fd_;
  int input_fd_;
  pid_t owner_ = ::getpid();
  std::string token_;
  std::string received_;  ///< and not yet read
};

Message survey(const Job& job, const WorkerContext& context) {
  Message answer{.kind = MessageKind::surveyed, .takes_turns = true};
  answer.environment = context.registry.library_versions(job.variants);
  answer.environment["build"] = {{"version", version},
                                 {"revision", revision},
                                 {"compiler", compiler},
                                 {"flags", build_flags},
                                 {"build type", build_type}};
  for (const std::string& id : job.devices) {
    const Device* device = context.devices.find(id);
    if (device == nullptr || device->unavailable()) continue;
    for (auto& [group, facts] : device->fingerprint()) answer.environment[group].merge(facts);
    if (job.seconds <= 0) continue;  // nobody wants them
    for (Ceiling& ceiling : device->measure_ceilings(job.seconds))
      answer.ceilings.push_back(std::move(ceiling));
  }
  return answer;
}

void describe_family(const Job& job, Message& answer) {
  const FamilyLibrary library(job.plan.sources.front().library);
  answer.family = library.info();
  answer.problems = library.problems();
  answer.quick_problems = library.quick_problems();
  std::vector<Problem> asked;
  for (const CaseKey& key : job.cases) asked.push_back(key.problem);
  if (asked.empty()) {
    asked = library.problems();
    std::ranges::copy(library.quick_problems(), std::back_inserter(asked));
  }
  for (const Problem& problem : asked) {
    ProblemInfo& info = answer.family->problems.emplace_back(ProblemInfo{.problem = problem});
    for (const OpLayout& op : library.ops(problem)) info.ops.push_back(op.info);
  }
}

Message description(const Job& job) {
  Message answer{.kind = MessageKind::described};
  try {
    const PluginSource& source = job.plan.sources.at(0);
    if (source.family.empty())
      answer.variant = Plugin(source.library).info();
    else
      describe_family(job, answer);
  } catch (const Error& error) {
    answer.refusal = error.what();
  }
  return answer;
}

/// The libraries of the cases' variants and of their families, and no others: two of them could mean
/// different things by one name.
void load_plugins(const Job& job, Registry& registry) {
  const auto is_needed = [&](const PluginSource& source) {
    return std::ranges::any_of(job.cases, [&](const CaseKey& key) {
      return source.family.empty() ? key.variant == source.variant
                                   : family_of(std::string_view(key.variant)) == source.family;
    });
  };
  for (const bool families : {true, false}) {  // a variant is of one
    for (const PluginSource& source : job.plan.sources) {
      if (source.family.empty() != families && is_needed(source)) load_plugin(registry, source);
    }
  }
}

/// Keeps the workload of the last problem: loading it anew for each point of a sweep would take
/// longer than running them.
class Bench {
 public:
  Bench(const Job& job, const WorkerContext& context, Channel& channel)
      : job_(job), context_(context), channel_(channel) {}

  /// `verified` and `chosen`: of the case, in an earlier round or pass. False when what is left of the job
  /// needs another process.
  bool run(const CaseKey& key, std::span<const Verification> verified, choices::All chosen) {
    verified_ = verified;
    const RegisteredVariant* variant = context_.registry.variant(key.variant);
    if (variant == nullptr) throw Error(ExitCode::fault, "no variant is registered as " + key.variant);
    const Case c{.id = case_id(key, variant->info), .key = key};
    channel_.send({.kind = MessageKind::begin, .case_id = c.id});
    if (job_.takes_turns) channel_.next_line();
    choices::begin(std::move(chosen));
    const ProcessState before = ProcessState::now();
    PassResult result = result_of(c, *variant);
    result.choices = choices::end();
    const bool has_strays = end_strays_of(result);
    channel_.send({.kind = MessageKind::end, .case_id = c.id, .result = result});
    // What failed may have left the process unusable: after an illegal access every CUDA call of it fails.
    return result.status != Status::failed && !has_strays && has_its_inputs_ &&
           (is_trusted(*variant) || ProcessState::now().changes_since(before).empty());
  }

 private:
  [[nodiscard]] PassResult without_result(Status status, std::string reason) const {
    PassResult result{.pass = job_.pass};
    result.status = status;
    result.reason = std::move(reason);
    return result;
  }

  /// mprof's own variants on other devices than the CPU: their libraries set up the process as they need it.
  [[nodiscard]] bool is_trusted(const RegisteredVariant& variant) const {
    const VariantInfo& info = variant.info;
    return info.device != "cpu" && std::ranges::none_of(job_.plan.sources, [&](const PluginSource& source) {
             return source.variant == info.id || source.family == info.family;
           });
  }

  /// Processes that the case has left: copies of this one, which came back from its code, and others. Whether
  /// there were any.
  static bool end_strays_of(PassResult& result) {
    const std::size_t running = end_strays();
    const std::size_t copies = copies_that_came_back();
    if (running + copies == 0) return false;
    if (result.status != Status::ok) return true;
    result.status = Status::suspect;
    if (copies > 0)
      result.reason =
          "its code forked, and the copy of the process came back from it; mprof ended the copy, and what "
          "was timed ran beside it";
    else
      result.reason = fmt::format("it left {} running, which mprof ended: work could go on there untimed",
                                  running == 1 ? "a process" : fmt::format("{} processes", running));
    return true;
  }

  PassResult result_of(const Case& c, const RegisteredVariant& variant) {
    has_its_inputs_ = true;
    try {
      const auto reason = variant.impossible ? variant.impossible(c.key.parameters) : std::nullopt;
      return reason ? without_result(Status::skipped, *reason) : measure(c, variant.info);
    } catch (const std::bad_alloc&) {
      return without_result(Status::failed, "out of memory on the host");
    } catch (const std::exception& error) {
      return without_result(Status::failed, error.what());
    }
  }

  PassResult measure(Case c, const VariantInfo& variant) {
    const Device* device = context_.devices.find(variant.device);
    if (device == nullptr) throw Error(ExitCode::fault, "no device is registered as " + variant.device);
    const Family* family = context_.registry.family(variant.family);
    if (family == nullptr) throw Error(ExitCode::fault, "no family is registered as " + variant.family);
    if (const auto reason = wake_and_load(*device, *family, c.key.problem))
      return without_result(Status::skipped, *reason);
    c.ops = family->ops(c.key.problem);
    const MeasureContext context{
        .subject = c,
        .family = family->info(),
        .device = *device,
        .clock = context_.clock,
        .collectors = context_.collectors,
        .plan = job_.plan,
        .trace_file = job_.trace_file,
        .seed = job_.seed ^ std::hash<std::string>{}(c.id),
        .verified = verified_,
        .takes_busy_host = job_.takes_busy_host,
        .takes_turns = job_.takes_turns,
        .on_sample = [&](std::uint32_t samples, std::optional<Ending> ending) {
          channel_.send({.kind = MessageKind::sample, .case_id = c.id, .samples = samples, .ending = ending});
          return job_.takes_turns && channel_.next_line() == go_on;
        }};
    const std::unique_ptr<Execution> execution =
        workload(*family, c.key.problem).bind(c.key.variant, c.key.parameters);
    const bool is_timed = job_.pass == Pass::timing;
    PassResult result =
        is_timed ? measure_timing(context, *execution) : measure_watched(context, job_.pass, *execution);
    // The timing pass calls a case wrong that wrote to them.
    if (!is_timed || result.status == Status::wrong) has_its_inputs_ = execution->has_its_inputs();
    return result;
  }

  /// Why the pass cannot run on the device, or nullopt. Where something could watch it the first answer may
  /// wake up a driver, and so do the first calls of a device: the inputs are loaded meanwhile.
  std::optional<std::string> wake_and_load(const Device& device, const Family& family,
                                           const Problem& problem) {
    std::future<void> loading;
    const bool is_watched = !context_.collectors.of(job_.pass, device.id()).empty();
    if (is_watched && !std::exchange(is_awake_, true))
      loading = std::async(std::launch::async, [&] { static_cast<void>(workload(family, problem)); });
    std::optional<std::string> reason = pass_unavailable(context_.collectors, job_.pass, device);
    if (!reason && loading.valid()) device.synchronize();
    if (!reason && loading.valid()) loading.get();
    return reason;
  }

  Workload& workload(const Family& family, const Problem& problem) {
    if (workload_ == nullptr || loaded_ != std::pair(&family, problem)) {
      workload_.reset();
      workload_ = family.load(problem, job_.plan.inputs);
      loaded_ = {&family, problem};
    }
    return *workload_;
  }

  const Job& job_;
  const WorkerContext& context_;
  Channel& channel_;
  std::unique_ptr<Workload> workload_;
  std::pair<const Family*, Problem> loaded_;
  std::span<const Verification> verified_;  ///< of the case that runs
  bool is_awake_ = false;                   ///< the device; from the first case on
  bool has_its_inputs_ = true;              ///< what the last case read, and the next one would
};

/// One after another, until there are no more.
void answer_challenges(const Job& job, const WorkerContext& context, Channel& channel) {
  const CaseKey& key = job.cases.at(0);
  const RegisteredVariant* variant = context.registry.variant(key.variant);
  if (variant == nullptr) throw Error(ExitCode::fault, "no variant is registered as " + key.variant);
  const Family* family = context.registry.family(variant->info.family);
  const Device* device = context.devices.find(variant->info.device);
  if (family == nullptr || device == nullptr)
    throw Error(ExitCode::fault, "no family or no device is registered for " + key.variant);
  const std::unique_ptr<Workload> workload = family->load(key.problem, job.plan.inputs);
  const std::unique_ptr<Execution> execution = workload->bind(key.variant, key.parameters);
  device->synchronize();
  channel.send({.kind = MessageKind::ready});
  while (const std::optional<std::string> line = channel.next_line()) {
    const auto give = [&](std::string_view op, std::span<const float> output) {
      channel.send({.kind = MessageKind::output, .op = std::string(op), .elements = output.size()});
      channel.send(output);
    };
    run_unmeasured(*device, *execution,
                   {.unseen = true, .seed = parse_challenge(*line).seed, .on_output = give});
    channel.send({.kind = MessageKind::answered});
  }
}

void sample_gpu(const Job& job, const Channel& channel) {
  constexpr int between_takes = 100;  // ms
  Message answer{.kind = MessageKind::sampled};
  try {
    const std::unique_ptr<GpuSampler> sampler = GpuSamplers::instance().make(job.seconds);
    answer.notes = notes_of(record_samples(
        *sampler, job.trace_file, [&] { channel.send({.kind = MessageKind::ready}); },
        [&] { return channel.is_quiet_for(between_takes); }));
  } catch (const Error& error) {
    answer.refusal = error.what();
  }
  channel.send(answer);
}

}  // namespace

int run_worker(const WorkerContext& context) {
  Channel channel;
  Job job = channel.job();
  adopt_strays();
  watch_for_copies();
  // A coordinator that dies must not leave a worker behind that goes on for minutes. Where it is not the
  // parent, the signal would come when the thread of the tool that started the worker ends.
  if (job.through_tool) {
    channel.end_with_reader();
  } else {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  }
  if (job.kind == JobKind::survey) {
    channel.send(survey(job, context));
    return 0;
  }
  if (job.kind == JobKind::describe) {
    channel.send(description(job));
    return 0;
  }
  if (job.kind == JobKind::sample_gpu) {
    sample_gpu(job, channel);
    return 0;
  }
  load_plugins(job, context.registry);
  if (job.kind == JobKind::challenge) {
    answer_challenges(job, context, channel);
    return 0;
  }
  Bench bench(job, context, channel);
  job.verified.resize(job.cases.size());
  job.choices.resize(job.cases.size());
  for (std::size_t i = 0; i < job.cases.size(); ++i) {
    if (!bench.run(job.cases[i], job.verified[i], std::move(job.choices[i])))
      break;  // the coordinator gives what is left to a new process
  }
  return 0;
}

std::vector<std::string> own_worker() {
  return {own_program().string(), "worker"};
}

}  // namespace mprof
