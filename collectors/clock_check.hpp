// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "collectors/collector.hpp"

namespace mprof {

/// Finds a series suspect while which the two clocks disagreed: one of them was replaced, or tampered with.
/// For tests; the registered one compares steady_clock() with kernel_clock().
[[nodiscard]] std::unique_ptr<Collector> make_clock_check(const Clock& clock, const Clock& other);

}  // namespace mprof
