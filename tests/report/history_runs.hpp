// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "report/analysis/machines/history.hpp"

/// Many runs made up for tests: of one machine, a day apart.
namespace mprof::samples {

/// Seconds of an op in the n-th of the runs, from 0.
using TimeInRun = std::function<double(std::size_t)>;

/// A run on a day of 2025: one case of one variant with two ops, in five rounds. The op times are device
/// times, and differ between rounds by `between` (a standard deviation of logarithms).
[[nodiscard]] Run on_day(std::size_t day, double first, double second, double between = 0.003);

/// `count` of them as a history keeps them.
[[nodiscard]] std::vector<RecordedRun> daily(std::size_t count, const TimeInRun& first,
                                             const TimeInRun& second, double between = 0.003);

/// The n-th of independent numbers, normal around 1, the same on every machine.
[[nodiscard]] double noisy(double deviation, std::uint64_t n);

}  // namespace mprof::samples
