// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/run.hpp"

/// Which of the runs that a run was merged from measured a case.
namespace mprof {

/// Of a run that must outlive it; of several parts that pooled a case, the first.
class PartIndex {
 public:
  explicit PartIndex(const Run& run);

  /// The facts of the machine that measured the case; the run's own of a case that no part has.
  [[nodiscard]] const Environment& environment(std::string_view case_id) const;
  /// What that machine could do; the run's own ceilings where its part has none.
  [[nodiscard]] std::span<const Ceiling> ceilings(std::string_view case_id) const;
  /// The name of the GPU that measured it; empty when the record does not say.
  [[nodiscard]] std::string gpu_model(std::string_view case_id) const;
  /// The UUID of that GPU; empty when the record does not say.
  [[nodiscard]] std::string gpu_uuid(std::string_view case_id) const;
  /// The UUIDs of all GPUs that measured it, ascending; empty when the record does not say.
  [[nodiscard]] std::set<std::string> gpu_uuids(std::string_view case_id) const;

 private:
  [[nodiscard]] const RunPart* part_of(std::string_view case_id) const;

  const Run& run_;
  std::map<std::string_view, const RunPart*, std::less<>> parts_;
  std::map<std::string_view, std::set<std::string>, std::less<>> several_gpus_;  ///< of cases that have
};

/// Shows a merged run machine by machine, in the order of its parts: each time the run with the facts, peak
/// rates and cases of one. Parts on one GPU, by its UUID, are of one machine; one without a GPU is a machine
/// of its own. Cases that several machines measured (`mprof merge --pool`) are of none, and neither is a
/// machine without cases. A run that was not merged is shown as it is.
void visit_machines(Run run, const std::function<void(const Run&)>& visit);

/// The UUID of the GPU that measured a run; empty without one, or when there were several.
[[nodiscard]] std::string gpu_uuid(const Run& run);

/// Of the case of a merged run that most GPUs measured (by their UUID), how many they are; 0 of a run that
/// was not merged. Above 1 its rounds were pooled over GPUs.
[[nodiscard]] std::size_t most_gpus_of_a_case(const Run& run);

/// The names of the GPUs that measured a run, ascending, each once.
[[nodiscard]] std::vector<std::string> gpu_models(const Run& run);

}  // namespace mprof
