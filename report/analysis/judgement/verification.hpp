// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/run.hpp"

/// Verifications of several outputs as one: how many passed, and the worst of them.
namespace mprof {

struct VerificationSummary {
  std::size_t outputs = 0;
  std::size_t passed = 0;
  std::uint64_t elements = 0;
  std::uint64_t non_finite = 0;
  std::uint64_t never_written = 0;
  double max_error = 0;
  const Verification* worst =
      nullptr;              ///< the largest relative L2 error among the failed, if any, or among all
  Problem worst_problem{};  ///< where that was

  [[nodiscard]] bool all_passed() const { return passed == outputs; }
  void add(const Verification& verification, const Problem& problem);
  void add(const VerificationSummary& other);

 private:
  void keep_the_worse(const Verification& verification, const Problem& problem);
};

/// One op of a variant, over all its problems.
struct OpVerification {
  std::string op;
  VerificationSummary summary;
};

/// How the output of an op of a case compared with the reference; nullptr when it was not verified.
[[nodiscard]] const Verification* find_verification(const Case& c, std::string_view op);

/// How the output of a case's program was verified, as its suite says: "by `./compare`"; empty when it was
/// not.
[[nodiscard]] std::string_view verified_by(const Case& c);

}  // namespace mprof
