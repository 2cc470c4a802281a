// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "model/run.hpp"

namespace mprof {

/// How many rounds of timing each case of a run should have, in the order of the cases. It is the plan's
/// number as long as the intervals for the next run are as narrow as the plan wants them. It is more where
/// they are not, and up to twice as many rounds would make them so. How wide they would be follows from how
/// much the rounds of this case, and of the other cases, have differed so far (derive_variation()).
///
/// A case that still more rounds would not help enough is left alone: reports say how many it would take.
/// Only for a run of more than one round is anything known.
///
/// T. Kalibera and R. Jones, Rigorous benchmarking in reasonable time, ISMM 2013: repeat where the variance
/// is, as often as the width that is wanted needs.
[[nodiscard]] std::vector<std::uint32_t> rounds_wanted(const Run& run);

/// Whether half the interval of each compared time of a case is at most `wanted` of the time, or three times
/// as much for host times.
[[nodiscard]] bool is_narrow(const Run& run, const std::string& case_id, double wanted);

}  // namespace mprof
