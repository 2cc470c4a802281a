// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "collectors/collector.hpp"
#include "device/perf_event.hpp"

namespace mprof {

/// A metric, and its counter or why it has no counter.
struct CounterSlot {
  std::string metric;
  std::variant<std::unique_ptr<HardwareCounter>, Refusal> counter;
};

/// Reads each counter around each forward stage. `ops`: the ops that get a row even when nothing could be
/// counted.
[[nodiscard]] std::unique_ptr<Collector> make_hardware_counters(std::vector<CounterSlot> slots,
                                                                std::vector<std::string> ops);

}  // namespace mprof
