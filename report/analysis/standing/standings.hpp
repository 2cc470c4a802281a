// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/analysis/analysis.hpp"

/// What a family's results come to, problem by problem: who wins where, and what did not pay.
namespace mprof {

/// A configuration and the problems at which it is the fastest.
struct Winner {
  std::string configuration;
  std::vector<Problem> problems;  ///< ascending
};

/// The answers for one op, or for the whole when `op` is empty.
struct Answers {
  std::vector<const Best*> best;  ///< where some case gave a verified time; problems ascending
  std::vector<Winner> winners;    ///< in the order of their first problem
};

[[nodiscard]] Answers answers_for(const FamilyResult& family, const std::string& op);

/// Variants that are slower than their baseline wherever both were timed.
struct NotPaid {
  std::vector<const VariantResult*> everywhere;  ///< in every op
  std::vector<std::pair<std::string, std::vector<const VariantResult*>>>
      in_op;  ///< in this one, without those; ops in order, none of them empty
};

[[nodiscard]] NotPaid what_did_not_pay(const FamilyResult& family);

/// A quality over the variants that stand for the family at a problem.
struct QualityRange {
  const QualityInfo* info = nullptr;
  Problem problem;
  double lowest = 0;
  double highest = 0;
  std::size_t variants = 0;
  bool kept = true;  ///< none lost more than is tolerated against its baseline
};

/// Each quality of the family at the largest problem at which one was recorded of a right output.
[[nodiscard]] std::vector<QualityRange> quality_ranges(const FamilyResult& family);

/// s, all ops of a case; nullopt where one is missing or says little.
[[nodiscard]] std::optional<double> ops_time(const CaseResult& result);

/// The case whose ops together are the fastest at the largest problem, and what the rest leaves to win.
struct FastestOps {
  const CaseResult* result = nullptr;
  double time = 0;        ///< s, all its ops
  double share = 0;       ///< of its total time
  std::size_t level = 0;  ///< others whose ops together do not take significantly longer
};

/// nullopt without such a case, or where its ops do not lie within the whole.
[[nodiscard]] std::optional<FastestOps> fastest_ops(const FamilyResult& family);

/// Parameters of a variant that could take other values and ran with one alone.
struct Unswept {
  const VariantResult* variant = nullptr;
  std::vector<std::pair<std::string, std::string>> parameters;  ///< name and the value that ran
  bool at_defaults = true;                                      ///< all of them
};

/// Variants in order, those without such a parameter or a verified time left out.
[[nodiscard]] std::vector<Unswept> unswept(const FamilyResult& family);

/// The largest problem with a verified time; nullptr without a verified time.
[[nodiscard]] const Problem* largest_measured(const FamilyResult& family);

}  // namespace mprof
