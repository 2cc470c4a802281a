#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectors/injection.hpp"
#include "model/run.hpp"
#include "runner/coordinator.hpp"
#include "runner/result_directory.hpp"
#include "system/clock.hpp"

namespace mprof {

/// A program that is to be run as it is.
struct ProgramRequest {
  std::vector<std::string> command{};  ///< as it was given
  std::string path{};                  ///< of the program itself: program_path()
  std::string name{};
  std::vector<Pass> passes{Pass::timing, Pass::trace};
  std::optional<std::uint32_t> rounds{};  ///< without it 5, as long as no more than a minute goes by
  double timeout = 600;                   ///< s, for each time that it is run
  std::string ops{};                      ///< a glob of the NVTX ranges that are ops; empty: the outermost
  std::vector<std::string> command_line{};
};

/// The run that is asked for, nothing of it measured: one case, of the variant program/NAME.
[[nodiscard]] Run planned_program_run(const ProgramRequest& request);

struct ProgramContext {
  std::vector<std::string> worker_command{};  ///< the command line that starts a worker
  ResultDirectory& directory;
  const Clock& clock;
  Progress& progress;
  int interrupt_fd = -1;  ///< becomes readable when the run is to stop; -1: never
  const InjectionKinds& injections = InjectionKinds::instance();
};

/// Runs the program in the passes of the run's plan, and saves its case when a pass of it is done: in the
/// timing pass in rounds, plainly, with nothing in its process but what writes the times of NVTX ranges,
/// where it has any; in the others with a library of mprof's in it, or not at all, with the reason. A program
/// that fails is not run again in that pass. Leaves run.state complete or interrupted.
void measure_program(Run& run, const ProgramContext& context);

}  // namespace mprof
