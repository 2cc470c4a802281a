// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "report/analysis/analysis.hpp"
#include "report/analysis/kernels/kernels.hpp"

/// One value for a metric of an op, wherever the run holds it: of the op itself, or of its kernels.
namespace mprof {

/// Metrics of single kernels are named in Nsight Compute's way: unit__counter.rollup.
[[nodiscard]] bool is_of_kernels(std::string_view metric);

/// The metric of the op (of all ops together when `op` is empty). What is known of kernels only is their sum
/// where it adds up, and otherwise the value of the kernel that took the longest.
[[nodiscard]] Reading reading_for(const CaseResult& result, const std::string& metric, const std::string& op);

}  // namespace mprof
