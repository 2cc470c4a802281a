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

/// Metrics of a chip in groups: as few as it takes of one pass each, in the metrics' order, and then one of
/// those that need several passes by themselves. `unknown` gets those that the chip does not have. Needs no
/// GPU.
[[nodiscard]] std::vector<journal::MetricGroup> metric_groups(const std::string& chip,
                                                              std::span<const std::string> metrics,
                                                              std::vector<std::string>& unknown);

/// The values of a group's metrics in SI base units from a counter data.
using EvaluateCounters =
    std::function<std::vector<double>(const journal::MetricGroup& group, std::string_view data)>;

/// What the journals of a program's processes hold of its kernels: rows of each kernel that was chosen, of
/// its op. Kernels that several processes launch are one: what the first one lacks is the next one's.
/// `selection` has the metrics.
[[nodiscard]] InjectedPass read_injected_counters(std::span<const journal::Journal> journals,
                                                  const journal::CounterRequest& request,
                                                  const CounterSelection& selection,
                                                  const EvaluateCounters& evaluate,
                                                  const cudaDeviceProp& gpu);

}  // namespace mprof
