// SPDX-License-Identifier: MIT
#include "report/wording/why.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include <fmt/args.h>
#include <fmt/format.h>

#include "report/text/format.hpp"

namespace mprof {
namespace {

/// How a number of a reason is written.
enum class As { plain, share, signed_share, threshold, factor, plain_factor, bytes, hertz };

/// {name}, {name1} ... are what the reason names, {number}, {number1} ... its numbers, {why} the reason
/// behind it, {before} and {after} the two sides.
struct WhyWords {
  Because because;
  std::string_view text;
  std::array<As, 4> as{};
};

using enum Because;

constexpr std::array why_words{std::to_array<WhyWords>({
    {nothing, ""},
    {said, "{name}"},

    // No value.
    {not_recorded, "not recorded"},
    {no_verified_time, "no case gave a verified time"},
    {no_such_op, "the case has no such op"},
    {no_such_op_in_run, "the case has no such op in this run"},
    {other_steps, "its steps are found by other ranges or kernels than the newest run's"},
    {not_in_run, "not in this run"},
    {total_time_of_zero, "the total time is 0"},
    {time_of_zero, "a time of 0 has no ratio to another"},
    {division_by_zero, "it would be a division by 0"},
    {no_trace_pass, "the run had no trace pass"},
    {no_counters_pass, "the run had no counters pass"},
    {metric_not_read, "the counters pass did not read it: --metrics names what it reads"},
    {counter_not_read, "the counters pass did not read it"},
    {part_not_read, "the counters pass did not read what it follows from"},
    {occupancy_not_read, "the counters pass did not read the waves and what limits the occupancy"},
    {durations_not_read, "{number} kernels have it, and {name} was not read to say which one matters"},
    {launches_unknown, "no trace says how often each kernel was launched"},
    {launches_uncounted, "only {number} of {number1} launches are of kernels that were counted"},
    {half_is_ambiguous, "FP16 instructions do not tell whether they compute one value or a pair"},
    {no_arithmetic, "the op executed no floating-point operation"},
    {no_multiply_add, "the op executed no multiply-add"},
    {bandwidth_not_measured, "the memory bandwidth was not measured"},
    {tensor_peak_not_measured, "it computes on tensor cores, whose peak was not measured"},
    {half_peak_not_measured, "it computes on tensor cores or in half precision, whose peak was not measured"},
    {peak_is_exceeded, "it exceeds the peak that was measured, so something slowed that measurement"},
    {dram_bytes_in_cache,
     "what a launch writes stays in the L2 cache past its counting: {number} were counted, where the op must "
     "move {number1}",
     {As::bytes, As::bytes}},
    {metric_of_no_pass, "no pass that ran recorded {name}"},
    {pass_said, "the {name} pass: {name1}"},

    // No speed-up.
    {is_baseline, "it is a baseline itself"},
    {is_common_baseline, "it is the common baseline"},
    {wrong_output, "the output is wrong"},
    {suspect_times, "its times are suspect"},
    {not_timed, "it was not timed ({name})"},
    {not_run, "it was not run"},
    {not_run_at, "it was not run {name}"},
    {baseline_not_run, "its baseline {name} was not run at this {name1}"},
    {baseline_wrong, "the output of its baseline {name} is wrong"},
    {baseline_suspect, "the times of its baseline {name} are suspect"},
    {baseline_not_timed, "its baseline {name} was not timed ({name1})"},
    {baseline_lacks_op, "its baseline has no such op"},
    {common_baseline_lacks_time, "the common baseline has no such time"},
    {one_lacks_op, "one of them has no such op"},
    {one_op_time_flawed, "the op time of one of the two says little"},
    {default_not_run, "the default was not run at this {name}"},
    {default_not_verified, "the default has no verified time: {why}"},
    {variant_not_verified, "no case of it gave a verified time"},
    {variant_not_verified_at, "{name} has no verified time at this {name1}"},
    {idea_not_verified, "the run has no verified time of {name} {name1}"},
    {ideas_not_verified, "the run has no verified time of it and of a baseline that all its ideas come from"},

    // An op time that says little.
    {op_time_flawed, "it {why}, so its op time says little"},
    {op_time_flawed_untraced, "it {why}, and no trace says how long its kernels ran alone"},
    {copies_beside_untraced, "copies run beside its kernels, and no trace says how long these ran alone"},
    {works_elsewhere, "works outside forward()"},
    {copies_in_forward, "copies in forward()"},
    {prints_copies, "prints an op time that holds copies"},
    {prints_too_little, "prints an op time too short to hold its work"},

    // An open verdict.
    {no_time_in_first, "no time in {before}: {why}"},
    {no_time_in_second, "no time in {after}: {why}"},
    {each_disturbed, "{before} was disturbed: {why}; {after} was disturbed: {why1}"},
    {disturbance_unbounded, "{why}, and nothing recorded bounds how much"},
    {disturbance_explains, "{why}, which can explain the change"},
    {disturbance_hides, "{why}, which can hide a change"},
    {clock_step,
     "without a step of the SM clock ({number}) it would be within {number1}: its own cycles were not "
     "counted beside both times",
     {As::share, As::share}},
    {clock_step_counted,
     "without a step of the SM clock ({number}) it would be within {number1}: by its own cycles it ran at "
     "{number2} before and at {number3} after",
     {As::share, As::share, As::hertz, As::hertz}},
    {other_gpus, "two GPUs took the times, and healthy ones of a model differ by some {number}", {As::share}},
    {other_gpus_run_on_one,
     "two GPUs took the times, and healthy ones of a model differ by some {number}: run both on one",
     {As::share}},
    {machine_varies,
     "no more than the machine differs from one run to the next, which more rounds do not mend: mprof ab "
     "measures both in one session"},
    {processes_vary, "no more than processes differ from each other"},
    {varies_without_bound, "the times vary by so much that no interval says anything"},
    {variation_unknown, "nothing is known of how it varies from one process to the next"},
    {too_few_blocks, "fewer than two blocks were measured"},
    {blocks_vary, "the times vary by so much that no interval of them says anything"},
    {control_differs,
     "the control, A against itself, differs by {number}: something else changes the times",
     {As::signed_share}},
    {blocks_do_not_tell, "too few blocks to tell this from noise: raise --budget"},

    // An expectation.
    {intervals_overlap, "the intervals before and after overlap"},
    {changed, "it changed"},
    {unchanged, "it did not change"},
    {unchanged_within, "it changed by no more than {number}", {As::threshold}},
    {unchanged_for_a_counter, "it changed by no more than two readings of such a counter may differ"},
    {rose, "it rose"},
    {fell, "it fell"},
    {changed_too_little, "it changed by {number}, not by {number1}", {As::factor, As::plain_factor}},
    {was_zero_before, "it was 0 before, too"},

    // No section.
    {no_gpu_variant, "No variant of this run is for a CUDA GPU, and a CPU has no such counters."},
    {counters_not_planned, "The plan of this run had no counters pass (--passes)."},
    {case_not_traced, "{name} was not traced"},
    {case_without_activity, "the trace holds no activity of {name}"},
    {case_lacks_kernels,
     "the trace of {name} has no kernel of any launch ({number}): the profiler did not see what the GPU did"},
    {case_has_whole_graphs,
     "the trace of {name} has CUDA graphs as a whole, and not their kernels (Nsight Systems records those "
     "with --cuda-graph-trace=node)"},
    {one_execution_each, "each side is one execution, and so small a change may be chance"},
    {none_traced_with_baseline, "no case with a verified time was traced together with its baseline"},
    {rules_are_of_gpus, "the rules are about GPUs"},
})};

std::string number_text(double number, As as) {
  switch (as) {
    case As::share:
      return format::percent(number);
    case As::signed_share:
      return format::signed_percent(number);
    case As::threshold:
      return format::about(100 * number, Unit::percent);
    case As::factor:
      return format::times(number);
    case As::plain_factor:
      return format::plain_times(number);
    case As::bytes:
      return format::about(number, Unit::byte);
    case As::hertz:
      return format::quantity(number, Unit::hertz);
    case As::plain:
      break;
  }
  return fmt::format("{}", number);
}

/// "name", "name1", "name2".
std::string numbered(std::string_view name, std::size_t index) {
  return index == 0 ? std::string(name) : fmt::format("{}{}", name, index);
}

std::string filled(const WhyWords& words, const Why& why, const SideNames& sides) {
  std::vector<std::string> keys, texts;  // the arguments refer to them
  const auto add = [&](std::string_view name, std::size_t index, std::string text) {
    keys.push_back(numbered(name, index));
    texts.push_back(std::move(text));
  };
  for (std::size_t i = 0; i < why.names.size(); ++i) add("name", i, format::one_line(why.names[i]));
  for (std::size_t i = 0; i < why.numbers.size(); ++i)
    add("number", i, number_text(why.numbers[i], words.as.at(i)));
  for (std::size_t i = 0; i < why.others.size(); ++i) add("why", i, say(why.others[i], sides));
  add("before", 0, std::string(sides.before));
  add("after", 0, std::string(sides.after));
  fmt::dynamic_format_arg_store<fmt::format_context> all;
  for (std::size_t i = 0; i < keys.size(); ++i) all.push_back(fmt::arg(keys[i].c_str(), texts[i]));
  return fmt::vformat(words.text, all);
}

/// "failed: the library is missing", or the state alone.
std::string with_reason(std::string_view state, const Why& why) {
  const std::string reason = why.names.size() > 1 ? format::one_line(why.names[1]) : "";
  return fmt::format("{}{}{}", state, reason.empty() ? "" : ": ", reason);
}

/// "another process used the GPU and the GPU throttled (in 1 of 3 rounds)"
std::string causes_of(const Why& why) {
  std::vector<std::string> causes;
  for (const std::string& cause : why.names) causes.push_back(format::one_line(cause));
  std::string text = format::list(causes);
  if (why.numbers.size() == 2) text += fmt::format(" (in {} of {} rounds)", why.numbers[0], why.numbers[1]);
  return text;
}

std::string rounds_text(double rounds) {
  return fmt::format("no more than processes differ from each other; about {} more {} a side would tell",
                     rounds, rounds == 1 ? "round" : "rounds");
}

/// "No case was counted; the run had no trace pass.", each reason once.
std::string all_of(const std::vector<Why>& reasons) {
  std::vector<std::string> texts;
  for (const Why& why : reasons) texts.push_back(say(why));
  std::ranges::sort(texts);
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  return format::sentence_case(fmt::format("{}.", fmt::join(texts, "; ")));
}

}  // namespace

std::string say(const Why& why, const SideNames& sides) {
  switch (why.because) {
    case case_ended:
      return with_reason(why.names.front(), why);
    case counters_pass_ended:
      return with_reason("counters pass: " + why.names.front(), why);
    case too_few_rounds:
      return rounds_text(why.numbers.front());
    case unlike_conditions:
      return fmt::format("the conditions that it depends on differ: {}", fmt::join(why.names, "; "));
    case disturbances:
      return causes_of(why);
    case both_disturbed:
      return "both were disturbed: " + causes_of(why);
    case first_disturbed:
      return fmt::format("{} was disturbed: {}", sides.before, causes_of(why));
    case second_disturbed:
      return fmt::format("{} was disturbed: {}", sides.after, causes_of(why));
    case records_lacking:
      return "the trace lacks " + format::plural(static_cast<std::size_t>(why.numbers.front()), "record");
    case several:
      return all_of(why.others);
    default:
      break;
  }
  const auto* const words = std::ranges::find(why_words, why.because, &WhyWords::because);
  return words == why_words.end() ? std::string() : filled(*words, why, sides);
}

}  // namespace mprof
