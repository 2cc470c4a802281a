// SPDX-License-Identifier: MIT
#include "runner/worker.hpp"

#include <sys/resource.h>

/// The product's worker, with the bad variants linked in.
int main() {
  using namespace mprof;
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  return run_worker({Registry::instance(), Devices::instance(), CollectorKinds::instance(), steady_clock()});
}
