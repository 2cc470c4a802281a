// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "model/run.hpp"

namespace mprof::cuda {

/// What the current GPU reaches at best, measured in about `seconds` altogether: device-memory bandwidth,
/// FP32 multiply-adds, products of tensor cores, evaluations of special functions, and copies between host
/// and device. Copies go each way, from pinned and from pageable memory. A rate that cannot be measured is
/// absent with the reason.
[[nodiscard]] std::vector<Ceiling> measure_ceilings(double seconds);

}  // namespace mprof::cuda
