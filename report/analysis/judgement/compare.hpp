// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/run.hpp"
#include "report/analysis/judgement/compared_evidence.hpp"
#include "report/analysis/judgement/judgement.hpp"
#include "report/analysis/judgement/likeness.hpp"
#include "report/analysis/judgement/op_changes.hpp"
#include "report/analysis/judgement/pairing.hpp"
#include "report/analysis/judgement/traced_times.hpp"
#include "report/analysis/program/program_change.hpp"
#include "report/text/family_words.hpp"

namespace mprof {

/// What fails a comparison beside wrong results and lost quality, which always do.
struct FailOn {
  bool slower = true;
  bool inconclusive = false;
  bool missing = false;  ///< a case that A has done and B has not
};

struct CompareOptions {
  Thresholds thresholds{};
  bool allow_different_machines = false;  ///< and other conditions, see Differences::unlike
  std::string name_a = "A";               ///< what the reader calls the runs, for example their directories
  std::string name_b = "B";
  Pairing pairing{};
  FailOn fail_on{};
};

/// One time of a case on both sides.
struct TimeComparison {
  std::string metric;  ///< op_time, group_time, total_time or step_time; gpu_time or launch_time of traces
  std::string op;      ///< empty: the whole case
  bool is_beside = false;  ///< the grouped time of an op whose op time is compared as well
  Value a;
  Value b;
  std::optional<double> ratio;  ///< b / a
  SpeedUp speed_up;             ///< a / b: above 1 is faster; with the verdict
  /// It was not compared, for conditions that it depends on differ: as `speed_up.reason` says.
  bool is_incomparable = false;
  std::string kernel{};  ///< of a launch_time
  /// False where the outputs are right in different number formats, of which the next two are one:
  /// number_format() of model/precision.hpp.
  bool has_like_formats = true;
  std::string format_a{}, format_b{};
};

/// A quality of a case on both sides.
struct QualityComparison {
  QualityInfo info;  ///< as A's family has it
  Value a;
  Value b;
  std::optional<double> change{};

  /// Whether B is worse by more than the family tolerates.
  [[nodiscard]] bool lost() const { return change && is_loss(info, *change); }
};

/// How the output of an op compared with the reference on both sides; where that changed.
struct VerificationComparison {
  std::string op;
  Verification a;
  Verification b;
};

/// What can become worse, or fail a comparison, the gravest first.
enum class Worse {
  broken,
  quality,
  slower,
  lost,         ///< done in A, and not reached in B
  inconclusive  ///< a time
};

struct Regression {
  Worse kind = Worse::slower;
  std::size_t which = 0;  ///< of the case's qualities or times
};

/// How urgently a case needs a reader.
/// - `worse` has a wrong or lost result.
/// - `faster` is also right where it was wrong.
/// - `inconclusive` has a time of which nothing can be said, and no time that changed.
enum class Importance { worse, slower, faster, inconclusive, unchanged };

[[nodiscard]] std::string_view to_string(Importance importance);

/// A case that both runs hold.
struct CaseComparison {
  std::string id;    ///< in A
  std::string id_b;  ///< in B: another one where variants were paired that have not one name
  CaseKey key;       ///< in A
  Status status_a = Status::pending;
  Status status_b = Status::pending;
  std::string reason_a;
  std::string reason_b;
  std::vector<TimeComparison> times;         ///< empty unless both sides are ok: a wrong result has no speed
  std::vector<QualityComparison> qualities;  ///< the qualities that A's family has
  std::vector<VerificationComparison> verifications;
  std::vector<OpChange> ops;               ///< of a case with a time that changed
  std::vector<TracedFigure> figures;       ///< of a case that is compared by traces (traced_times.hpp)
  std::optional<ProgramChange> program{};  ///< of a program that was traced on both sides
  std::vector<Regression> regressions;     ///< what became worse
  Importance importance = Importance::unchanged;
};

/// The geometric mean of B's times over A's.
struct MeanRatio {
  double ratio = 1;
  std::size_t count = 0;     ///< of times that both sides have; without any, the ratio means nothing
  std::size_t left_out = 0;  ///< times that both sides have and that something disturbed
};

/// A time of which is not known whether it changed by more than its threshold.
struct Undecided {
  const CaseComparison* of_case = nullptr;
  const TimeComparison* time = nullptr;
};

/// What a reader must know of a run to believe a comparison with it.
struct RunSummary {
  std::string name;
  std::string started;
  std::string version;
  std::string revision;
  std::string machine;
  RunState state = RunState::complete;
};

/// Of a run, by what the reader calls it.
[[nodiscard]] RunSummary summary_of(const Run& run, const std::string& name);

struct Comparison {
  RunSummary a;
  RunSummary b;
  Thresholds thresholds{};
  FailOn fail_on{};
  std::vector<CaseComparison> cases;   ///< in the order of A
  std::map<std::string, Words> words;  ///< of A's families
  std::vector<std::string> only_in_a;
  std::vector<std::string> only_in_b;
  std::vector<Unlike> unlike;      ///< differences that touch a time of a common case
  bool allows_unlike = false;      ///< these times are compared all the same
  std::vector<std::string> notes;  ///< other differences between the runs
  ComparedEvidence evidence{};

  /// Whether B is worse than A somewhere: slower, wrong or broken where A was ok, or worse in a quality.
  [[nodiscard]] bool regression() const;
  /// Why this case fails the comparison; nothing when it does not.
  [[nodiscard]] std::vector<Regression> failures_of(const CaseComparison& c) const;
  /// Whether any case does, or one is missing and `fail_on` minds.
  [[nodiscard]] bool failed() const;
  /// Cases that A has done and B has not: the cases that only A has, and the cases that B never came to.
  [[nodiscard]] std::size_t missing() const;
  /// Of the times that were compared.
  [[nodiscard]] std::size_t count(Verdict verdict) const;
  /// Times that were not compared, for their conditions differ.
  [[nodiscard]] std::size_t incomparable() const;
  /// What is undecided, the largest measured change first, and last what has no time on one side.
  [[nodiscard]] std::vector<Undecided> undecided() const;
  /// Whether an undecided time was measured to change by more than its threshold.
  [[nodiscard]] bool is_beyond_threshold(const TimeComparison& time) const;
  /// Cases of which a time is known on both sides, and was compared.
  [[nodiscard]] std::size_t timed() const;
  /// These, and cases that have a regression without one: all in which B could be worse.
  [[nodiscard]] std::size_t judged() const;
  /// Over all op times, and over all total times, without disturbed ones.
  [[nodiscard]] MeanRatio mean_of_ops() const;
  [[nodiscard]] MeanRatio mean_of_totals() const;
  /// All cases, the most important first: worse ones, slower ones by how much, faster ones by how much, and
  /// so on.
  [[nodiscard]] std::vector<const CaseComparison*> by_importance() const;
};

/// How the family of a case speaks.
[[nodiscard]] const Words& words_of(const Comparison& comparison, const CaseComparison& c);

/// Pairs the cases of two runs, or of one with itself. Throws Error(usage) like pair_cases(). Throws
/// Error(incomparable) with the reasons when they share no case, or no case that is done in both. Throws it
/// also when the conditions of each of their times differ (Differences::unlike) and `options` does not allow
/// that. Where only some times depend on what differs, the others are judged.
[[nodiscard]] Comparison compare(const Run& a, const Run& b, const CompareOptions& options);

}  // namespace mprof
