// SPDX-License-Identifier: MIT
#pragma once

#include "report/analysis/judgement/session.hpp"
#include "runner/session/turns.hpp"

namespace mprof {

/// What the blocks so far say of A, B and the control.
[[nodiscard]] Session judged_session(const SessionArms& arms);

}  // namespace mprof
