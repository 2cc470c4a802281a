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
#include "system/error.hpp"

/// What `mprof run` compares a run with: --baseline DIR, or --baseline-build PROGRAM.
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
                                           const std::filesystem::path& out, ResultDirectory::Mode mode);

/// Throws Error(usage) for what is there already, before anything is written to `out`.
void require_baseline_folder(const std::filesystem::path& out, ResultDirectory::Mode mode);

/// Measures both in turns.
void measure_in_turns(BaselineBuild& baseline, Run& candidate, const CoordinatorContext& context);

/// What a run is compared with when it is done; nothing without these options.
struct Baseline {
  std::optional<Run> recorded{};
  std::optional<BaselineBuild> build{};

  /// The exit code of the measurements: `interrupted` where one side was.
  [[nodiscard]] ExitCode exit_code(ExitCode of_candidate) const;
  /// Compares, as compared_with() does of a recorded one, and returns the exit code of both. Throws
  /// Error(environment) where no case of the other build worked.
  [[nodiscard]] int compare(const Arguments& arguments, const std::string& candidate, ExitCode code);
};

/// The run of --baseline, read before anything is measured: a wrong name must not cost an hour.
[[nodiscard]] Baseline recorded_baseline(const Arguments& arguments);

}  // namespace mprof::cli
