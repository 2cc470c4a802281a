// SPDX-License-Identifier: MIT
#include "runner/worker.hpp"

#include "cli/options.hpp"

namespace mprof::cli {

Verb worker_verb() {
  return {.name = "worker",
          .positional = "",
          .summary = "one worker process of a run",
          .description = "Reads a job from standard input and does it. Started by `mprof run`, not by hand.",
          .options = {},
          .run =
              [](const Arguments&) {
                return run_worker(
                    {Registry::instance(), Devices::instance(), CollectorKinds::instance(), steady_clock()});
              },
          .hidden = true};
}

}  // namespace mprof::cli
