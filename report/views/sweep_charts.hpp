#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "report/analysis/sweep.hpp"
#include "report/views/views.hpp"

namespace mprof {

/// "Op time", "Layer time" or "Total execution time": by what the points of a sweep are judged.
[[nodiscard]] std::string judged_by(const OpSweep& op);

/// "layer1", or "the whole inference".
[[nodiscard]] std::string op_name(const OpSweep& op);

/// The charts of one op: a curve for a sweep of one parameter, a heat map at each batch for one of two, none
/// for more, nor where nothing gave a verified time.
[[nodiscard]] std::vector<nlohmann::json> sweep_charts(const Sweep& sweep, const OpSweep& op,
                                                       Anchors& anchors);

}  // namespace mprof
