// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "model/run.hpp"

namespace mprof {

/// The NVTX ranges that ranges' library wrote of a program's processes in one round.
struct RangeTimes {
  std::vector<std::string> ops{};  ///< in the order of their first starts; none: there are no ranges
  std::string step_range{};        ///< that begins each step, without numbers; empty: no range repeats as one
  std::uint64_t steps = 0;
  std::uint64_t step_ranges = 0;           ///< ranges of that name, in the process that has the most of them
  std::vector<Measurement> group_times{};  ///< the host time of each op, of all threads together
};

/// Reads the journals of a folder. Ops as make_program_case() has them.
[[nodiscard]] RangeTimes read_range_times(const std::filesystem::path& folder, const std::string& ops);

}  // namespace mprof
