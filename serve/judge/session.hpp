// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "report/analysis/judgement/session.hpp"
#include "runner/session/turns.hpp"

namespace mprof {

/// What the blocks so far say of A, B and the control.
[[nodiscard]] Session judged_session(const SessionArms& arms);

/// Which time of a timed case is missing in one of its rounds: its ops', or the whole's. Empty: none is.
[[nodiscard]] std::string missing_time(const Case& c);

}  // namespace mprof
