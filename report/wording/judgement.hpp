// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "report/analysis/judgement/estimate.hpp"
#include "report/analysis/judgement/judgement.hpp"

/// What is said beside times and their verdicts.
namespace mprof {

/// "1 %"
[[nodiscard]] std::string threshold_text(double threshold);

/// `1 % (3 % for host times)`
[[nodiscard]] std::string thresholds_text(const Thresholds& thresholds = {});

/// "2.5 %", or "4.2×" of what is more than twice as long: the smallest change that the data exclude, rounded
/// up.
[[nodiscard]] std::string excluded_text(double change);

/// "no change above 2.5 %"; empty where nothing is excluded.
[[nodiscard]] std::string no_change_text(const SpeedUp& speed_up);

/// "slower"; "inconclusive, ≤ 2.5 %" of what is no change.
[[nodiscard]] std::string verdict_text(const SpeedUp& speed_up);

/// "at least 34× as fast, although other processes used the CPUs": of a change, where something disturbed a
/// time; otherwise empty.
[[nodiscard]] std::string despite_text(const SpeedUp& speed_up);

/// Why a value has no interval, as a note says it.
[[nodiscard]] std::string no_interval(const Estimate& estimate);

/// What must be said beside a host time of one round; `borrowed`: as borrow_variations() does.
[[nodiscard]] std::string_view one_round(bool borrowed = false);

/// What disturbed a time, without how much: "another process used the GPU (in 1 of 3 rounds)"; of several
/// causes each once.
[[nodiscard]] std::string causes_text(const Disturbed& disturbed);
/// The same with who it was and how much: "another process used the GPU: pid 4242 (2.1 GiB)".
[[nodiscard]] std::string disturbed_text(const Disturbed& disturbed);

}  // namespace mprof
