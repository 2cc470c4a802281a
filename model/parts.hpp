#pragma once

#include <functional>
#include <map>
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

  /// What the machine could do that measured the case; the run's own of a case that no part has.
  [[nodiscard]] std::span<const Ceiling> ceilings(std::string_view case_id) const;
  /// The name of the GPU that measured it; empty when the record does not say.
  [[nodiscard]] std::string gpu_model(std::string_view case_id) const;

 private:
  [[nodiscard]] const RunPart* part_of(std::string_view case_id) const;

  const Run& run_;
  std::map<std::string_view, const RunPart*, std::less<>> parts_;
};

/// The names of the GPUs that measured a run, ascending, each once.
[[nodiscard]] std::vector<std::string> gpu_models(const Run& run);

}  // namespace mprof
