// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "report/analysis/advice/advice.hpp"
#include "report/analysis/program/picture.hpp"

/// What would make a program faster, and by how much at most.
namespace mprof {

/// One of both: a rule of the whole, or a kernel that could use more of the GPU.
struct NextGain {
  const AdviceRule* rule = nullptr;
  const FunctionTime* function = nullptr;
  double floor = 0;  ///< of the function: ProgramPicture::floor_of()
  double gain = 1;   ///< at most how many times as fast a step, or the whole, would be by this alone
};

/// The highest gain first, from least_advised_gain on. It points into the picture.
[[nodiscard]] std::vector<NextGain> next_gains(const ProgramPicture& picture);

/// Whether a kernel that was not counted takes so long that it could be such a part.
[[nodiscard]] bool may_gain_uncounted(const ProgramPicture& picture);

}  // namespace mprof
