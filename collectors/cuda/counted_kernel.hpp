// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cuda/kernel_launch.hpp"
#include "model/run.hpp"

struct cudaDeviceProp;

namespace mprof {

/// A kernel of an op, and what was counted of its launches there.
struct CountedKernel {
  std::string op{};
  cuda::KernelLaunch launch{};
  std::vector<double> counts{};  ///< of CounterSelection::counted, in that order; may be empty
  std::string uncounted{};       ///< the reason why `counts` is empty
  std::map<std::string, std::string> uncounted_metrics{};  ///< by metric: why it is missing where others were
                                                           ///< counted
  std::optional<cuda::KernelAttributes> attributes{};
  std::string unknown_attributes{};  ///< the reason why the attributes are unknown
};

/// What is asked for of each kernel, by who knows the values.
struct CounterSelection {
  std::string chip{};                  ///< CUPTI's name of the GPU's chip
  std::vector<std::string> metrics{};  ///< all of them
  std::vector<std::string> counted{};  ///< of these, what is read of the counters
  std::vector<std::string> missing{};  ///< of these, what this GPU does not have or does not let one read
  std::string refusal{};               ///< why nothing is counted at all; "": it is
};

/// A row a metric for one kernel, under this name.
void add_measurements(const CounterSelection& selection, const CountedKernel& kernel, const std::string& name,
                      const cudaDeviceProp& gpu, std::vector<Measurement>& measurements);

/// A row a metric for each kernel of each op, in the order of their launches; an op without kernels gets rows
/// that say so.
void add_measurements(const CounterSelection& selection, std::span<const OpInfo> ops,
                      std::span<const CountedKernel> kernels, const cudaDeviceProp& gpu,
                      std::vector<Measurement>& measurements);

}  // namespace mprof
