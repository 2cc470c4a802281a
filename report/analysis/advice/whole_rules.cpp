// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>

#include "report/analysis/advice/advice.hpp"
#include "report/analysis/reasons/literature.hpp"

/// The rules of the advice for a whole execution: what its time budget shows, and how much of the time is
/// left without it.
namespace mprof {
namespace {
namespace advising_whole {  // so short names are those of other files as well

using enum BudgetPart;

using Number = std::optional<double>;
using Of = const WholeReadings&;

constexpr double seconds_in_a_ns = 1e-9;
constexpr double all_parts = 100;  // %

double seconds_of(Of whole, BudgetPart part) {
  return static_cast<double>(whole.budget.of(part)) * seconds_in_a_ns;
}

/// s, without what tracing cost: an execution that is not traced does not have it.
double untraced(Of whole) {
  return static_cast<double>(whole.budget.window - whole.budget.of(idle_tracing)) * seconds_in_a_ns;
}

/// s; nullopt where the trace lacks records, so that a part may be another one's.
Number complete(Of whole, double value) {
  return whole.budget.lacking == 0 && untraced(whole) > 0 ? Number(value) : std::nullopt;
}

template <BudgetPart part>
Number time_in(Of whole) {
  return complete(whole, seconds_of(whole, part));
}

Number nothing_left(Of whole) {
  return complete(whole, 0);
}

/// s, that the kernels which ran alone take at the least.
Number kernels_at_best(Of whole) {
  return whole.kernels_floor ? complete(whole, *whole.kernels_floor * seconds_of(whole, kernels))
                             : std::nullopt;
}

template <BudgetPart part>
double left_without(Of whole, double value) {
  return 1 - (seconds_of(whole, part) - value) / untraced(whole);
}

/// s, of the three that can go on beside each other, what was alone but for the longest of them: it could be
/// hidden.
double still_alone(Of whole) {
  const std::array alone{seconds_of(whole, kernels), seconds_of(whole, copies_in),
                         seconds_of(whole, copies_out)};
  return alone[0] + alone[1] + alone[2] - *std::ranges::max_element(alone);
}

double already_hidden(Of whole) {
  return seconds_of(whole, kernels_and_copies) + seconds_of(whole, copies_both_ways);
}

Number hidden_percent(Of whole) {
  const double could = already_hidden(whole) + still_alone(whole);
  return could > 0 ? complete(whole, all_parts * already_hidden(whole) / could) : std::nullopt;
}

Number hidden_at_best(Of whole) {
  return hidden_percent(whole) ? Number(all_parts) : std::nullopt;
}

double left_if_hidden(Of whole, double value) {
  const double could = already_hidden(whole) + still_alone(whole);
  return 1 - could * (value - *hidden_percent(whole)) / all_parts / untraced(whole);
}

Number rate_of_copies(Of whole) {
  const Number rate = whole.budget.copy_rate();
  return rate ? complete(whole, *rate) : std::nullopt;
}

double copies_alone(Of whole) {
  return seconds_of(whole, copies_in) + seconds_of(whole, copies_out) + seconds_of(whole, copies_both_ways);
}

double left_at_rate(Of whole, double value) {
  return 1 - copies_alone(whole) * (1 - *rate_of_copies(whole) / value) / untraced(whole);
}

constexpr std::string_view was_traced = "the whole was traced, and no record is lacking";
constexpr std::string_view less_of_it = "1 − (before − after) / whole";

constexpr std::array rules_of_the_whole{
    WholeAdviceRule{{whole_kernels_rule, "Make the kernels take less time",
                     "time in which kernels ran and no copy beside them", Unit::second, true, "total_time",
                     of_one_trace, was_traced, less_of_it, literature::amdahl},
                    time_in<kernels>,
                    kernels_at_best,
                    left_without<kernels>},
    WholeAdviceRule{
        {"whole_serial_copies", "Copy while kernels run, and both ways at once",
         "of the kernels and copies that could go on beside others, the share that does", Unit::percent,
         false, "total_time", of_one_trace, was_traced,
         "1 − (after − before) × (hidden + kernels alone + copies in alone + copies out alone − the "
         "longest of these three) / whole",
         literature::data_transfer},
        hidden_percent,
        hidden_at_best,
        left_if_hidden},
    WholeAdviceRule{{"whole_copy_rate", "Copy faster, from pinned memory", "copy rate", Unit::byte_per_second,
                     false, "total_time", of_copy_rates,
                     "pinned memory, as measured, or another variant copies faster by three quarters",
                     "1 − copies without a kernel × (1 − before / after) / whole", literature::data_transfer},
                    rate_of_copies,
                    [](Of whole) { return whole.best_copy_rate; },
                    left_at_rate},
    WholeAdviceRule{{"whole_allocation", "Allocate, pin and free less memory, or less often",
                     "time in which the GPU was idle while the host did", Unit::second, true, "total_time",
                     of_one_trace, was_traced, less_of_it, literature::ordered_allocation},
                    time_in<idle_allocation>,
                    nothing_left,
                    left_without<idle_allocation>},
    WholeAdviceRule{{"whole_synchronization", "Let the host not wait for the GPU before it gives it work",
                     "time in which the GPU was idle while the host waited", Unit::second, true, "total_time",
                     of_one_trace, was_traced, less_of_it, literature::asynchronous},
                    time_in<idle_waiting>,
                    nothing_left,
                    left_without<idle_waiting>},
    WholeAdviceRule{{"whole_calls", "Make fewer CUDA calls, or make them while the GPU works",
                     "time in which the GPU was idle while the host was in other CUDA calls", Unit::second,
                     true, "total_time", of_one_trace, was_traced, less_of_it, literature::asynchronous},
                    time_in<idle_calls>,
                    nothing_left,
                    left_without<idle_calls>},
    WholeAdviceRule{
        {"whole_system_calls",
         "Give the GPU work while the host waits in the operating system, or wait less there",
         "time in which the GPU was idle while the host was in calls of the operating system", Unit::second,
         true, "total_time", of_one_trace, was_traced, less_of_it, literature::amdahl},
        time_in<idle_system>,
        nothing_left,
        left_without<idle_system>},
    WholeAdviceRule{{"whole_host_code", "Give the GPU work while the host computes, or compute less there",
                     "time in which the GPU was idle while the host ran its own code", Unit::second, true,
                     "total_time", of_one_trace, was_traced, less_of_it, literature::amdahl},
                    time_in<idle_host>,
                    nothing_left,
                    left_without<idle_host>},
};

}  // namespace advising_whole
}  // namespace

std::span<const WholeAdviceRule> whole_advice_rules() {
  return advising_whole::rules_of_the_whole;
}

}  // namespace mprof
