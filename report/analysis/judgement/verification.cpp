// SPDX-License-Identifier: MIT
#include "report/analysis/judgement/verification.hpp"

#include <algorithm>

namespace mprof {

void VerificationSummary::keep_the_worse(const Verification& verification, const Problem& problem) {
  const bool worse = worst == nullptr || (!verification.passed && worst->passed) ||
                     (verification.passed == worst->passed && verification.relative_l2 > worst->relative_l2);
  if (!worse) return;
  worst = &verification;
  worst_problem = problem;
}

void VerificationSummary::add(const Verification& verification, const Problem& problem) {
  ++outputs;
  passed += verification.passed ? 1 : 0;
  elements += verification.elements;
  non_finite += verification.non_finite;
  never_written += verification.never_written;
  max_error = std::max(max_error, verification.max_error);
  keep_the_worse(verification, problem);
}

void VerificationSummary::add(const VerificationSummary& other) {
  outputs += other.outputs;
  passed += other.passed;
  elements += other.elements;
  non_finite += other.non_finite;
  never_written += other.never_written;
  max_error = std::max(max_error, other.max_error);
  if (other.worst != nullptr) keep_the_worse(*other.worst, other.worst_problem);
}

const Verification* find_verification(const Case& c, std::string_view op) {
  for (const PassResult& pass : c.passes) {
    if (pass.verification.empty()) continue;
    const auto found = std::ranges::find(pass.verification, op, &Verification::op);
    return found == pass.verification.end() ? nullptr : &*found;
  }
  return nullptr;
}

std::string_view verified_by(const Case& c) {
  for (const PassResult& pass : c.passes) {
    if (pass.outcome && !pass.outcome->verified_by.empty()) return pass.outcome->verified_by;
  }
  return {};
}

}  // namespace mprof
