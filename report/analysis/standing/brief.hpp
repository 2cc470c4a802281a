// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/analysis/analysis.hpp"
#include "report/analysis/reasons/explanations.hpp"

/// What is asked of a family first: how all of its variants stand at the largest problem, over one baseline,
/// and against what libraries offer.
namespace mprof {

/// Why an op's time changed.
struct FirstCause {
  std::string op;
  Reason reason;
};

/// How precisely a case computes. The first of these that is known names its format:
/// - what its parameters call its numbers,
/// - what the common baseline calls its numbers, where the case must meet the same tolerance,
/// - its counters,
/// - the tolerance of a lower precision.
///
/// Otherwise only its tolerance says it.
struct Precision {
  std::string format{};               ///< "fp16"; empty: nobody says
  std::optional<double> tolerance{};  ///< tolerance_of() all its ops

  bool operator==(const Precision&) const = default;
};

/// A variant with a right output at the problem of the brief.
struct BriefRow {
  const VariantResult* variant = nullptr;
  const CaseResult* result = nullptr;
  /// s, its ops together, or its whole where Brief::compares_wholes; nullopt where the op time of one says
  /// little.
  std::optional<double> ops_time{};
  std::optional<double> over{};  ///< how many times as fast its ops together are as the common baseline's
  /// The first reason, by the rules, of the op whose time changed most against its own baseline, and of the
  /// one that changed most the other way, if one did.
  std::vector<FirstCause> causes{};
  Precision precision{};
};

/// The best of this project's own against the best of the libraries' for an op (empty: the whole), like with
/// like where a library has its like: see is_like().
struct RivalStep {
  std::string op;
  const CaseResult* own = nullptr;
  const CaseResult* rival = nullptr;
  std::string library;                   ///< "cuDNN"
  SpeedUp speed_up;                      ///< of the own one over the rival
  std::vector<const CaseResult*> level;  ///< other libraries' that are tied with the rival
  bool is_like = false;                  ///< the two are of a kind, and others of another kind were measured
  /// Not the fastest of own code and its rival, but the fastest of another kind that libraries have too.
  bool is_of_other_kind = false;
  /// Where the rival must meet a tighter tolerance than the own one: the best own one that keeps it, or
  /// nullptr. `as_tight_speed_up` is how many times as fast as the rival that is.
  const CaseResult* as_tight = nullptr;
  SpeedUp as_tight_speed_up{};
  /// Of the own one over the fastest of the libraries, of whatever kind, and whose that is.
  SpeedUp over_fastest{};
  std::string fastest_library{};
};

/// What a value of the case's parameters calls the numbers that are multiplied: "fp16"; empty where none
/// does.
[[nodiscard]] std::string number_format_of(const CaseResult& result);

/// Whether the two are allowed to round alike in the op (empty: in all): by what their parameters call the
/// numbers where both do, otherwise by their tolerances.
[[nodiscard]] bool is_like(const CaseResult& a, const CaseResult& b, const std::string& op);

/// The loosest relative error that the op's outputs were allowed (empty: the outputs of all ops); nullopt
/// where they were not verified.
[[nodiscard]] std::optional<double> tolerance_of(const CaseResult& result, const std::string& op);

/// The best in an op, or in the whole, at the problem of the brief.
struct Leader {
  const Best* best = nullptr;  ///< its `op` says in what; empty: the whole
  SpeedUp over;                ///< over the common baseline; absent where that is it, or has no such time
  Precision precision{};       ///< of the best
  /// Where it may be off by more than the common baseline: the fastest that meets that one's tolerance.
  const CaseResult* as_tight = nullptr;
  SpeedUp as_tight_over{};  ///< over the common baseline; absent where that is it
  Precision tight{};        ///< of that one
  std::optional<Reason>
      cause{};  ///< of an op that is faster than the common baseline's: the first by the rules
};

struct Brief {
  const Problem* problem = nullptr;       ///< the largest one with a verified time; nullptr: no time is
                                          ///< verified
  const VariantResult* common = nullptr;  ///< the baseline from which most come; nullptr: none was measured
  std::vector<BriefRow> rows{};           ///< fastest ops first, then those without such a time
  std::vector<Leader> leaders{};          ///< ops in order and then the whole, without ops that have no
                                          ///< leader
  std::vector<RivalStep> rivals{};        ///< in the same order, of an op perhaps several; none without a
                                          ///< library
  bool compares_wholes = false;  ///< no op of any row has a time of its own, as of a suite's programs
};

[[nodiscard]] Brief brief_of(const FamilyResult& family);

}  // namespace mprof
