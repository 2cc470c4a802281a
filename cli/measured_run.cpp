// SPDX-License-Identifier: MIT
#include "cli/measured_run.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "cli/interrupts.hpp"
#include "cli/json_answer.hpp"
#include "cli/planned_run.hpp"
#include "cli/progress.hpp"
#include "cli/terminal.hpp"
#include "model/derive/derive.hpp"
#include "report/views/run_json.hpp"
#include "report/views/summary.hpp"
#include "runner/coordinator.hpp"
#include "runner/devices.hpp"
#include "runner/worker.hpp"
#include "system/error.hpp"

namespace mprof::cli {
namespace {

bool was_measured(const Run& run) {
  return std::ranges::any_of(run.cases, [](const Case& c) { return case_status(c) != Status::skipped; });
}

ExitCode exit_code_of_run(const Run& run) {
  if (run.state == RunState::interrupted) return ExitCode::interrupted;
  const auto failed = [](const PassResult& pass) {
    return pass.status != Status::ok && pass.status != Status::skipped;
  };
  const bool any = std::any_of(run.cases.begin(), run.cases.end(), [&](const Case& c) {
    return std::any_of(c.passes.begin(), c.passes.end(), failed);
  });
  if (any) return ExitCode::wrong_output;
  // A shard of more shards than there are cases has nothing to measure, and that is right.
  return run.cases.empty() || was_measured(run) ? ExitCode::success : ExitCode::environment;
}

}  // namespace

int measure_and_compare(Run& run, ResultDirectory& directory, const Arguments& arguments,
                        const std::vector<DeviceUnit>& units, Baseline baseline) {
  JsonAnswer answer(arguments.flag("json"));
  const double start = steady_clock().now(), measured_before = measuring_time(run);
  if (const std::string text = outlook(arguments, run); !arguments.flag("quiet") && !text.empty())
    fmt::print(stderr, "{}\n", text);
  const Interrupts interrupts;
  const auto progress = make_progress(style_of(arguments.flag("quiet")), steady_clock());
  CoordinatorContext context{own_worker(), directory,       steady_clock(),
                             *progress,    interrupts.fd(), !run.plan.fixed_rounds};
  if (baseline.build) {
    measure_in_turns(*baseline.build, run, context);
  } else if (units.size() > 1) {
    const std::optional<Run> earlier = earlier_run(arguments);
    coordinate_devices(run, units, arguments.flag("share-host"), earlier ? &*earlier : nullptr, context);
  } else {
    if (!units.empty()) context.worker_command = worker_on(units.front(), context.worker_command);
    coordinate(run, context);
  }
  derive(run, directory.path());
  if (!arguments.flag("quiet")) {
    print_readable(render_summary(run, table_width()));
    print_readable(units.size() > 1
                       ? render_spent_on_devices(run)
                       : render_spent(steady_clock().now() - start, measuring_time(run) - measured_before));
  }
  const ExitCode code = baseline.exit_code(exit_code_of_run(run));
  const std::string path = directory.path().string();
  if (code == ExitCode::interrupted && run.in_turns) {
    fmt::print("Interrupted; the rounds that were finished are in {}. See them with: mprof compare {} {}\n",
               path, baseline.build->directory->path().string(), path);
  } else if (code == ExitCode::interrupted) {
    fmt::print("Interrupted; what was finished is in {}. Go on with: mprof run --resume --out {}\n", path,
               path);
  } else if (code == ExitCode::environment) {
    fmt::print("Nothing was measured: no case can run here. Result: {}.\n", path);
  } else {
    fmt::print("Result: {}. Next: mprof report {}\n", path, path);
  }
  const int with_baseline = baseline.compare(arguments, path, code);
  if (answer.is_wanted()) answer.print("mprof.run/1", run_json(run, path));
  return with_baseline;
}

}  // namespace mprof::cli
