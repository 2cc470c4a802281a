// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/run.hpp"
#include "report/analysis/findings/findings.hpp"
#include "report/analysis/findings/sanitizer_summary.hpp"
#include "report/analysis/judgement/estimate.hpp"
#include "report/analysis/judgement/judgement.hpp"
#include "report/analysis/judgement/verification.hpp"
#include "report/analysis/kernels/gpu_memory.hpp"
#include "report/analysis/kernels/kernels.hpp"
#include "report/analysis/kernels/speed_of_light.hpp"
#include "report/text/family_words.hpp"

/// What a run says, as plain values: medians, speed-ups over each variant's own baseline, expectations,
/// findings. Every judgement of the report is made here; views only put it into words.
namespace mprof {

/// The limits that a machine was measured to have, with which the useful work of an op is compared.
enum class Limit { compute, memory, special };

/// "FP32 peak", "memory bandwidth", "special-function peak".
[[nodiscard]] std::string_view to_string(Limit limit);
/// "compute", "memory", "special functions".
[[nodiscard]] std::string_view short_name(Limit limit);

struct OpResult {
  OpInfo info;
  bool is_on_gpu = true;
  Value op_time;
  Value group_time;
  Value compute_throughput;  ///< % of the measured peak
  Value memory_throughput;   ///< % of the measured bandwidth
  Value special_throughput;  ///< % of the measured special-function rate; absent for an op without such work
  Value flop_rate;
  Value byte_rate;
  Value special_rate;
  Value of_possible;             ///< %: the time that the measured peaks allow, over op_time (modelled)
  std::optional<Limit> limit{};  ///< what allows no less time; absent like `of_possible`
  Value gpu_time;                ///< by the trace
  SpeedUp gpu_speed_up;
  OpTimeFlaw flaw = OpTimeFlaw::none;  ///< why op_time says little
  std::string compared_by;  ///< the metric behind `speed_up`: op_time, or group_time (comparable_time())
  SpeedUp speed_up;
  std::optional<Verification> verification;

  /// The time that `compared_by` names.
  [[nodiscard]] const Value& compared_time() const {
    return compared_by == "group_time" ? group_time : op_time;
  }
};

/// Whether its time is shorter than the measured peaks allow, by more than these vary: it works on units
/// whose peak they are not, or on data that caches hold. Its share of them says nothing then.
[[nodiscard]] bool is_beyond_measured_peaks(const OpResult& op);

/// Whether the GPU time of the traced execution is longer than the op time, which should hold it. Then it
/// belongs to another execution than the timed ones.
[[nodiscard]] bool gpu_time_exceeds_op_time(const OpResult& op);

/// The highest of an op's throughputs, and of what.
struct NearestLimit {
  Limit limit = Limit::compute;
  Value throughput;  ///< %; absent where none is known, or where it is of another peak than the measured one
};

[[nodiscard]] NearestLimit nearest_limit(const OpResult& op);

/// What a case says beside its times.
struct QualityResult {
  const QualityInfo* info = nullptr;  ///< in the analysed run
  Value value;
  std::optional<double> change{};  ///< against the baseline's

  /// Whether it is worse than the baseline's by more than the family tolerates.
  [[nodiscard]] bool lost() const { return change && is_loss(*info, *change); }
};

struct CaseResult {
  std::string id;
  std::string configuration;  ///< the id without the problem
  CaseKey key;
  Status status = Status::pending;
  std::string reason;
  const Case* source = nullptr;  ///< in the analysed run
  std::string gpu_model{};       ///< that measured it; empty unless the run has several
  bool is_baseline = false;      ///< its variant declares no baseline
  std::string baseline;          ///< id of the case that it is compared with; may be empty
  std::vector<OpResult> ops;
  Value total_time;
  SpeedUp total_speed_up;
  std::vector<QualityResult> qualities;  ///< the family's, in order
  Value cores_busy;                      ///< CPU time over host time
  Value trace_overhead;                  ///< traced over plain group time
  bool trace_overhead_is_noise = false;  ///< the traced time lies within the intervals of the plain ones
  std::optional<Sampling> sampling;

  [[nodiscard]] bool ok() const { return status == Status::ok; }
  /// Why its times are no result; empty when they are one, or when it has no times.
  [[nodiscard]] Why doubt() const;
  /// Whether it has times at all, be they no result.
  [[nodiscard]] bool ran() const { return ok() || !doubt().empty(); }
  /// By name; nullptr when the case has no such op.
  [[nodiscard]] const OpResult* find_op(std::string_view name) const;
  /// The sum of its ops' times by which they are compared; nullopt when one is missing, or without ops.
  [[nodiscard]] std::optional<double> compared_time() const;
};

/// `not_told`: both values are known, and whether they differ is not: a time was disturbed, or too few rounds
/// were measured.
enum class Outcome { met, not_met, not_told, not_measurable };

/// In the order in which reports list them.
inline constexpr std::array outcomes{Outcome::met, Outcome::not_met, Outcome::not_told,
                                     Outcome::not_measurable};

/// `met`, `not met`, `not told`, `not measurable`.
[[nodiscard]] std::string_view to_string(Outcome outcome);

/// An expectation at one problem.
struct ExpectationAt {
  Problem problem;
  std::string op;  ///< whose values they are; empty: of all ops
  Outcome outcome = Outcome::not_measurable;
  Value before;
  Value after;
  Origin before_origin;
  Origin after_origin;
  Why reason;  ///< why it was not met, or is undecided or not measurable
};

struct ExpectationResult {
  Expectation expectation;
  std::vector<ExpectationAt> at;  ///< one a problem, ascending

  /// The largest problem at which it could be measured decides. Without such a problem, the last one decides;
  /// nullptr without any problem.
  [[nodiscard]] const ExpectationAt* deciding() const;
};

struct VariantResult {
  VariantInfo info;
  std::vector<CaseResult> cases;
  std::vector<ExpectationResult> expectations;
  std::vector<OpVerification> verifications;       ///< ops in order; without ops that were never verified
  VerificationSummary verified;                    ///< all of them
  std::map<Problem, std::vector<std::size_t>> at;  ///< places of its cases by their problem

  /// The case that stands for the variant at a problem: the fastest verified one of a parameter sweep, or the
  /// first one when none is verified; nullptr when none is in the run.
  [[nodiscard]] const CaseResult* representative(const Problem& problem) const;
  /// Whether some problem has more than one point of a parameter sweep.
  [[nodiscard]] bool swept() const;
  /// The largest problem with a verified total time; nullptr without a verified one.
  [[nodiscard]] const CaseResult* largest_timed() const;
};

/// The fastest verified case of an op (or of the whole, when `op` is empty) at one problem. A case
/// that works outside forward() has no op time to compete with.
struct Best {
  std::string op{};
  Problem problem{};
  const CaseResult* fastest = nullptr;        ///< nullptr: no case gave a verified time
  std::vector<const CaseResult*> level{};     ///< others that it is not faster than beyond doubt
  std::vector<const CaseResult*> left_out{};  ///< those whose op time says little
  bool is_clear =
      true;  ///< it was not disturbed, nor was any that may be as fast, as far as their intervals go

  [[nodiscard]] const Value& time() const;
  [[nodiscard]] const SpeedUp& speed_up() const;
};

/// The fastest on the CPU, and the fastest on the GPU over it; where both have one.
struct DeviceStep {
  Best cpu;
  Best gpu;
  SpeedUp speed_up;
};

struct FamilyResult {
  std::string id;
  FamilyInfo info;                 ///< as the run has it; a run made by hand may not, and it is empty then
  Words words;                     ///< how to speak of its problems and times
  bool has_own_reference = false;  ///< a file of the user's own says what is right
  std::vector<OpInfo> ops;         ///< names and titles, in order
  std::vector<Problem> problems;   ///< ascending
  std::vector<VariantResult> variants;
  std::size_t measured = 0;  ///< variants that the record holds: more than these where some are left out
  std::vector<Best> best;    ///< ops in order and then the whole, problems ascending
  std::vector<DeviceStep> device_steps;  ///< ops in order and then the whole, problems ascending
  SpeedOfLight speed_of_light;
  std::vector<GpuMemory> gpu_memory{};
  VerificationSummary verified;
  Scrutiny scrutiny{};  ///< of all cases together, the most orders; all 0 in records of earlier versions
  SanitizerSummary sanitizer{};
  std::map<std::string_view, const CaseResult*> cases_by_id{};
  std::map<std::string_view, const VariantResult*> variants_by_id{};

  [[nodiscard]] const CaseResult* find(std::string_view case_id) const;
  /// By id; nullptr when the family has none.
  [[nodiscard]] const VariantResult* find_variant(std::string_view variant_id) const;
  /// Whether nothing else was measured at its problems, so that there is no fastest.
  [[nodiscard]] bool has_one_configuration() const;
  /// Whether there are variants, and each is what is asked for: all_are(&VariantInfo::is_program).
  [[nodiscard]] bool all_are(bool (VariantInfo::*is)() const) const;
};

struct RunAnalysis {
  const Run* run = nullptr;
  std::vector<FamilyResult> families;
  std::vector<Finding> findings;  ///< the gravest first
};

/// `sanitizer` is what `mprof sanitize` recorded of the run; nullptr: nothing. Both must outlive the result,
/// which points into them. `recorded` is the run that `run` is a selection of; nullptr: it is all there is.
[[nodiscard]] RunAnalysis analyse(const Run& run, const SanitizerRecord* sanitizer = nullptr,
                                  const Run* recorded = nullptr);

/// One case by itself, compared with no baseline. `run` must outlive it.
[[nodiscard]] CaseResult result_of(const Run& run, const Case& c);

/// A family without its cases: words, variants, and the GPU's measured peaks. What the rules of explanations
/// ask of a family.
[[nodiscard]] FamilyResult outline_of(const Run& run, const std::string& family);

/// A part of analyse().
[[nodiscard]] std::vector<ExpectationResult> judge_expectations(const VariantResult& variant,
                                                                const FamilyResult& family);

}  // namespace mprof
