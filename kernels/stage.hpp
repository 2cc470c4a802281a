// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string_view>

namespace mprof {

/// The three stages of an op. group_time covers all three, op_time the second.
enum class Stage { prepare, forward, finish };

/// Watches an execution from outside: the runner's timing, a test's script.
class StageObserver {
 public:
  virtual ~StageObserver() = default;
  /// Runs `work`, one stage of `op`. May run a forward stage more than once: forward() must be repeatable.
  /// `reset` comes before each time and is part of no measurement: it leaves nothing of an earlier output.
  /// Empty where there is nothing to reset.
  virtual void stage(std::string_view op, Stage stage, const std::function<void()>& work,
                     const std::function<void()>& reset) = 0;
  /// Runs `work`, which is no part of the execution: what is done to its inputs and outputs between the
  /// stages, so that they show what it did.
  virtual void aside(const std::function<void()>& work) { work(); }
};

/// Runs each stage once and watches nothing.
class NoObserver final : public StageObserver {
 public:
  void stage(std::string_view, Stage, const std::function<void()>& work,
             const std::function<void()>& reset) override {
    if (reset) reset();
    work();
  }
};

}  // namespace mprof
