// SPDX-License-Identifier: MIT
#include "runner/survey.hpp"

#include <set>

#include "runner/protocol.hpp"
#include "system/error.hpp"
#include "system/process.hpp"

namespace mprof {
namespace {

constexpr double survey_limit = 120;         // s
constexpr double seconds_of_ceilings = 1.6;  // of all devices together
constexpr const char* host_device = "cpu";
/// The fields of the environment that the survey leaves when it fails.
constexpr const char* survey_group = "survey";

}  // namespace

std::string with_last_words(const std::string& sentence, Process& worker) {
  const std::string words = worker.last_words();
  return words.empty() ? sentence : sentence + ". Its last words: " + words;
}

bool survey_machine(Run& run, const std::vector<std::string>& worker_command, const Clock& clock,
                    int interrupt_fd, Surveyed what) {
  Job job{.kind = JobKind::survey};
  std::set<std::string> devices{host_device};
  for (const VariantInfo& variant : run.variants) devices.insert(variant.device);
  job.seconds = seconds_of_ceilings / static_cast<double>(devices.size());
  if (what == Surveyed::devices) devices.erase(host_device);
  if (what == Surveyed::host) devices = {host_device};
  job.devices.assign(devices.begin(), devices.end());
  Process worker(worker_command, to_line(job));
  const auto event = worker.next(clock, clock.now() + survey_limit, interrupt_fd);
  if (event.kind == Process::Event::Kind::interrupted) return false;
  try {
    if (event.kind != Process::Event::Kind::line) {
      worker.kill();
      throw Error(ExitCode::fault, with_last_words("the worker gave none: " + worker.how_it_ended(), worker));
    }
    Message answer = parse_message(event.line);
    for (auto& [group, facts] : run.environment) answer.environment[group].merge(facts);
    run.environment = std::move(answer.environment);
    run.ceilings.insert(run.ceilings.end(), answer.ceilings.begin(), answer.ceilings.end());
  } catch (const Error& error) {
    run.environment[survey_group]["fingerprint"] = Absent{error.what()};
  }
  return true;
}

}  // namespace mprof
