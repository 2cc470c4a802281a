// SPDX-License-Identifier: MIT
#include "runner/survey.hpp"

#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "runner/protocol.hpp"
#include "system/error.hpp"
#include "system/process.hpp"
#include "system/programs.hpp"

namespace mprof {
namespace {

constexpr double survey_limit = 120;         // s
constexpr double seconds_of_ceilings = 1.6;  // of all devices together
constexpr const char* host_device = "cpu";
/// The fields of the environment that the survey leaves when it fails.
constexpr const char* survey_group = "survey";
constexpr const char* no_peaks = "MPROF_NO_PEAKS";

}  // namespace

bool wants_peaks() {
  return environment_variable(no_peaks).empty();
}

std::string with_last_words(const std::string& sentence, Process& worker) {
  const std::string words = worker.last_words();
  return words.empty() ? sentence : sentence + ". Its last words: " + words;
}

namespace {

/// What a worker says of the machine; nullopt when that was interrupted. Throws Error where it says nothing.
std::optional<Message> survey(const Run& run, const std::vector<std::string>& worker_command,
                              const Clock& clock, int interrupt_fd, Surveyed what) {
  Job job{.kind = JobKind::survey};
  std::set<std::string> devices{host_device};
  for (const VariantInfo& variant : run.variants) {
    devices.insert(variant.device);
    job.variants.push_back(variant.id);
  }
  if (wants_peaks()) job.seconds = seconds_of_ceilings / static_cast<double>(devices.size());
  if (what == Surveyed::devices) devices.erase(host_device);
  if (what == Surveyed::host) devices = {host_device};
  job.devices.assign(devices.begin(), devices.end());
  Process worker(worker_command, to_line(job));
  const auto event = worker.next(clock, clock.now() + survey_limit, interrupt_fd);
  if (event.kind == Process::Event::Kind::interrupted) return std::nullopt;
  if (event.kind != Process::Event::Kind::line) {
    worker.kill();
    throw Error(ExitCode::fault, with_last_words("the worker gave none: " + worker.how_it_ended(), worker));
  }
  return parse_message(event.line);
}

void add(Run& run, Message answer) {
  if (!wants_peaks())
    answer.environment[survey_group]["peak rates"] = Absent{fmt::format("{} is set", no_peaks)};
  for (auto& [group, facts] : run.environment) answer.environment[group].merge(facts);
  run.environment = std::move(answer.environment);
  run.ceilings.insert(run.ceilings.end(), answer.ceilings.begin(), answer.ceilings.end());
}

}  // namespace

bool survey_machine(Run& run, const std::vector<std::string>& worker_command, const Clock& clock,
                    int interrupt_fd, Surveyed what) {
  try {
    std::optional<Message> answer = survey(run, worker_command, clock, interrupt_fd, what);
    if (!answer) return false;
    add(run, std::move(*answer));
  } catch (const Error& error) {
    run.environment[survey_group]["fingerprint"] = Absent{error.what()};
  }
  return true;
}

bool survey_for_turns(Run& run, const std::vector<std::string>& worker_command, const Clock& clock,
                      int interrupt_fd) {
  std::optional<Message> answer;
  try {
    answer = survey(run, worker_command, clock, interrupt_fd, Surveyed::all);
  } catch (const Error& error) {
    throw Error(ExitCode::environment, fmt::format("it does not answer as an mprof does: {}", error.what()));
  }
  if (!answer) return false;
  if (!answer->takes_turns)
    throw Error(ExitCode::environment,
                "this build is from before builds took turns. Record a run with it, and use --baseline DIR");
  add(run, std::move(*answer));
  return true;
}

}  // namespace mprof
