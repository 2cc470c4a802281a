// SPDX-License-Identifier: MIT
#include "cli/baseline.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cli/compare.hpp"
#include "cli/planned_run.hpp"
#include "model/derive/derive.hpp"
#include "model/run_file.hpp"
#include "runner/survey.hpp"
#include "system/error.hpp"
#include "system/programs.hpp"

namespace mprof::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* baseline_folder = "baseline";

/// Throws Error(environment) where none of its cases worked: there is nothing to compare with.
void require_some_case(const BaselineBuild& build) {
  const auto is_ok = [](const Case& c) { return case_status(c) == Status::ok; };
  if (build.run.cases.empty() || std::ranges::any_of(build.run.cases, is_ok)) return;
  const Case& first = build.run.cases.front();
  throw Error(ExitCode::environment, fmt::format("--baseline-build {}: none of its cases worked; {}: {}",
                                                 build.program, first.id, case_reason(first)));
}

}  // namespace

std::optional<std::string> baseline_program(const Arguments& arguments) {
  if (!arguments.given("baseline-build")) return std::nullopt;
  for (const char* const other : {"baseline", "devices", "shard"}) {
    if (arguments.given(other))
      throw Error(ExitCode::usage, fmt::format("--baseline-build and --{} exclude each other.", other));
  }
  if (arguments.flag("resume"))
    throw Error(ExitCode::usage,
                "--resume cannot go on with --baseline-build. Leave it out to measure both again.");
  const std::string name = arguments.text("baseline-build");
  if (!is_program(name))
    throw Error(
        ExitCode::usage,
        fmt::format("--baseline-build {}: it cannot be executed. Give the path of another build's mprof, "
                    "as in --baseline-build ../before/build/mprof.",
                    name));
  return fs::canonical(name).string();
}

BaselineBuild begin_baseline(const std::string& program, const Run& candidate, const fs::path& out,
                             ResultDirectory::Mode mode) {
  BaselineBuild baseline{program, candidate, nullptr};
  baseline.directory = std::make_unique<ResultDirectory>(out / baseline_folder, mode,
                                                         ResultDirectory::Offers{.overwrite = true});
  baseline.directory->save(baseline.run);
  return baseline;
}

void require_baseline_folder(const fs::path& out, ResultDirectory::Mode mode) {
  ResultDirectory::require(out / baseline_folder, mode, {.overwrite = true});
}

void measure_in_turns(BaselineBuild& baseline, Run& candidate, const CoordinatorContext& context) {
  context.progress.surveying();
  try {
    static_cast<void>(
        survey_for_turns(baseline.run, {baseline.program, "worker"}, context.clock, context.interrupt_fd));
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("--baseline-build {}: {}. Nothing was measured.", baseline.program,
                                          error.what()));
  }
  const CoordinatorContext of_baseline{{baseline.program, "worker"},
                                       *baseline.directory,
                                       context.clock,
                                       context.progress,
                                       context.interrupt_fd};
  coordinate_in_turns(baseline.run, of_baseline, candidate, context);
}

ExitCode Baseline::exit_code(ExitCode of_candidate) const {
  return build && build->run.state == RunState::interrupted ? ExitCode::interrupted : of_candidate;
}

int Baseline::compare(const Arguments& arguments, const std::string& candidate, ExitCode code) {
  if (!build || code == ExitCode::interrupted) return compared_with(recorded, arguments, candidate, code);
  require_some_case(*build);
  derive(build->run, build->directory->path());
  const int compared = compare_with_baseline(build->run, build->directory->path().string(), candidate);
  return compared == 0 ? static_cast<int>(code) : compared;
}

Baseline recorded_baseline(const Arguments& arguments) {
  if (!arguments.given("baseline")) return {};
  return {.recorded = read_run(arguments.text("baseline"))};
}

}  // namespace mprof::cli
