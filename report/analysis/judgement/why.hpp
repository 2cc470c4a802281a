// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

/// Reasons as values: why there is no number, and why a verdict is open. report/wording/why.cpp has their
/// words, a row each.
namespace mprof {

enum class Because {
  nothing,  ///< there is no reason, for nothing is missing
  said,     ///< as the record or an error says it

  // --- No value
  not_recorded,
  case_ended,  ///< otherwise than ok
  no_verified_time,
  no_such_op,
  no_such_op_in_run,
  other_steps,  ///< of a program, other than the steps of another run
  not_in_run,
  total_time_of_zero,
  time_of_zero,
  division_by_zero,
  no_trace_pass,
  no_counters_pass,
  counters_pass_ended,  ///< otherwise than ok
  metric_not_read,      ///< by the counters pass, which may be told to
  counter_not_read,
  part_not_read,
  occupancy_not_read,
  durations_not_read,
  launches_unknown,
  launches_uncounted,
  half_is_ambiguous,
  no_arithmetic,
  no_multiply_add,
  bandwidth_not_measured,
  tensor_peak_not_measured,
  half_peak_not_measured,
  peak_is_exceeded,
  dram_bytes_in_cache,
  metric_of_no_pass,
  pass_said,

  // --- No speed-up
  is_baseline,
  is_common_baseline,
  wrong_output,
  suspect_times,
  not_timed,
  not_run,
  not_run_at,
  baseline_not_run,
  baseline_wrong,
  baseline_suspect,
  baseline_not_timed,
  baseline_lacks_op,
  common_baseline_lacks_time,
  one_lacks_op,
  one_op_time_flawed,
  default_not_run,
  default_not_verified,
  variant_not_verified,
  variant_not_verified_at,
  idea_not_verified,
  ideas_not_verified,

  // --- An op time that says little
  op_time_flawed,
  op_time_flawed_untraced,
  copies_beside_untraced,
  works_elsewhere,  ///< these four are predicates of the variant
  copies_in_forward,
  prints_copies,
  prints_too_little,

  // --- An open verdict
  unlike_conditions,  ///< of two times
  no_time_in_first,
  no_time_in_second,
  both_disturbed,
  first_disturbed,
  second_disturbed,
  each_disturbed,
  disturbances,
  disturbance_unbounded,
  disturbance_explains,
  disturbance_hides,
  clock_step,
  clock_step_counted,
  other_gpus,
  other_gpus_run_on_one,
  too_few_rounds,
  machine_varies,
  processes_vary,
  varies_without_bound,
  variation_unknown,
  too_few_blocks,
  blocks_vary,
  control_differs,
  blocks_do_not_tell,

  // --- An expectation
  intervals_overlap,
  changed,
  unchanged,
  unchanged_within,
  unchanged_for_a_counter,
  rose,
  fell,
  changed_too_little,
  was_zero_before,

  // --- No section
  no_gpu_variant,
  counters_not_planned,
  several,  ///< reasons
  case_not_traced,
  case_without_activity,
  case_lacks_kernels,     ///< although some were launched
  case_has_whole_graphs,  ///< and no kernel, as none of a graph was recorded
  one_execution_each,
  none_traced_with_baseline,
  rules_are_of_gpus,
  records_lacking,  ///< of a trace
};

/// A reason and what it cites. What each one cites, in which order, its row in report/wording/why.cpp says.
struct Why {
  Because because = Because::nothing;
  std::vector<std::string> names{};  ///< of cases, ops, metrics; and words of the record
  std::vector<double> numbers{};     ///< SI base units
  std::vector<Why> others{};         ///< reasons behind it

  Why() = default;
  /// One that cites nothing.
  Why(Because reason) : because(reason) {}
  Why(Because reason, std::vector<std::string> cited, std::vector<double> figures = {},
      std::vector<Why> behind = {})
      : because(reason), names(std::move(cited)), numbers(std::move(figures)), others(std::move(behind)) {}

  [[nodiscard]] bool empty() const { return because == Because::nothing; }
  bool operator==(const Why&) const = default;
};

/// The words of the record, or of an error; no reason without words.
[[nodiscard]] inline Why said(std::string text) {
  return text.empty() ? Why() : Why(Because::said, {std::move(text)});
}

}  // namespace mprof
