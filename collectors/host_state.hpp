// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "collectors/collector.hpp"
#include "device/host_load.hpp"

namespace mprof {

/// What passes between two samples.
enum class BetweenSamples {
  counts,    ///< as what others do during them
  is_a_turn  ///< of another worker of mprof
};

/// Watches what others do on the host's CPUs while a case is sampled. `read` gives what has been counted up
/// to now, for the `cpus` CPUs that the case may use. Samples that are too short to say anything of are
/// judged by all the time since `earlier`, where that is given.
[[nodiscard]] std::unique_ptr<Collector> make_host_state(std::function<HostReading()> read, unsigned cpus,
                                                         std::optional<HostReading> earlier = std::nullopt,
                                                         BetweenSamples between = BetweenSamples::counts);

}  // namespace mprof
