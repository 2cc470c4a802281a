// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "report/analysis/standing/sweep.hpp"
#include "report/views/views.hpp"

namespace mprof {

/// The label of the time by which the points of a sweep are judged.
[[nodiscard]] std::string judged_by(const Sweep& sweep, const OpSweep& op);

/// The op, or "the whole ..." of a family without ops.
[[nodiscard]] std::string op_name(const Sweep& sweep, const OpSweep& op);

/// The charts of one op: a curve for a sweep of one parameter, a heat map at each problem for one of two,
/// none for more, nor where nothing gave a verified time.
[[nodiscard]] std::vector<nlohmann::json> sweep_charts(const Sweep& sweep, const OpSweep& op,
                                                       Anchors& anchors);

}  // namespace mprof
