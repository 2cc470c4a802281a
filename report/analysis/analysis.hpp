#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/run.hpp"
#include "report/analysis/estimate.hpp"
#include "report/analysis/sanitizer_summary.hpp"
#include "report/analysis/speed_of_light.hpp"

/// What a run says, as plain values: medians, speed-ups over each variant's own baseline, expectations,
/// findings. Every judgement of the report is made here; views only put it into words.
namespace mprof {

struct OpResult {
  OpInfo info;
  Value op_time;
  Value layer_time;
  Value compute_throughput;  ///< % of the measured peak
  Value memory_throughput;   ///< % of the measured bandwidth
  Value flop_rate;
  Value byte_rate;
  Value of_possible;  ///< %: the time that the measured peaks allow, over op_time (modelled)
  Value gpu_time;     ///< by the trace
  SpeedUp gpu_speed_up;
  bool outside_forward = false;  ///< most of the work happens outside forward(), so op_time says little
  std::string compared_by;       ///< the metric behind `speed_up`: op_time, or layer_time (comparable_time())
  SpeedUp speed_up;
  std::optional<Verification> verification;

  /// The time that `compared_by` names.
  [[nodiscard]] const Value& compared_time() const {
    return compared_by == "layer_time" ? layer_time : op_time;
  }
};

struct CaseResult {
  std::string id;
  std::string configuration;  ///< the id without the batch
  CaseKey key;
  Status status = Status::pending;
  std::string reason;
  const Case* source = nullptr;  ///< in the analysed run
  bool is_baseline = false;      ///< its variant declares no baseline
  std::string baseline;          ///< id of the case that it is compared with; empty when there is none
  std::vector<OpResult> ops;
  Value total_time;
  SpeedUp total_speed_up;
  Value accuracy;
  std::optional<double> accuracy_change;  ///< against the baseline's
  Value cores_busy;                       ///< CPU time over host time
  Value trace_overhead;                   ///< traced over plain layer time
  std::optional<Sampling> sampling;

  [[nodiscard]] bool ok() const { return status == Status::ok; }
  /// Whether it has times at all, be they those of a wrong output.
  [[nodiscard]] bool ran() const { return status == Status::ok || status == Status::wrong; }
  /// By name; nullptr when the case has no such op.
  [[nodiscard]] const OpResult* find_op(std::string_view name) const;
};

enum class Outcome { met, not_met, not_measurable };

/// "met", "not met", "not measurable".
[[nodiscard]] std::string_view to_string(Outcome outcome);

/// An expectation at one batch.
struct ExpectationCheck {
  std::uint64_t batch = 0;
  Outcome outcome = Outcome::not_measurable;
  Value before;
  Value after;
  std::string before_evidence;  ///< how the value came about: "of matmul_tiled, the longest of 3 kernels"
  std::string after_evidence;   ///< likewise; both are empty where there is nothing to explain
  std::string reason;           ///< why it was not met, or cannot be measured
};

struct ExpectationResult {
  Expectation expectation;
  std::vector<ExpectationCheck> checks;  ///< one a batch, ascending
};

struct VariantResult {
  VariantInfo info;
  std::vector<CaseResult> cases;
  std::vector<ExpectationResult> expectations;

  /// The case that stands for the variant at a batch: the fastest verified one of a parameter sweep, or the
  /// first one when none is verified; nullptr when none is in the run.
  [[nodiscard]] const CaseResult* representative(std::uint64_t batch) const;
  /// Whether some batch has more than one point of a parameter sweep.
  [[nodiscard]] bool swept() const;
};

/// The fastest verified case of an op (or of the whole inference, when `op` is empty) at one batch. A case
/// that works outside forward() has no op time to compete with.
struct Best {
  std::string op;
  std::uint64_t batch = 0;
  const CaseResult* fastest = nullptr;  ///< nullptr: no case gave a verified time
  std::vector<const CaseResult*>
      level;  ///< others whose interval overlaps: the measurement cannot tell them apart
  std::vector<const CaseResult*> left_out;  ///< those that work outside forward()

  [[nodiscard]] const Value& time() const;
  [[nodiscard]] const SpeedUp& speed_up() const;
};

struct FamilyResult {
  std::string id;
  std::vector<OpInfo> ops;  ///< names and titles, in order
  std::vector<std::uint64_t> batches;
  std::vector<VariantResult> variants;
  std::vector<Best> best;  ///< ops in order and then the whole inference, batches ascending
  SpeedOfLight speed_of_light;
  CheckSummary check{};

  [[nodiscard]] const CaseResult* find(std::string_view case_id) const;
  /// By id; nullptr when the family has none.
  [[nodiscard]] const VariantResult* find_variant(std::string_view variant_id) const;
};

enum class Severity { wrong, broken, incomplete, caution };

[[nodiscard]] std::string_view to_string(Severity severity);

/// Something the reader must know before using the numbers.
struct Finding {
  Severity severity = Severity::caution;
  std::string text;
};

struct RunAnalysis {
  const Run* run = nullptr;
  std::vector<FamilyResult> families;
  std::vector<Finding> findings;  ///< the gravest first
};

/// `check` is what `mprof check` recorded of the run; nullptr: nothing. Both must outlive the result, which
/// points into them.
[[nodiscard]] RunAnalysis analyse(const Run& run, const Check* check = nullptr);

/// The parts of analyse(), each in its own file.
[[nodiscard]] std::vector<ExpectationResult> check_expectations(const VariantResult& variant,
                                                                const FamilyResult& family);
[[nodiscard]] std::vector<Finding> find_what_to_know(const Run& run,
                                                     const std::vector<FamilyResult>& families);

}  // namespace mprof
