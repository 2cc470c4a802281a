#pragma once

#include <functional>
#include <memory>

#include "collectors/collector.hpp"
#include "device/host_load.hpp"

namespace mprof {

/// Watches what others do on the host's CPUs while a case is sampled: `read` gives what has been counted up
/// to now, for the `cpus` CPUs that the case may use.
[[nodiscard]] std::unique_ptr<Collector> make_host_state(std::function<HostReading()> read, unsigned cpus);

}  // namespace mprof
