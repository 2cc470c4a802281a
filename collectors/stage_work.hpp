// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>

#include "collectors/collector.hpp"

namespace mprof {

/// Finds a variant of the CPU suspect that computes outside forward(), where no op time counts it.
/// `cpu_seconds`: CPU time of the process so far, s. For tests; the registered one asks the kernel.
[[nodiscard]] std::unique_ptr<Collector> make_stage_work(std::function<double()> cpu_seconds);

}  // namespace mprof
