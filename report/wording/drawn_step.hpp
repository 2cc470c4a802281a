// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "report/analysis/program/drawn_step.hpp"

/// What is said of the drawing of a step.
namespace mprof {

/// What a legend calls a paint: "matrix products", "copy to the GPU", "idle: waiting".
[[nodiscard]] std::string_view paint_name(Paint paint);

/// "CUDA calls", "stream 7".
[[nodiscard]] std::string lane_name(const DrawnLane& lane, bool several_gpus);

/// "Thread 4242 (python3)"
[[nodiscard]] std::string thread_name(const DrawnLane& lane);

/// "Step 12 of 20, which took 51.96 ms"
[[nodiscard]] std::string drawn_step_title(const DrawnStep& drawn, const Steps& steps);

/// What to know of it: where calls lie outside, and what is not drawn.
[[nodiscard]] std::vector<std::string> drawn_step_remarks(const DrawnStep& drawn);

}  // namespace mprof
