// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "report/analysis/analysis.hpp"

/// The words that a report explains.
namespace mprof {

struct Term {
  std::string term;
  std::string meaning;
};

/// How to read the page: the words that mprof adds, without words that the run has no use for.
[[nodiscard]] std::vector<Term> glossary_of(const RunAnalysis& analysis);

/// The metrics of the catalogue that the run holds, and the qualities of its families.
[[nodiscard]] std::vector<Term> metrics_explained(const RunAnalysis& analysis);

}  // namespace mprof
