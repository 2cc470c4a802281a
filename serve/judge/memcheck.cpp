// SPDX-License-Identifier: MIT
#include "serve/judge/memcheck.hpp"

#include <fmt/format.h>

#include "runner/sanitize/sanitize.hpp"
#include "runner/worker.hpp"
#include "system/error.hpp"

namespace mprof {

Memcheck memcheck_of(const MemcheckRequest& request) {
  const VariantInfo* const info = find_variant(request.run, request.run.cases.at(0).key.variant);
  if (info != nullptr && info->device != "cuda") return {"compute-sanitizer reads CUDA code only", ""};
  AxisValues values;
  for (const Coordinate& c : request.problem.coordinates) values[c.axis] = {c.value};
  const Sanitizer sanitizer = find_sanitizer(sanitizer_folders(), request.clock);
  const std::vector<SanitizeStep> steps = plan_sanitize(request.run,
                                                        {.patterns = {request.run.cases.at(0).key.variant},
                                                         .tools = {SanitizerTool::memcheck},
                                                         .values = values},
                                                        request.registry, request.devices, sanitizer);
  SanitizerRecord record;
  SanitizeProgress silent;
  const SanitizeOutcome outcome = sanitize(request.run, record, steps,
                                           {.sanitizer = sanitizer,
                                            .worker_command = own_worker(),
                                            .file = request.folder / "sanitizer.json",
                                            .inputs = request.run.plan.inputs,
                                            .timeout = request.timeout,
                                            .clock = request.clock,
                                            .progress = silent,
                                            .interrupt_fd = request.interrupt_fd,
                                            .through = request.through});
  if (!outcome.completed) throw Error(ExitCode::interrupted, "interrupted");
  if (outcome.results.empty()) return {"compute-sanitizer gave no result", ""};
  const SanitizerResult& result = outcome.results.front();
  switch (result.status) {
    case SanitizerStatus::clean:
      return {};
    case SanitizerStatus::errors:
      return {"", fmt::format("compute-sanitizer found {} errors of memory: {}", result.errors,
                              result.first_report)};
    default:
      return {result.reason.empty() ? "compute-sanitizer did not come to its end" : result.reason, ""};
  }
}

}  // namespace mprof
