// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/metric.hpp"
#include "report/analysis/analysis.hpp"
#include "report/analysis/evidence.hpp"
#include "report/analysis/reasons/derived_metrics.hpp"
#include "report/analysis/standing/time_budget.hpp"

/// What to do next with a variant: the limits that its counters and its trace show, of its ops and of the
/// whole execution. Each limit has the speed-up that removing it alone could give at most. It also tells what
/// became of such advice where a later variant did remove a limit. docs/how-it-works/advice.md has all rules
/// with their formulas.
namespace mprof {

/// What a rule says, whatever it reads.
struct AdviceRule {
  std::string_view id;
  std::string_view advice;   ///< what to do: "Execute fewer instructions"
  std::string_view limit;    ///< what is read: "warp instructions"
  Unit unit;                 ///< of it
  bool lower;                ///< whether the advice is to lower it
  std::string_view time;     ///< what becomes shorter: "op_time", "group_time" or "total_time"
  double least_move;         ///< of the limit's value: less than this is no move, since no two readings agree
  std::string_view fires;    ///< when, for the documentation
  std::string_view formula;  ///< of the time that is left, for the documentation
  std::string_view source;   ///< where the reasoning is from; thresholds are this project's own
};

/// A limit that is read from `Readings`. Its functions read counts and times of the record alone.
template <class Readings>
struct LimitRule : AdviceRule {
  /// The limit as it is; nullopt where it was not read.
  std::optional<double> (*value)(const Readings& read);
  /// What it could become; nullopt where it limits nothing or something that it takes was not read.
  std::optional<double> (*best)(const Readings& read);
  /// The share of the time that is left if the limit became `value` and nothing else changed; only where
  /// best() has a value. Above 1 where that makes it worse.
  double (*left)(const Readings& read, double value);
};

/// What is read of a whole execution: the traced one, from begin to end. Of a program with steps, what is
/// read of the steady ones.
struct WholeReadings {
  const CaseResult* result = nullptr;
  TimeBudget budget{};
  std::optional<double> best_copy_rate{};  ///< B/s: of pinned memory, or another case of the family
  /// Of the time of kernels, the share that stays at least: of a variant by what measured peaks allow its
  /// ops, of a program by the busiest units of its kernels. nullopt: not known.
  std::optional<double> kernels_floor = 0;
  std::size_t steps = 0;  ///< steady ones that the budget is of; 0: it is of the whole
};

struct ProgramPicture;

/// Of an op's time, the share that the measured peaks need for its FLOPs and bytes; of FP16 for its bytes.
/// nullopt where they do not say.
[[nodiscard]] std::optional<double> share_at_peaks(const OpReadings& op);

/// Of a program: of its steady steps, where it has steps.
[[nodiscard]] WholeReadings readings_of(const ProgramPicture& picture);

using OpAdviceRule = LimitRule<OpReadings>;
using WholeAdviceRule = LimitRule<WholeReadings>;

[[nodiscard]] std::span<const OpAdviceRule> op_advice_rules();
[[nodiscard]] std::span<const WholeAdviceRule> whole_advice_rules();
/// All rules, with the rules of ops first.
[[nodiscard]] std::vector<const AdviceRule*> advice_rules();

/// The table of docs/how-it-works/advice.md.
[[nodiscard]] std::string advice_rules_as_markdown();

/// Advice is given where it could make a time shorter by so much, as a speed-up, and counts as taken where
/// the limit moved by as much as that takes.
inline constexpr double least_advised_gain = 1 + noticeable_change;

/// The rule that all kernels together take less time.
inline constexpr std::string_view whole_kernels_rule = "whole_kernels";

/// Times of the host and of copies that one trace says differ by so much from one execution to the next.
inline constexpr double of_one_trace = 0.25;
/// Rates of copies of pageable memory: on the host of an H200 by up to 40 %, for the same copies in one run.
inline constexpr double of_copy_rates = 0.75;

/// Another variant of the family that has less of what limits this one, and is faster beyond doubt.
struct AdviceExample {
  const CaseResult* result = nullptr;  ///< nullptr: no result
  double value = 0;                    ///< of the limit
  double predicted = 1;                ///< the speed-up that the formula gives for as much
  SpeedUp achieved{};                  ///< over this one, by the time that the rule is about
};

/// A rule that fired.
struct Advice {
  const AdviceRule* rule = nullptr;
  double value = 0;         ///< of the limit
  double best = 0;          ///< what it could become
  double gain = 1;          ///< at most how many times as fast
  AdviceExample example{};  ///< the one with the largest prediction: for its device, at most its tolerance,
                            ///< of no library
};

/// The rules that fire for an op of a case, the highest gain first; those about op time before those about
/// group time.
[[nodiscard]] std::vector<Advice> advice_for(const OpReadings& op);
/// The same for the whole.
[[nodiscard]] std::vector<Advice> advice_for(const WholeReadings& whole);

enum class AdviceOutcome {
  right,  ///< the time became shorter beyond doubt
  wrong,  ///< it became longer beyond doubt
  open    ///< neither
};

/// "faster", "slower", "undecided".
[[nodiscard]] std::string_view to_string(AdviceOutcome outcome);

/// An op of a variant, or its whole execution, whose limit differs from its baseline's, in the direction that
/// the advice for the baseline says. Several limits may have moved in one step: each is compared with all of
/// the gain.
struct AdviceTry {
  Advice advice;  ///< for the baseline
  const CaseResult* before = nullptr;
  const CaseResult* after = nullptr;
  std::string op;        ///< empty: the whole
  double became = 0;     ///< the limit's value in the variant
  double predicted = 1;  ///< the speed-up that the formula gives for as much as it moved
  bool leading = false;  ///< no other rule predicts more for this step, op and time
  SpeedUp achieved;
  AdviceOutcome outcome = AdviceOutcome::open;
};

/// What became of a rule's advice over all tries of a run.
struct AdviceRecord {
  const AdviceRule* rule = nullptr;
  std::size_t tries = 0;
  std::size_t right = 0;
  std::size_t wrong = 0;
  std::size_t leading = 0;        ///< tries in which no other rule predicts more
  std::size_t leading_right = 0;  ///< of these
  /// Geometric mean of the achieved speed-ups over the predicted ones; nullopt without a factor.
  std::optional<double> achieved_over_predicted{};

  /// Of all tries; nullopt without one.
  [[nodiscard]] std::optional<double> hit_rate() const;
  /// At least half of two or more tries went the wrong way: it is not shown as advice.
  [[nodiscard]] bool silenced() const;
};

/// What rules look at.
enum class AdviceEvidence { kernels, dram_bytes, copies_and_host, time_budget };

/// What could not be judged.
struct NotJudged {
  AdviceEvidence evidence = AdviceEvidence::kernels;
  Why why{};  ///< a flaw of the op time: it is not the time of the kernels
};

/// What to do next with one op, or with the whole.
struct OpAdvice {
  std::string op;                       ///< empty: the whole, or its steady steps
  std::size_t steps = 0;                ///< that it is about; 0: all of it
  std::vector<Advice> advice;           ///< without the advice of silenced rules, in the order of
                                        ///< advice_for()
  std::vector<const AdviceRule*> left;  ///< silenced rules that fired
  std::vector<NotJudged> missing;
};

struct VariantAdvice {
  const VariantResult* variant = nullptr;
  const CaseResult* result = nullptr;  ///< at its largest problem with a verified time; nullptr: see `absent`
  std::vector<OpAdvice> ops;           ///< in order
  OpAdvice whole;
  Why absent;  ///< why there can be no advice
};

struct FamilyAdvice {
  std::string family;
  std::vector<VariantAdvice> variants;  ///< in the family's order
  std::vector<AdviceTry> tries;         ///< variants, ops and rules in order
};

struct RunAdvice {
  std::vector<FamilyAdvice> families;  ///< in the order of the analysis
  std::vector<AdviceRecord> records;   ///< of each rule, over all families

  /// nullptr for an unknown id.
  [[nodiscard]] const FamilyAdvice* find_family(std::string_view id) const;
  [[nodiscard]] const VariantAdvice* find_variant(const VariantResult& variant) const;
  [[nodiscard]] const AdviceRecord& record_of(const AdviceRule& rule) const;
};

/// The analysis must outlive the result, which points into it.
[[nodiscard]] RunAdvice advise(const RunAnalysis& analysis, const Evidence& evidence);

}  // namespace mprof
