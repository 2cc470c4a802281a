// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "kernels/stage.hpp"

namespace mprof {

/// What the ops of all families share: three stages that run in turn, any number of times. A family adds
/// prepare(), which takes the host memory that its ops read and write, allocates, and brings the inputs to
/// where forward() reads them.
class Op {
 public:
  virtual ~Op() = default;

  /// Computes. May be called more than once between prepare() and finish(), and leaves the same output each
  /// time.
  virtual void forward() = 0;

  /// Brings the result to the output that prepare() was given, and frees what that allocated.
  virtual void finish() = 0;

  /// Fills the place that forward() writes to with `pattern`, where that is not the host's output itself:
  /// memory that a device allocates may still hold the right values of the run before. Called before each
  /// forward(); the host's output has been filled before prepare().
  virtual void poison_output(std::uint32_t pattern) { static_cast<void>(pattern); }
};

/// Runs the stages of `op` under `observer`, the first of them by `prepare`, with `output` (the host's)
/// poisoned before the first one and what forward() writes to before each forward().
void run_stages(std::string_view name, Op& op, const std::function<void()>& prepare, std::span<float> output,
                StageObserver& observer);

}  // namespace mprof
