// SPDX-License-Identifier: MIT
#include "runner/begin.hpp"

#include <utility>

#include "device/device.hpp"
#include "model/version.hpp"
#include "runner/plan.hpp"
#include "runner/result_directory.hpp"

namespace mprof {

Run begin_record(std::vector<std::string> command_line) {
  Run run;
  run.tool = {version, revision};
  run.command_line = std::move(command_line);
  run.started = utc_now();
  return run;
}

Run begin_run(Plan plan, const Registry& registry, std::vector<std::string> command_line) {
  Run run = begin_record(std::move(command_line));
  run.plan = std::move(plan);
  run.families = families_of(run.plan, registry);
  run.variants = variants_of(run.plan, registry);
  run.cases = planned_cases(run.plan, run.variants, run.families);
  return run;
}

void prepare_run(Run& run, const Registry& registry) {
  skip_unavailable(run.cases, registry, Devices::instance());
  run.inputs = validate_inputs(run, registry);
}

}  // namespace mprof
