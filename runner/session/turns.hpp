// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "model/run.hpp"
#include "runner/coordinator.hpp"
#include "runner/plan.hpp"
#include "runner/program/program_run.hpp"
#include "runner/result_directory.hpp"
#include "runner/session/side.hpp"
#include "system/clock.hpp"

/// `mprof ab`: A, B and A once more, as a control, measured in turns, so that a drift of the machine hits
/// all.
namespace mprof {

/// A, B or the control, with a record of its own.
struct SessionArm {
  SessionSide side{};
  Run run{};
  std::unique_ptr<ResultDirectory> directory{};
};

using SessionArms = std::array<SessionArm, 3>;

/// The record of a side, nothing of it measured. `request` says the problem, the times and the inputs. Throws
/// Error(environment) where the variant cannot run here.
[[nodiscard]] Run planned_session_run(const SessionSide& side, RunRequest request, const Registry& registry,
                                      std::vector<std::string> command_line);

/// The same of a side that is a program.
[[nodiscard]] Run planned_session_run(const SessionSide& side, double timeout,
                                      std::vector<std::string> command_line);

class Turns {
 public:
  /// `seed`: of the order of the arms in each block.
  Turns(SessionArms arms, std::uint64_t seed, const Clock& clock, int interrupt_fd)
      : arms_(std::move(arms)), random_(seed), clock_(clock), interrupt_fd_(interrupt_fd) {}

  /// Measures each arm in an order of this block's own, and back again, each time in a fresh process. False
  /// when that was interrupted. Throws Error(wrong_output) where an arm gives no right output.
  bool run_block();

  [[nodiscard]] const SessionArms& arms() const { return arms_; }
  [[nodiscard]] bool was_interrupted() const { return was_interrupted_; }

 private:
  /// A first execution may be slow, such as one that finds nothing in a cache. None of it is kept.
  bool run_programs_once();
  bool run_round(SessionArm& arm);
  void measure(SessionArm& arm);
  void take_environment(SessionArm& arm) const;

  SessionArms arms_;
  std::mt19937_64 random_;
  const Clock& clock_;
  int interrupt_fd_;
  Progress silent_;
  std::shared_ptr<ProgramFiles> files_ = std::make_shared<ProgramFiles>();
  bool have_programs_run_ = false;
  bool was_interrupted_ = false;
};

}  // namespace mprof
