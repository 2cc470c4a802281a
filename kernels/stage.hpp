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
  virtual void stage(std::string_view op, Stage stage, const std::function<void()>& work) = 0;
};

/// Runs each stage once and watches nothing.
class NoObserver final : public StageObserver {
 public:
  void stage(std::string_view, Stage, const std::function<void()>& work) override { work(); }
};

}  // namespace mprof
