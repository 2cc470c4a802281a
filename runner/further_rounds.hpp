// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "model/run.hpp"

namespace mprof {

/// How many rounds of timing each case of a run should have, in the order of the cases: those of the plan,
/// and more where that many rounds have not made the intervals for the next run as narrow as the plan wants
/// them, and up to twice as many would. How wide they would be follows from how much the rounds have differed
/// so far, and how much those of the other cases (derive_variation()). A case that still more would not help
/// enough is left alone: reports say how many it would take. Only of a run of more than one round is anything
/// known.
///
/// T. Kalibera and R. Jones, Rigorous benchmarking in reasonable time, ISMM 2013: repeat where the variance
/// is, as often as the width that is wanted needs.
[[nodiscard]] std::vector<std::uint32_t> rounds_wanted(const Run& run);

/// Whether half the interval of each compared time of a case is at most `wanted` of the time, three times as
/// much by the host's clock.
[[nodiscard]] bool is_narrow(const Run& run, const std::string& case_id, double wanted);

}  // namespace mprof
