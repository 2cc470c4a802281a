// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "kernels/registry.hpp"
#include "model/run.hpp"
#include "model/sanitizer.hpp"
#include "runner/plan.hpp"
#include "runner/sanitize/compute_sanitizer.hpp"

/// `mprof sanitize`: the variants of a run under compute-sanitizer.
namespace mprof {

/// What the user asked for.
struct SanitizeRequest {
  std::vector<std::string> patterns;  ///< shell globs over variant ids; empty: all variants of the run
  std::vector<SanitizerTool> tools;   ///< in the order in which they run
  AxisValues values;  ///< one an axis; without it the value of the smallest problem that the run has of a
                      ///< family
};

/// One variant under one tool, to be done.
struct SanitizeStep {
  std::string variant{};
  SanitizerTool tool = SanitizerTool::memcheck;
  Problem problem{};
  std::string device{};          ///< the GPU's name
  std::vector<CaseKey> cases{};  ///< one for each point of the variant's parameters that the run has
  std::string skipped{};         ///< why it cannot be done here; empty when it can
};

/// Variant by variant in the run's order, tool after tool. Throws Error(usage) for a pattern that matches
/// none of the run's variants, and for a value that an axis of its family does not take.
[[nodiscard]] std::vector<SanitizeStep> plan_sanitize(const Run& run, const SanitizeRequest& request,
                                                      const Registry& registry, const Devices& devices,
                                                      const Sanitizer& sanitizer);

/// Is told how it goes on.
class SanitizeProgress {
 public:
  virtual ~SanitizeProgress() = default;
  virtual void step_begins(const SanitizeStep& /*step*/) {}
  virtual void step_ends(const SanitizerResult& /*result*/) {}
};

struct SanitizeContext {
  Sanitizer sanitizer;
  /// The command line that starts a worker.
  std::vector<std::string> worker_command;
  std::filesystem::path file;  ///< the record
  InputPaths inputs;
  double timeout = 0;  ///< s, of one variant under one tool, from when it begins
  const Clock& clock;
  SanitizeProgress& progress;
  /// Becomes readable when it is to stop; -1: never.
  int interrupt_fd = -1;
  /// What stands before compute-sanitizer's command line, when it writes its log to this folder; empty:
  /// nothing.
  std::function<std::vector<std::string>(const std::filesystem::path& folder)> through{};
};

struct SanitizeOutcome {
  std::vector<SanitizerResult> results;  ///< of the steps that were done
  bool completed = true;                 ///< false: it was interrupted
};

/// Does the steps, one process after another, and saves the record after each. A result replaces the one of
/// the same variant and tool; one that was skipped replaces none that was not. What an interrupt ends leaves
/// no result. No process is left behind.
[[nodiscard]] SanitizeOutcome sanitize(const Run& run, SanitizerRecord& record,
                                       const std::vector<SanitizeStep>& steps,
                                       const SanitizeContext& context);

}  // namespace mprof
