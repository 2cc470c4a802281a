// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "report/analysis/analysis.hpp"
#include "report/analysis/evidence.hpp"

namespace mprof {

/// What the brief of imported profiles answers, a sentence each: the kernels that take the longest, copies,
/// why the GPU was idle, what to do next, and what else the profile has. Empty for any other family.
/// `has_kernels`: the page has a table of kernels already.
[[nodiscard]] std::vector<std::string> import_answers(const FamilyResult& family, const Evidence& evidence,
                                                      bool has_kernels);

/// "MPI 4 (2 names), GPU metrics 3,000 (12 names)"; empty without any.
[[nodiscard]] std::string other_kinds_text(const std::vector<trace::Tally>& tallies);

}  // namespace mprof
