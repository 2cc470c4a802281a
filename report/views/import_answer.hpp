// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "report/analysis/analysis.hpp"
#include "report/analysis/evidence.hpp"

namespace mprof {

/// What is said of an imported profile, and about what: "copies".
struct ImportAnswer {
  std::string variant;  ///< its id
  std::string profile;
  std::string about;
  std::string text;
};

/// What the brief of imported profiles answers: the kernels that take the longest, copies, why the GPU was
/// idle, what to do next, and what else the profile has. Empty for any other family. `beside_program`: what
/// program_view() says is left out.
[[nodiscard]] std::vector<ImportAnswer> import_answers(const FamilyResult& family, const Evidence& evidence,
                                                       bool beside_program);

/// "MPI 4 (2 names), GPU metrics 3,000 (12 names)"; empty without any.
[[nodiscard]] std::string other_kinds_text(const std::vector<trace::Tally>& tallies);

}  // namespace mprof
