// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "cli/options.hpp"
#include "model/run.hpp"
#include "runner/coordinator.hpp"
#include "runner/result_directory.hpp"

/// `mprof run --baseline-build PROGRAM`.
namespace mprof::cli {

/// Another build of mprof that measures the cases of a run in turns with this one.
struct BaselineBuild {
  std::string program{};  ///< its path
  Run run{};
  std::unique_ptr<ResultDirectory> directory{};
};

/// The path of the program that the option names; nothing without the option. Throws Error(usage) for what is
/// no program, and for options that do not go together with it.
[[nodiscard]] std::optional<std::string> baseline_program(const Arguments& arguments);

/// Its record is in the folder `baseline` of the result directory `out`, with the cases of `candidate`.
[[nodiscard]] BaselineBuild begin_baseline(const std::string& program, const Run& candidate,
                                           const std::filesystem::path& out);

/// Measures both in turns.
void measure_in_turns(BaselineBuild& baseline, Run& candidate, const CoordinatorContext& context);

}  // namespace mprof::cli
