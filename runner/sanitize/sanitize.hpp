#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "kernels/registry.hpp"
#include "model/data_paths.hpp"
#include "model/run.hpp"
#include "model/sanitizer.hpp"
#include "runner/sanitize/compute_sanitizer.hpp"

/// `mprof check`: the variants of a run under compute-sanitizer.
namespace mprof {

/// What the user asked for.
struct CheckSelection {
  std::vector<std::string> patterns;   ///< shell globs over variant ids; empty: all variants of the run
  std::vector<CheckTool> tools;        ///< in the order in which they run
  std::optional<std::uint64_t> batch;  ///< without it the smallest of the run
};

/// One variant under one tool, to be done.
struct CheckStep {
  std::string variant{};
  CheckTool tool = CheckTool::memcheck;
  std::uint64_t batch = 0;
  std::string device{};       ///< the GPU's name
  std::vector<Case> cases{};  ///< one for each point of the variant's parameters that the run has
  std::string skipped{};      ///< why it cannot be done here; empty when it can
};

/// Variant by variant in the run's order, tool after tool. Throws Error(usage) for a pattern that matches
/// none of the run's variants, and for a batch that the family cannot fill.
[[nodiscard]] std::vector<CheckStep> plan_check(const Run& run, const CheckSelection& selection,
                                                const Registry& registry, const Devices& devices,
                                                const Sanitizer& sanitizer);

/// Is told how a check goes on.
class CheckProgress {
 public:
  virtual ~CheckProgress() = default;
  virtual void step_begins(const CheckStep& /*step*/) {}
  virtual void step_ends(const CheckResult& /*result*/) {}
};

struct CheckContext {
  Sanitizer sanitizer;
  /// The command line that starts a worker.
  std::vector<std::string> worker_command;
  std::filesystem::path file;  ///< the record
  DataPaths data;
  double timeout = 0;  ///< s, of one variant under one tool
  const Clock& clock;
  CheckProgress& progress;
  /// Becomes readable when the check is to stop; -1: never.
  int interrupt_fd = -1;
};

struct CheckOutcome {
  std::vector<CheckResult> results;  ///< of the steps that were done
  bool completed = true;             ///< false: it was interrupted
};

/// Does the steps, one process after another, and saves the record after each. A result replaces the one of
/// the same variant and tool; one that was skipped replaces none that was not. What an interrupt ends leaves
/// no result. No process is left behind.
[[nodiscard]] CheckOutcome run_check(const Run& run, Check& record, const std::vector<CheckStep>& steps,
                                     const CheckContext& context);

}  // namespace mprof
