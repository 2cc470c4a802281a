// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/run.hpp"
#include "model/statistics/median.hpp"
#include "model/statistics/next_run.hpp"
#include "report/analysis/judgement/disturbance.hpp"
#include "report/analysis/judgement/why.hpp"

/// What a report says of one number, and of two numbers against each other.
namespace mprof {

/// The middle of the samples of a measurement, with a 95 % interval. For a time it is the prediction interval
/// for the next run. For anything else it is the interval of the median, if it has enough samples.
struct Estimate {
  double median = 0;  ///< of several rounds, the geometric mean of their medians
  std::optional<Interval> interval{};
  std::size_t samples = 0;
  Source source = Source::measured;
  std::size_t rounds = 1;
  Variance between{};     ///< of a time, from one process to the next
  Variance common{};      ///< of a time, of what all times of the run share in a round
  double within = 0;      ///< of a time of one round, of the median of its samples: variance_of_median()
  bool borrowed = false;  ///< both of them, by a time of one round from another run: borrow_variations()
  ClockSource clock = ClockSource::none;
  SmClock sm_clock{};  ///< of a device time, and of a program's step
  /// Of a time: a number of the GPU that took it, or of all together that did; 0: none did, or it is not
  /// known.
  std::size_t gpu = 0;
  Disturbed disturbed{};  ///< of a time: what disturbed its samples
  /// Of a time: at most how many times as long as undisturbed; nothing: nothing bounds it.
  std::optional<double> lengthened = 1;
};

/// The time as its rounds know it.
[[nodiscard]] Rounds rounds_of(const Estimate& time);

/// For the same time in two runs of a machine. What a run of one round knows of its variation from one
/// process to the next is only assumed. It takes the variation that the rounds of the other run show, plus
/// what the samples of its one process leave open. Both runs then have half the degrees of freedom, since the
/// other side of a comparison uses them too. Nothing changes for other times, or where the result would be
/// less than is assumed.
void borrow_variations(Estimate& before, Estimate& after);

/// An estimate, or the reason why it is missing.
struct Value {
  std::optional<Estimate> estimate;
  Why absent;

  explicit operator bool() const { return estimate.has_value(); }
  const Estimate* operator->() const { return &*estimate; }
  const Estimate& operator*() const { return *estimate; }
};

[[nodiscard]] Value absent_value(Why reason);

/// Nothing is known of the interval: a number derived from others.
[[nodiscard]] Value derived_value(double value);

/// The metric of an op, or of the case when `op` is empty. Without a measurement, the case's own reason says
/// why.
[[nodiscard]] Value value_of(const Case& c, std::string_view metric, std::string_view op = {});

/// The middle of its samples, or the reason why it has none. What disturbed it bounds nothing without its
/// case.
[[nodiscard]] Value value_of(const Measurement& measurement);

/// Whether a program prints this metric of some of its ops and never of this one, which is known by its trace
/// alone. Then a sum over the ops belongs to the others.
[[nodiscard]] bool is_printed_of_others(const Case& c, std::string_view metric, std::string_view op);

/// Half the width of the interval over the median.
[[nodiscard]] std::optional<double> relative_half_width(const Estimate& estimate);

/// Why an op's op_time is no measure of its kernels.
enum class OpTimeFlaw {
  none,
  /// Copies from and to the host, which other op times do not hold, are more than a twentieth of it. Or,
  /// without a trace, its data cannot have been copied outside of it (derive()).
  copies_in_forward,
  prints_copies,  ///< a program prints one that holds copies, by the trace, and prints a grouped time too
  /// A program prints an op time that cannot hold its work. Either a kernel of the op alone takes at least
  /// twice as long, by the trace. Or the op time is no longer than an empty kernel takes, and less than a
  /// thousandth of the grouped time: nobody reads in so short a time what took so long to bring.
  prints_too_little,
  /// Its kernels, by the trace, ran at least twice as long; or, without a trace, its bytes would have moved
  /// at more than ten times the measured bandwidth.
  works_elsewhere
};

/// The same as a reason: a predicate of the variant.
[[nodiscard]] Why why_of(OpTimeFlaw flaw);

[[nodiscard]] OpTimeFlaw op_time_flaw(const Case& c, std::string_view op);

/// The name of the time by which an op is compared: "op_time", or "group_time" where that one has a flaw.
[[nodiscard]] std::string_view comparable_time(const Case& c, std::string_view op);

/// Of two cases: "group_time" as soon as one of them is compared so.
[[nodiscard]] std::string_view comparable_time(const Case& a, const Case& b, std::string_view op);

/// The metric that says at which clock a GPU's multiprocessors ran while a case was timed: by their own
/// cycles where these were counted, otherwise what NVML told.
[[nodiscard]] std::string_view sm_clock_metric(const Case& c);

/// Whether an op's time with its copies is noticeably longer than without them.
[[nodiscard]] bool holds_copies(const Case& c, std::string_view op);

}  // namespace mprof
