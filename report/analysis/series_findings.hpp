#pragma once

#include <vector>

#include "report/analysis/analysis.hpp"

namespace mprof {

/// Adds what the order of the samples tells of the times, each kind once: steps within a round, neighbours
/// that are alike, samples that lie far out.
void add_series_findings(const std::vector<FamilyResult>& families, std::vector<Finding>& findings);

}  // namespace mprof
