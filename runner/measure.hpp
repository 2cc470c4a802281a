#pragma once

#include <functional>

#include "collectors/collector.hpp"
#include "kernels/workload.hpp"
#include "model/run.hpp"

namespace mprof {

/// Everything that one case is measured with.
struct MeasureContext {
  const Case& subject;
  const Device& device;
  const Clock& clock;
  const CollectorKinds& collectors;
  const Stopping& stopping;
  const std::vector<Ceiling>& ceilings;
  std::function<void(std::uint32_t samples)> on_sample;  ///< told after each sample; may be empty
  bool hot = false;                                      ///< time each op also with its data in the cache
  std::span<const std::string> metrics{};                ///< as CaseContext::metrics
  std::string trace_file{};                              ///< as CaseContext::trace_file
};

/// The timing pass of one case: a checked execution, warm-up, then samples until the stopping rule ends them.
/// A case whose output is wrong is not timed. Every later execution must reach the checked one's accuracy as
/// well.
[[nodiscard]] PassResult measure_timing(const MeasureContext& context, Execution& execution);

/// A trace or counters pass of one case: warm-up, then one watched execution; skipped with the collectors'
/// reasons when none of them can run here.
[[nodiscard]] PassResult measure_watched(const MeasureContext& context, Pass pass, Execution& execution);

/// The reason why no collector of the pass can run on the device, or nullopt.
[[nodiscard]] std::optional<std::string> pass_unavailable(const CollectorKinds& collectors, Pass pass,
                                                          const Device& device);

}  // namespace mprof
