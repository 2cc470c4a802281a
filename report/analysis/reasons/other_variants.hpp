// SPDX-License-Identifier: MIT
#pragma once

#include "report/analysis/reasons/explanations.hpp"

namespace mprof {

/// What other variants of the same baseline say to the reasons of a change. A variant contradicts a reason
/// when all of this holds at the same problem:
/// - What the reason is measured by moved at least as far in the same direction.
/// - Its time is beyond doubt the same as the baseline's, or changed the other way.
/// - It was read as completely.
/// - Nothing that was read of it speaks for the other direction by as much as a quarter of what the reason
///   claims. So no loss of its own hides the gain.
///
/// Time is instructions over their rate and clock: these factors cannot be contradicted, and are left alone.
/// A contradicted reason says so, and comes after the others.
void weigh_by_others(Explanation& explanation, const ExplainedCase& before, const ExplainedCase& after);

}  // namespace mprof
