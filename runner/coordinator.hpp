#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/run.hpp"
#include "runner/protocol.hpp"
#include "runner/result_directory.hpp"
#include "system/clock.hpp"

namespace mprof {

/// Is told how a run goes on. A progress bar, plain lines, or nothing.
class Progress {
 public:
  virtual ~Progress() = default;
  /// `steps`: the passes of cases still to run; `work`: the sum of their work_of().
  virtual void begin(std::size_t /*steps*/, double /*work*/) {}
  virtual void surveying() {}
  virtual void case_begins(const Case& /*c*/, Pass /*pass*/) {}
  virtual void case_goes_on(std::uint32_t /*samples*/) {}
  virtual void case_ends(const Case& /*c*/, const PassResult& /*result*/) {}
  virtual void end() {}
};

struct CoordinatorContext {
  /// The command line that starts a worker.
  std::vector<std::string> worker_command;
  ResultDirectory& directory;
  const Clock& clock;
  Progress& progress;
  /// Becomes readable when the run is to stop; -1: never.
  int interrupt_fd = -1;
};

/// Runs all pending passes of the run's cases in worker processes, one variant and pass after another, in an
/// order shuffled by the plan's seed, and saves each case when a pass of it is done. Holds no device context
/// itself. What a worker does wrong costs the case it was at. Leaves run.state complete or interrupted.
void coordinate(Run& run, const CoordinatorContext& context);

/// The cases of one variant in one pass.
struct Task {
  Pass pass = Pass::timing;
  std::vector<std::size_t> cases{};  ///< indices into Run::cases, in the order in which they run
};

/// The tasks in the order in which coordinate() takes them: pass by pass, variants and their cases shuffled
/// by the seed. Only what is pending or was interrupted.
[[nodiscard]] std::vector<Task> schedule(const Run& run);

/// A measure of how long a case takes, to tell how much of a run is left: its ops' operations and bytes.
[[nodiscard]] double work_of(const Case& c);

}  // namespace mprof
