// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/derive/derive.hpp"
#include "model/derive/subjects.hpp"
#include "model/facts.hpp"
#include "model/parts.hpp"
#include "model/rounds.hpp"
#include "model/statistics/median.hpp"

namespace mprof {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// What is assumed of a process that was measured once, until rounds tell: known no better than from five of
/// them.
VariancePrior assumed(ClockSource clock, const Run& run) {
  const double deviation = assumed_deviation(clock, is_beside_gpu(run));
  return {deviation * deviation, 4, infinite};
}

ClockSource clock_of(std::string_view metric, std::string_view op, const PassResult& pass,
                     std::string_view device) {
  for (const std::string_view of_op : {"op_time", "launched_op_time", "first_op_time", "hot_op_time"}) {
    if (metric == of_op)
      return device == "cpu" || !was_held(pass, op) ? ClockSource::host : ClockSource::device;
  }
  for (const std::string_view of_host :
       {"group_time", "total_time", "user_time", "system_time", "step_time"}) {
    if (metric == of_host) return ClockSource::host;
  }
  return ClockSource::none;
}

double number_fact(const Environment& environment, const FactName& name) {
  const Fact* const fact = find_fact(environment, name.group, name.name);
  const double* const number = fact == nullptr ? nullptr : std::get_if<double>(fact);
  return number == nullptr ? 0 : *number;
}

SmClock sm_clock_of(const PassResult& pass, const Environment& environment) {
  SmClock clock;
  const double maximum = number_fact(environment, fact::gpu_sm_clock_maximum);
  if (maximum > 0) clock.step = number_fact(environment, fact::gpu_sm_clock_step) / maximum;
  const auto measured = std::ranges::find(pass.measurements, "gpu_measured_sm_clock", &Measurement::metric);
  if (measured != pass.measurements.end() && !measured->samples.empty())
    clock.measured = median(measured->samples);
  return clock;
}

/// Those from which the others learn how processes differ.
bool is_telling(std::string_view metric) {
  return metric == "op_time" || metric == "group_time" || metric == "total_time";
}

/// What disturbed the samples that were kept of a pass, for a time of that clock: the host's times hold the
/// device's.
std::string disturbance_of(const PassResult& pass, ClockSource clock) {
  std::vector<Sampling> rounds = pass.rounds;
  if (rounds.empty() && pass.sampling) rounds.push_back(*pass.sampling);
  std::string first;
  std::size_t disturbed = 0;
  for (const Sampling& round : rounds) {
    const bool by_host = clock == ClockSource::host && round.disturbance.empty();
    const std::string& reason = by_host ? round.host_disturbance : round.disturbance;
    if (reason.empty()) continue;
    if (disturbed++ == 0) first = reason;
  }
  if (disturbed == 0 || disturbed == rounds.size()) return first;
  return fmt::format("{} (in {} of {} rounds)", first, disturbed, rounds.size());
}

struct Timed {
  Measurement* row = nullptr;
  const PassResult* pass = nullptr;
  SmClock sm_clock{};
  std::size_t gpu = 0;
  std::vector<double> logs{};  ///< of the rounds' medians
  Variance own{};
  bool is_imported = false;
};

bool all_positive(const std::vector<double>& values) {
  for (const double value : values) {
    if (!(value > 0)) return false;
  }
  return true;
}

std::vector<double> logs_of(const std::vector<double>& values) {
  std::vector<double> logs;
  for (const double value : values) logs.push_back(std::log(value));
  return logs;
}

/// One that other GPUs do not have; 0 of none.
std::size_t number_of(const std::set<std::string>& gpus) {
  return gpus.empty() ? 0 : std::hash<std::string>{}(fmt::format("{}", fmt::join(gpus, " "))) | 1;
}

/// The times of all cases by the clock that took them, each with the variance of its own rounds.
std::map<ClockSource, std::vector<Timed>> times_of(Run& run) {
  std::map<ClockSource, std::vector<Timed>> times;
  const PartIndex parts(run);
  for (Case& subject : run.cases) {
    const VariantInfo* const variant = find_variant(run, subject.key.variant);
    if (variant == nullptr) continue;
    const std::size_t gpu = variant->device == "cpu" ? 0 : number_of(parts.gpu_uuids(subject.id));
    for (PassResult& pass : subject.passes) {
      if (pass.pass != Pass::timing && pass.pass != Pass::trace) continue;
      const SmClock sm_clock = sm_clock_of(pass, parts.environment(subject.id));
      for (Measurement& row : pass.measurements) {
        // Of what was traced a program's steps alone are times of the program.
        if (pass.pass == Pass::trace && row.metric != "step_time") continue;
        ClockSource clock = clock_of(row.metric, row.op, pass, variant->device);
        // By which one a program took its times is not known: the less steady one.
        if (clock != ClockSource::none && row.source == Source::printed) clock = ClockSource::host;
        if (clock == ClockSource::none) continue;
        const std::vector<double> medians = round_medians(row);
        if (medians.empty() || !all_positive(medians)) continue;
        const bool on_gpu = clock == ClockSource::device || row.metric == "step_time";
        times[clock].push_back({&row, &pass, on_gpu ? sm_clock : SmClock{}, gpu, logs_of(medians),
                                variance_of_logs(medians), variant->is_imported()});
      }
    }
  }
  return times;
}

/// The telling times that have as many rounds as most have.
std::vector<Timed*> in_step(std::vector<Timed>& times) {
  std::map<std::size_t, std::size_t> how_many;
  for (const Timed& time : times) {
    if (is_telling(time.row->metric)) ++how_many[time.logs.size()];
  }
  std::size_t rounds = 0;
  for (const auto& [count, cases] : how_many) {
    if (rounds == 0 || cases > how_many[rounds]) rounds = count;
  }
  std::vector<Timed*> chosen;
  for (Timed& time : times) {
    if (is_telling(time.row->metric) && time.logs.size() == rounds) chosen.push_back(&time);
  }
  return chosen;
}

/// A round's share of the times' deviations from their own means: what all of them have in common in it.
std::vector<double> effects_of_rounds(const std::vector<Timed*>& times) {
  std::vector<double> effects(times.front()->logs.size());
  for (const Timed* time : times) {
    double mean = 0;
    for (const double log : time->logs) mean += log / static_cast<double>(effects.size());
    for (std::size_t i = 0; i < effects.size(); ++i)
      effects[i] += (time->logs[i] - mean) / static_cast<double>(times.size());
  }
  return effects;
}

double sum_of_squares(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return sum;
}

/// Splits what varies from round to round into what all times of a clock have in common, the state of the
/// machine, and what is each one's own: analysis of variance in two ways, rounds and times, both random (S.
/// R. Searle, G. Casella and C. E. McCulloch, Variance Components, Wiley 1992, chapter 4). Each time's own
/// variance is then that of what is left. Returns the common one: of no degrees of freedom where there are
/// too few times or rounds to tell.
Variance split_common(std::vector<Timed>& times) {
  constexpr std::size_t fewest_times = 3, fewest_rounds = 3;
  const std::vector<Timed*> telling = in_step(times);
  if (telling.size() < fewest_times || telling.front()->logs.size() < fewest_rounds) return {};
  const std::vector<double> effects = effects_of_rounds(telling);
  const auto count = static_cast<double>(telling.size()), dof = static_cast<double>(effects.size() - 1);
  double left = 0;
  for (Timed* time : telling) {
    const double own = time->own.value * dof;
    double shared = 0;
    const double mean = std::accumulate(time->logs.begin(), time->logs.end(), 0.0) / (dof + 1);
    for (std::size_t i = 0; i < effects.size(); ++i) shared += effects[i] * (time->logs[i] - mean);
    const double residual = std::max(0.0, own - 2 * shared + sum_of_squares(effects));
    left += residual;
    time->own.value = residual / dof * count / (count - 1);
  }
  const double within = left / ((count - 1) * dof), between = count * sum_of_squares(effects) / dof;
  return {std::max(0.0, (between - within) / count), dof};
}

/// What is assumed of a program's step: while kernels run, it varies as times of the GPU do, and else as
/// those of the host.
VariancePrior assumed_of_steps(const Timed& time, const Run& run) {
  const auto& rows = time.pass->measurements;
  const auto row = std::ranges::find(rows, "step_gpu_share", &Measurement::metric);
  const double share = row == rows.end() || row->samples.empty() ? 0 : row->samples.front();
  const double on_gpu =
      time.is_imported ? assumed_between_profiles : assumed_deviation(ClockSource::device, true);
  const double on_host = assumed_deviation(ClockSource::host, is_beside_gpu(run));
  const double variance = std::pow(share * on_gpu, 2) + std::pow((1 - share) * on_host, 2);
  return {variance, 4, infinite};
}

}  // namespace

bool was_held(const PassResult& pass, std::string_view op) {
  return std::ranges::none_of(pass.measurements, [&](const Measurement& row) {
    return row.metric == "launched_op_time" && row.op == op && row.samples.empty();
  });
}

void derive_variation(Run& run) {
  for (auto& [clock, times] : times_of(run)) {
    const Variance common = split_common(times);
    std::vector<Variance> own;
    for (const Timed& time : times) {
      if (is_telling(time.row->metric)) own.push_back(time.own);
    }
    const VariancePrior prior = variance_prior(own, assumed(clock, run));
    for (const Timed& time : times) {
      DerivedTime& derived = time.row->derived.own();
      derived.clock = clock;
      derived.sm_clock = time.sm_clock;
      derived.gpu = time.gpu;
      // A program's start is in the other times of the host, and in no step.
      const bool is_step = time.row->metric == "step_time";
      derived.common = is_step ? Variance{} : common;
      derived.disturbed = disturbance_of(*time.pass, clock);
      if (is_telling(time.row->metric)) derived.series = series_notes(*time.row);
      derived.between = moderated(time.own, is_step ? assumed_of_steps(time, run) : prior);
      if (time.own.dof == 0) derived.between.value += variance_of_median(time.row->samples);
    }
  }
}

}  // namespace mprof
