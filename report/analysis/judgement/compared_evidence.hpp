// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/run.hpp"
#include "report/analysis/judgement/estimate.hpp"
#include "report/analysis/judgement/pairing.hpp"

/// What a reader wants to see of a comparison before believing it: the raw samples of the times that changed,
/// and what hardware counted of the kernels on both sides.
namespace mprof {

struct CaseComparison;

/// A time with the samples of both sides.
struct ComparedSamples {
  std::size_t time = 0;  ///< among its case's
  Measurement a{};
  Measurement b{};
};

/// The times of a case that changed, or that are undecided.
struct CaseSamples {
  std::size_t of_case = 0;  ///< among the comparison's
  std::vector<ComparedSamples> times{};
};

/// How near the longest kernel of an op came to what the GPU can do, in % of its peak.
struct ComparedThroughput {
  std::size_t of_case = 0;  ///< among the comparison's
  std::string op{};
  Value sm_a{}, sm_b{};
  Value memory_a{}, memory_b{};
};

struct ComparedEvidence {
  std::vector<CaseSamples> samples{};  ///< changes before what is inconclusive, the largest ones first
  std::size_t more_samples = 0;        ///< such cases beyond those
  std::vector<ComparedThroughput> throughputs{};  ///< where both sides were counted, in the cases' order
};

/// The samples of the first `most` cases; the throughputs of all. `pairs` are the cases compared, in their
/// order.
[[nodiscard]] ComparedEvidence compared_evidence(const std::vector<CaseComparison>& cases,
                                                 const std::vector<CasePair>& pairs, std::size_t most = 12);

}  // namespace mprof
