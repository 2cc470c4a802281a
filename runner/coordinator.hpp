// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <latch>
#include <limits>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <vector>

#include "model/run.hpp"
#include "runner/alternation.hpp"
#include "runner/protocol.hpp"
#include "runner/result_directory.hpp"
#include "runner/seats.hpp"
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
  /// A step that there is nothing left to do for: a round of a case that failed in the one before.
  virtual void case_is_left_out(const Case& /*c*/) {}
  /// A step that turned out to be needed.
  virtual void case_is_added(const Case& /*c*/) {}
  virtual void end() {}
};

/// A host that several coordinators share, each with a device of its own. What takes host times, or loads the
/// host with ops, comes first and holds it alone. All else begins when every coordinator has finished that,
/// and holds it with others.
struct SharedHost {
  explicit SharedHost(std::ptrdiff_t coordinators) : all_timed(coordinators) {}
  std::shared_mutex turn{};
  std::atomic<int> holders{};  ///< of `turn`
  std::latch all_timed;
  /// For passes that collect counters: the driver serves several GPUs at once hardly faster than in turn (on
  /// H200, two 1.33 times as fast, four 1.44 times).
  Seats counting{2};
  /// What shares were divided by; see expected_costs().
  const Run* earlier = nullptr;
  /// What its survey found of the host itself, before the coordinators begin; each surveys its device.
  Environment environment{};
  std::vector<Ceiling> ceilings{};
};

struct CoordinatorContext {
  /// The command line that starts a worker.
  std::vector<std::string> worker_command;
  ResultDirectory& directory;
  const Clock& clock;
  Progress& progress;
  /// Becomes readable when the run is to stop; -1: never.
  int interrupt_fd = -1;
  /// Whether cases get the further rounds that rounds_wanted() asks for.
  bool adds_rounds = false;
  /// How many rounds each case of the run shall have, instead of the plan's; 0 leaves it as it is. Empty: the
  /// plan's.
  std::span<const std::uint32_t> rounds{};
  /// When measuring ends by the clock, be it in the middle of a case: what is left stays as it is.
  double deadline = std::numeric_limits<double>::infinity();
  /// nullptr: nobody shares it.
  SharedHost* host = nullptr;
  /// What disturbs host times that are taken while other measurements run. Only the survey has a shared host
  /// for itself then.
  std::string host_disturbance{};
  /// nullptr: nobody measures the same cases in turns with it. Cases get no further rounds then.
  Alternation* alternation = nullptr;
  Alternation::Side side = Alternation::Side::candidate;
  /// Where workers put the records of the trace pass. Empty: into the directory.
  std::filesystem::path trace_file{};
};

/// Whether large arrays of the host come to lie in huge pages is a matter of luck otherwise, and one of the
/// reasons why processes differ. The workers' C library asks for them; what the user has set stays. To be
/// called before threads are started, when each shall coordinate().
void ask_for_huge_pages();

/// Runs all pending passes of the run's cases in worker processes, one task after another, in an order
/// shuffled by the plan's seed. Saves each case when a pass of it is done. Holds no device context itself.
/// What a worker does wrong costs the case it was at. Where other variants ran in that worker before it, the
/// case runs once more, alone. Leaves run.state complete or interrupted.
void coordinate(Run& run, const CoordinatorContext& context);

/// The same of two runs of the same cases, which take turns (Alternation). `of_candidate` has the progress of
/// both.
void coordinate_in_turns(Run& baseline, const CoordinatorContext& of_baseline, Run& candidate,
                         const CoordinatorContext& of_candidate);

/// Cases in one pass, or in one round of the timing pass, that run in the same process: all cases of one
/// variant. In a source pass all of mprof's own variants of a device other than the CPU share one.
struct Task {
  Pass pass = Pass::timing;
  std::uint32_t round = 0;
  std::vector<std::size_t> cases{};  ///< indices into Run::cases, in the order in which they run
};

/// The tasks in the order in which coordinate() takes them: pass by pass, the timing pass round by round. In
/// the timing pass the seed shuffles variants and their cases again for each round. In the other passes the
/// cases with the least work come first, since what is done once in a process costs the least there.
///
/// A case is in it if it is pending, was interrupted, or has too few rounds. These are fewer rounds than the
/// plan has, or than `rounds` says of the case (CoordinatorContext).
[[nodiscard]] std::vector<Task> schedule(const Run& run, std::span<const std::uint32_t> rounds = {});

/// What follows when that is done: the rounds beyond the plan's that each case of the run should have
/// (rounds_wanted()).
[[nodiscard]] std::vector<Task> further_tasks(const Run& run, std::span<const std::uint32_t> rounds);

/// A measure of how long a case takes, to tell how much of a run is left: its ops' operations and bytes.
[[nodiscard]] double work_of(const Case& c);

}  // namespace mprof
