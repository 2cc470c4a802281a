// SPDX-License-Identifier: MIT
#include "cli/baseline.hpp"

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

/// Throws Error(environment) where the survey of a build says that its workers do not work.
void require_answer(const Run& surveyed, const std::string& program) {
  if (surveyed.environment.contains("build")) return;
  const Fact* const why = find_fact(surveyed.environment, "survey", "fingerprint");
  const Absent* const absent = why == nullptr ? nullptr : std::get_if<Absent>(why);
  throw Error(
      ExitCode::environment,
      fmt::format("--baseline-build {}: it does not answer as an mprof does: {}. Nothing was measured.",
                  program, absent == nullptr ? "it said nothing of itself" : absent->reason));
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
                "--resume goes on with one side. Leave it out, to measure both in turns again.");
  const std::string name = arguments.text("baseline-build");
  if (!is_program(name))
    throw Error(
        ExitCode::usage,
        fmt::format("--baseline-build {}: this is no program. Give the path of another build's mprof, "
                    "as in --baseline-build ../before/build/mprof.",
                    name));
  return fs::canonical(name).string();
}

BaselineBuild begin_baseline(const std::string& program, const Run& candidate, const fs::path& out) {
  BaselineBuild baseline{program, candidate, nullptr};
  fs::remove_all(out / baseline_folder);  // of a run that this one replaces
  baseline.directory =
      std::make_unique<ResultDirectory>(out / baseline_folder, ResultDirectory::Mode::create);
  baseline.directory->save(baseline.run);
  return baseline;
}

void measure_in_turns(BaselineBuild& baseline, Run& candidate, const CoordinatorContext& context) {
  context.progress.surveying();
  if (survey_machine(baseline.run, {baseline.program, "worker"}, context.clock, context.interrupt_fd))
    require_answer(baseline.run, baseline.program);
  const CoordinatorContext of_baseline{{baseline.program, "worker"},
                                       *baseline.directory,
                                       context.clock,
                                       context.progress,
                                       context.interrupt_fd};
  coordinate_in_turns(baseline.run, of_baseline, candidate, context);
}

int Baseline::compare(const Arguments& arguments, const std::string& candidate, ExitCode code) {
  if (!build || code == ExitCode::interrupted) return compared_with(recorded, arguments, candidate, code);
  derive(build->run, build->directory->path());
  const int compared = compare_with_baseline(build->run, build->directory->path().string(), candidate);
  return compared == 0 ? static_cast<int>(code) : compared;
}

Baseline recorded_baseline(const Arguments& arguments) {
  if (!arguments.given("baseline")) return {};
  return {.recorded = read_run(arguments.text("baseline"))};
}

}  // namespace mprof::cli
