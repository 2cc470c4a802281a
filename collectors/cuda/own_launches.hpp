// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/launch_counts.hpp"
#include "kernels/workload.hpp"
#include "model/run.hpp"

namespace mprof {

/// Which kernels a variant's own code launches, and how often, in the last sample. If a forward() is
/// repeated, the last one counts. The timing pass and the trace pass count in the same way, so that the
/// counts can be compared.
class OwnLaunches {
 public:
  static void begin_stage() { cuda::start_counting_launches(); }
  void end_stage(std::string_view op, Stage stage);
  /// A row of own_launches for each kernel of each op.
  void finish(const std::vector<OpInfo>& ops, std::vector<Measurement>& measurements) const;

 private:
  std::map<std::string, std::map<Stage, cuda::LaunchCounts>, std::less<>> of_ops_;
};

}  // namespace mprof
