// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "collectors/injection.hpp"
#include "device/device.hpp"
#include "model/run.hpp"
#include "runner/coordinator.hpp"
#include "runner/program/program_window.hpp"
#include "runner/result_directory.hpp"
#include "system/clock.hpp"
#include "system/watched_program.hpp"

namespace mprof {

/// s, the longest run of a counters pass that is followed by one with replayed kernels.
inline constexpr double usual_replay_limit = 30;

/// A program to run as it is.
struct ProgramRequest {
  std::vector<std::string> command{};  ///< as it was given
  std::string path{};                  ///< of the program itself: program_path()
  std::string name{};
  std::vector<Pass> passes{Pass::timing, Pass::trace, Pass::counters};
  std::optional<std::uint32_t> rounds{};     ///< without it as many as the time allows: 5 to 100
  double timeout = 600;                      ///< s, for each time that it is run
  std::string ops{};                         ///< a glob of the NVTX ranges that are ops; empty: the outermost
  std::vector<std::string> metrics{};        ///< that are counted of each kernel; empty: the default ones
  std::string kernels{};                     ///< a regular expression of the kernels that are counted; empty:
                                             ///< all
  std::uint64_t launch_skip = 0;             ///< launches of these that go by before counting begins
  std::uint64_t max_kernels = 0;             ///< so many distinct ones are counted; 0: all
  std::string window{};                      ///< of the trace and the counters (trace::Window); empty: all
  double sample_interval = 0;                ///< s, between two samples of the GPU in the trace pass; 0: none
  bool without_stacks = false;               ///< no call stacks are taken of launches
  double replay_limit = usual_replay_limit;  ///< 0: kernels are never replayed
  std::vector<std::string> command_line{};
};

/// The run that is asked for, nothing of it measured: one case, of the variant program/NAME.
[[nodiscard]] Run planned_program_run(const ProgramRequest& request);

/// What is made of what a program writes, once it has ended.
class OutputReader {
 public:
  virtual ~OutputReader() = default;
  virtual void take(std::string_view output) = 0;
  /// Adds what the output says to the pass of a program that ended well, and finds it right or wrong. Returns
  /// the ops that it found times of, in their order.
  [[nodiscard]] virtual std::vector<std::string> finish(PassResult& result) = 0;
};

/// How a case's program is run, and what is made of its output.
struct CaseProgram {
  ProgramLaunch launch{};  ///< its command, variables, folder and time limit
  std::function<std::unique_ptr<OutputReader>(Pass pass)> reader{};  ///< or none
};

/// The files of programs as they were when each was run first. One that is put in a file's place is another
/// program.
class ProgramFiles {
 public:
  [[nodiscard]] bool is_as_at_first(const std::string& path);

 private:
  struct Identity {
    dev_t device{};
    ino_t inode{};
    off_t size = 0;
    std::int64_t changed = 0;  ///< ns
    bool operator==(const Identity&) const = default;
  };
  std::map<std::string, Identity> first_;  ///< by their paths
};

struct ProgramContext {
  std::vector<std::string> worker_command{};  ///< the command line that starts a worker
  ResultDirectory& directory;
  const Clock& clock;
  Progress& progress;
  int interrupt_fd = -1;  ///< becomes readable when the run is to stop; -1: never
  const InjectionKinds& injections = InjectionKinds::instance();
  /// Shared by all that measure the same programs one after another.
  std::shared_ptr<ProgramFiles> files = std::make_shared<ProgramFiles>();
  /// What the timing pass found, for --window in the passes after it.
  std::shared_ptr<StepsOfCases> steps = std::make_shared<StepsOfCases>();
  /// The GPUs that a program may use, each of which is sampled where the plan says so.
  std::function<std::vector<DeviceUnit>()> gpus{};
  /// Of the programs of a suite; without it the variant's command is run as it is.
  std::function<CaseProgram(const Case& c)> program_of{};
};

/// Runs the programs of the run's cases in the passes of its plan, in schedule()'s order, and saves a case
/// when a pass or a round of it is done. In the timing pass it runs them plainly, in rounds. Then their
/// processes hold only what writes the times of NVTX ranges, where a program has any. In the other passes
/// they hold a library of mprof's, or are not run, with the reason. A program that fails is not run again in
/// that pass. Leaves run.state complete or interrupted.
void measure_programs(Run& run, const ProgramContext& context);

}  // namespace mprof
