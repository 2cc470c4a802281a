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

/// Which kernels a variant's own code launches, and how often, in the last sample: of a forward() that is
/// repeated, in the last one. Counted in the same way in the timing and in the trace pass, so that they can
/// be held against each other.
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
