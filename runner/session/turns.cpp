// SPDX-License-Identifier: MIT
#include "runner/session/turns.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "device/device.hpp"
#include "runner/begin.hpp"
#include "runner/program/family.hpp"
#include "runner/worker.hpp"
#include "system/error.hpp"
#include "system/watched_program.hpp"

namespace mprof {

Run planned_session_run(const SessionSide& side, RunRequest request, const Registry& registry,
                        std::vector<std::string> command_line) {
  request.patterns = {side.variant};
  request.sources = side.sources;
  request.settings = side.settings;
  request.passes = {Pass::timing};
  request.rounds = 1;
  Plan plan = make_plan(request, registry, Devices::instance());
  plan.stopping.max_samples = 20;  // more rounds tell more than more samples
  plan.rounds = 0;
  Run run = begin_run(std::move(plan), registry, std::move(command_line));
  prepare_run(run, registry);
  const PassResult* const timing = find_pass(run.cases.at(0), Pass::timing);
  if (timing->status == Status::skipped)
    throw Error(ExitCode::environment, fmt::format("{} cannot run here: {}", side.variant, timing->reason));
  return run;
}

Run planned_session_run(const SessionSide& side, double timeout, std::vector<std::string> command_line) {
  Run run = planned_program_run({.command = side.command,
                                 .path = program_path(side.command.front()),
                                 .name = name_of_command(side.command),
                                 .passes = {Pass::timing},
                                 .rounds = 1,
                                 .timeout = timeout,
                                 .command_line = std::move(command_line)});
  run.plan.rounds = 0;
  return run;
}

bool Turns::run_block() {
  if (!std::exchange(have_programs_run_, true) && !run_programs_once()) return false;
  std::array<SessionArm*, 3> order{&arms_[0], &arms_[1], &arms_[2]};
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_() % i]);
  const auto measure = [&](SessionArm* arm) { return run_round(*arm); };
  return std::all_of(order.begin(), order.end(), measure) &&
         std::all_of(order.rbegin(), order.rend(), measure);
}

bool Turns::run_programs_once() {
  for (SessionArm* const arm : {&arms_[0], &arms_[1]}) {
    if (arm->side.command.empty()) continue;
    Run record = arm->run;
    if (!run_round(*arm)) return false;
    record.environment = arm->run.environment;
    record.ceilings = arm->run.ceilings;
    arm->run = std::move(record);
  }
  return true;
}

bool Turns::run_round(SessionArm& arm) {
  ++arm.run.plan.rounds;
  if (arm.run.environment.empty()) take_environment(arm);
  measure(arm);
  was_interrupted_ = arm.run.state == RunState::interrupted;
  if (was_interrupted_) return false;
  const PassResult& timing = *find_pass(arm.run.cases.at(0), Pass::timing);
  if (timing.status == Status::ok) return true;
  throw Error(ExitCode::wrong_output,
              fmt::format("{} is {}: {}. What was measured is in {}.", arm.side.name,
                          to_string(timing.status), timing.reason, arm.directory->path().string()));
}

void Turns::measure(SessionArm& arm) {
  if (arm.side.command.empty()) {
    std::vector<std::string> command = arm.side.through;
    command.insert(command.end(), {arm.side.program, "worker"});
    coordinate(arm.run, {command, *arm.directory, clock_, silent_, interrupt_fd_});
    return;
  }
  measure_programs(arm.run, {.worker_command = own_worker(),
                             .directory = *arm.directory,
                             .clock = clock_,
                             .progress = silent_,
                             .interrupt_fd = interrupt_fd_,
                             .files = files_});
}

/// One survey for all arms of one build.
void Turns::take_environment(SessionArm& arm) const {
  for (const SessionArm& other : arms_) {
    if (other.run.environment.empty() || other.side.program != arm.side.program) continue;
    arm.run.environment = other.run.environment;
    arm.run.ceilings = other.run.ceilings;
  }
}

}  // namespace mprof
