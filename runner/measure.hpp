// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <span>

#include "collectors/collector.hpp"
#include "kernels/workload.hpp"
#include "model/run.hpp"

namespace mprof {

/// Everything that one case is measured with.
struct MeasureContext {
  const Case& subject;
  const FamilyInfo& family;
  const Device& device;
  const Clock& clock;
  const CollectorKinds& collectors;
  const Plan& plan;
  std::filesystem::path trace_file{};        ///< as CaseContext::trace_file
  std::uint64_t seed = 0;                    ///< of what is drawn at random
  std::span<const Verification> verified{};  ///< as Trial::verified
  bool takes_busy_host = false;              ///< as Job::takes_busy_host
  bool takes_turns = false;                  ///< as Job::takes_turns
  /// Told after each sample, and by which rule there are enough. Says whether to take another one, which only
  /// counts where turns are taken. May be empty.
  std::function<bool(std::uint32_t samples, std::optional<Ending> ending)> on_sample{};
};

/// The timing pass of one case: a verified execution, warm-up, then samples until the stopping rule ends
/// them, and one execution on inputs that were never given before. A case whose output is wrong is not timed,
/// and one that was right must stay right. Each sample's inputs come in another order, and each item of its
/// outputs is compared with the reference. A case is suspect if its times cannot belong to its work.
[[nodiscard]] PassResult measure_timing(const MeasureContext& context, Execution& execution);

/// A trace, counters or source pass of one case: warm-up where it takes one, then one watched execution. The
/// case is suspect when this output is wrong, although the output of the timing pass may be right. It is
/// skipped with the collectors' reasons when no collector can run here.
[[nodiscard]] PassResult measure_watched(const MeasureContext& context, Pass pass, Execution& execution);

/// One execution as in a sample of the timing pass, each forward() with a cold cache, and nothing of it
/// measured.
void run_unmeasured(const Device& device, Execution& execution, const Trial& trial);

/// The reason why no collector of the pass can run on the device, or nullopt.
[[nodiscard]] std::optional<std::string> pass_unavailable(const CollectorKinds& collectors, Pass pass,
                                                          const Device& device);

}  // namespace mprof
