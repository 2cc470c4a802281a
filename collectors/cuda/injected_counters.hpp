// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/cuda/counted_kernel.hpp"
#include "collectors/injection.hpp"
#include "model/trace/counter_request.hpp"
#include "model/trace/journal_reader.hpp"

namespace mprof {

/// The metrics of a chip that are counted together, and how: `metrics`, `several`, `passes` and `config` of a
/// request. `unknown` gets the metrics that the chip does not have. Needs no GPU.
[[nodiscard]] journal::CounterRequest request_for(const std::string& chip,
                                                  std::span<const std::string> metrics,
                                                  std::vector<std::string>& unknown);

/// The values of a request's metrics in SI base units, from a range of counter data.
using EvaluateCounters = std::function<std::vector<double>(std::string_view data, std::size_t range)>;

/// What the journals of a program's processes hold of its kernels: rows of each kernel that was chosen, of
/// its op. Kernels that several processes launch are one: what the first one lacks is the next one's.
/// `selection` has the metrics.
[[nodiscard]] InjectedPass read_injected_counters(std::span<const journal::Journal> journals,
                                                  const journal::CounterRequest& request,
                                                  const CounterSelection& selection,
                                                  const EvaluateCounters& evaluate,
                                                  const cudaDeviceProp& gpu);

}  // namespace mprof
