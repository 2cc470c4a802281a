// SPDX-License-Identifier: MIT
#include "report/analysis/machines/fleet.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "model/derive/derive.hpp"
#include "model/facts.hpp"
#include "model/parts.hpp"
#include "model/rounds.hpp"
#include "model/statistics/median.hpp"
#include "model/statistics/robust.hpp"
#include "report/analysis/machines/environment.hpp"
#include "system/error.hpp"

namespace mprof {
namespace {

/// A GPU is slow only below this share of the fleet's performance: healthy ones differ by 8 % (docs).
constexpr double slow_performance = 0.95;
constexpr std::size_t fewest_members = 5;
constexpr std::size_t rounds_to_repeat = 2;
/// Of its times must be slow, and two at the least, for a GPU to be slow that is not so on the whole.
constexpr double share_of_times = 0.05;
/// Of the GPUs, or all but one, must agree on an output's bits before another one's are wrong: some variants
/// add in any order.
constexpr double agreeing_share = 0.9;

constexpr const char* neighbours = "others on the GPU";
constexpr const char* sm_clock = "SM clock";
constexpr const char* memory_clock = "memory clock";
constexpr const char* memory_bandwidth = "memory bandwidth";
constexpr const char* link_width = "PCIe link width";
constexpr const char* link_bandwidth = "host to GPU bandwidth";
constexpr std::array all_facts{
    FleetFact{sm_clock, Unit::hertz},        FleetFact{memory_clock, Unit::hertz},
    FleetFact{"temperature", Unit::celsius}, FleetFact{"power", Unit::watt},
    FleetFact{neighbours, Unit::percent},    FleetFact{memory_bandwidth, Unit::byte_per_second},
    FleetFact{link_width, Unit::count},      FleetFact{link_bandwidth, Unit::byte_per_second}};

/// Which of them are medians of samples, and which were measured before the run.
struct FactSource {
  const char* id;
  const char* name;
};
constexpr std::array sampled_facts{
    FactSource{"gpu_memory_clock", memory_clock}, FactSource{"gpu_temperature", "temperature"},
    FactSource{"gpu_power", "power"}, FactSource{"other_gpu_share", neighbours}};
constexpr std::array ceiling_facts{FactSource{"memory_bandwidth", memory_bandwidth},
                                   FactSource{"pinned_host_to_device_bandwidth", link_bandwidth}};
/// Of the GPU's multiprocessors, beyond what the fleet gives to others, must be another process's to make a
/// GPU slow: as much as it must be slower at the least. In percent, as the record has it.
constexpr double share_that_slows = 100 * (1 - slow_performance);

/// Whether so many of a GPU's times are enough to speak of the GPU.
bool are_many(std::size_t slow, std::size_t all) {
  return static_cast<double>(slow) >= std::max(2.0, share_of_times * static_cast<double>(all));
}

std::string time_name(const std::string& id, const std::string& op) {
  return id + " " + op;
}

/// Slower by more than healthy times move, and to this day.
bool has_declined(const HistorySeries& series) {
  if (series.changes.empty()) return false;
  const HistoryChange& last = series.changes.back();
  return last.speed_up.verdict == Verdict::slower && 1 / last.ratio < slow_performance;
}

/// Whether its data exclude a change that is worth a word, from the first run to the last.
bool excludes_decline(const HistorySeries& series) {
  const std::optional<double>& bound = series.overall.speed_up.no_change_above;
  return series.changes.empty() && bound && *bound <= noticeable_change;
}

/// Records of earlier versions have no checksum: there the error against the reference, to its last bit,
/// stands for it.
constexpr std::string_view by_error = "error ";

std::string output_mark(const Verification& verification) {
  if (!verification.checksum.empty()) return verification.checksum;
  return fmt::format("{}{:a} {:a} {}", by_error, verification.relative_l2, verification.max_error,
                     verification.elements);
}

/// An output and how it is marked: marks of two kinds never meet.
using MarkedOutput = std::pair<std::string, bool>;
MarkedOutput marked(const std::string& output, const std::string& mark) {
  return {output, mark.starts_with(by_error)};
}

void add_case(FleetMember& member, const Case& c) {
  const Status status = case_status(c);
  if (status != Status::ok) {
    if (status != Status::skipped && status != Status::pending && status != Status::interrupted)
      member.failures.push_back(fmt::format("{}: {}", c.id, to_string(status)));
    return;
  }
  const PassResult* timing = find_pass(c, Pass::timing);
  if (timing == nullptr) return;
  for (const Measurement& row : timing->measurements) {
    const bool is_of_device = was_held(*timing, row.op) && op_time_flaw(c, row.op) == OpTimeFlaw::none;
    if (row.metric == "op_time" && !row.samples.empty() && is_of_device)
      member.times[time_name(c.id, row.op)] = round_medians(row);
  }
  for (const Verification& verification : timing->verification)
    member.outputs[time_name(c.id, verification.op)] = output_mark(verification);
}

/// How a member's times, or one of them, lie to the fleet's: logarithms, positive is slower.
struct Deviations {
  double all = 0;
  std::size_t times = 0;         ///< of how many
  std::vector<double> rounds{};  ///< the same of each round alone
};

/// How many of a member's times are slow, and how many are so again in two of their rounds.
struct SlowOnes {
  std::size_t once = 0;
  std::size_t again = 0;
};

/// Judges the GPUs of one model.
class Judge {
 public:
  explicit Judge(const std::vector<const FleetMember*>& members) : members_(members) {}

  FleetOfModel judged() {
    find_spreads();
    std::vector<Deviations> deviations;
    std::vector<double> all;
    std::vector<double> compared;
    for (const FleetMember* member : members_) {
      deviations.push_back(deviations_of(*member));
      all.push_back(deviations.back().all);
      if (deviations.back().times > 0) compared.push_back(all.back());
    }
    find_residuals(all);
    const RobustSpread spread = compared.empty() ? RobustSpread{} : robust_spread(compared);
    FleetOfModel fleet{.model = members_.front()->model,
                       .usual_facts = facts_,
                       .usual_build = build_,
                       .spread = spread.deviation};
    for (const auto& [name, logs] : spreads_) fleet.usual_times[name] = std::exp(logs.centre);
    const std::vector<double> least = least_deviations(all);
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const RobustSpread own{spread.centre, std::max(spread.deviation, least[i])};
      fleet.verdicts.push_back(verdict_on(*members_[i], deviations[i], own));
    }
    std::ranges::stable_sort(fleet.verdicts, {}, [](const FleetVerdict& verdict) {
      return std::pair(!verdict.is_bad(), verdict.performance);
    });
    return fleet;
  }

 private:
  void find_spreads() {
    std::map<std::string, std::vector<double>> values;
    std::map<MarkedOutput, std::map<std::string, std::size_t>> marks;
    std::map<std::string, std::vector<double>> facts;
    std::map<std::string, std::size_t> builds;
    for (const FleetMember* member : members_) {
      ++builds[member->build];
      for (const auto& [name, time] : member->times) values[name].push_back(std::log(median(time)));
      for (const auto& [name, mark] : member->outputs) ++marks[marked(name, mark)][mark];
      for (const auto& [name, fact] : member->facts) facts[name].push_back(fact);
    }
    for (const auto& [name, logs] : values) {
      if (logs.size() >= fewest_members) spreads_[name] = robust_spread(logs);
    }
    for (const auto& [name, fact] : facts) facts_[name] = median(fact);
    build_ = std::ranges::max_element(builds, {}, [](const auto& entry) { return entry.second; })->first;
    for (const auto& [output, counts] : marks) {
      const auto usual = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
      std::size_t all = 0;
      for (const auto& [mark, count] : counts) all += count;
      const auto gpus = static_cast<double>(all);
      const bool agree = static_cast<double>(usual->second) >= std::min(agreeing_share * gpus, gpus - 1);
      if (all >= fewest_members && agree) outputs_[output] = usual->first;
    }
  }

  /// Of each member, by how much those that have the same times differ as a whole at the least: hosts that
  /// divided the cases have unlike ones, and memory-bound times differ by less than those bound by the clock.
  [[nodiscard]] std::vector<double> least_deviations(const std::vector<double>& wholes) const {
    std::map<std::vector<std::string_view>, std::vector<std::size_t>> alike;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      std::vector<std::string_view> names;
      for (const auto& [name, time] : members_[i]->times) names.push_back(name);
      alike[std::move(names)].push_back(i);
    }
    std::vector<double> least(members_.size());
    for (const auto& [names, group] : alike) {
      std::vector<double> values;
      for (const std::size_t i : group) values.push_back(wholes[i]);
      const double deviation = least_deviation(robust_spread(values), values.size());
      for (const std::size_t i : group) least[i] = deviation;
    }
    return least;
  }

  /// How each time's residuals spread, given how far off each member is as a whole.
  void find_residuals(const std::vector<double>& wholes) {
    std::map<std::string, std::vector<double>> residuals;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      for (const auto& [name, time] : members_[i]->times) {
        const auto spread = spreads_.find(name);
        if (spread == spreads_.end()) continue;
        residuals[name].push_back(deviations_of(time, spread->second.centre + wholes[i]).all);
      }
    }
    for (const auto& [name, values] : residuals) residuals_[name] = robust_spread(values);
  }

  /// Of a time from what is to be expected of it, a logarithm.
  static Deviations deviations_of(const std::vector<double>& time, double expected) {
    Deviations deviations{std::log(median(time)) - expected, 1, {}};
    for (const double round : time) deviations.rounds.push_back(std::log(round) - expected);
    return deviations;
  }

  [[nodiscard]] Deviations deviations_of(const FleetMember& member) const {
    std::vector<double> all;
    std::vector<std::vector<double>> rounds;
    for (const auto& [name, spread] : spreads_) {
      const auto time = member.times.find(name);
      if (time == member.times.end()) continue;
      all.push_back(std::log(median(time->second)) - spread.centre);
      rounds.resize(std::max(rounds.size(), time->second.size()));
      for (std::size_t r = 0; r < time->second.size(); ++r)
        rounds[r].push_back(std::log(time->second[r]) - spread.centre);
    }
    if (all.empty()) return {};
    Deviations deviations{median(all), all.size(), {}};
    for (const std::vector<double>& round : rounds) deviations.rounds.push_back(median(round));
    return deviations;
  }

  static bool is_slow(double value, const RobustSpread& spread) {
    return std::exp(spread.centre - value) < slow_performance &&
           deviations_from(spread, value) > outlying_deviations;
  }

  /// In all, and again in two of the rounds.
  static bool is_slow_again(const Deviations& value, const RobustSpread& spread) {
    const auto again =
        std::ranges::count_if(value.rounds, [&](double round) { return is_slow(round, spread); });
    return is_slow(value.all, spread) && again >= static_cast<std::ptrdiff_t>(rounds_to_repeat);
  }

  /// Lists the slow times, and counts those that stay slow without what the member is off as a whole,
  /// `whole`. The times of a GPU that is naturally slow are all so together: that is one fact about it, not
  /// many, and is judged once, by the spread of all GPUs, of which more are known than of those that have the
  /// time.
  SlowOnes find_slow_times(FleetVerdict& verdict, double whole) const {
    SlowOnes beyond_whole;
    std::vector<SlowTime> once;
    for (const auto& [name, spread] : spreads_) {
      const auto time = verdict.member->times.find(name);
      if (time == verdict.member->times.end()) continue;
      const Deviations logs = deviations_of(time->second, 0);
      if (!is_slow(logs.all, spread)) continue;
      const bool again = is_slow_again(logs, spread);
      (again ? verdict.slow_times : once)
          .push_back({name, std::exp(spread.centre - logs.all), deviations_from(spread, logs.all)});
      const Deviations residual = deviations_of(time->second, spread.centre + whole);
      const RobustSpread& usual = residuals_.at(name);
      if (!is_slow(residual.all, usual)) continue;
      ++beyond_whole.once;
      if (again && is_slow_again(residual, usual)) ++beyond_whole.again;
    }
    if (verdict.slow_times.empty()) verdict.slow_times = std::move(once);
    std::ranges::sort(verdict.slow_times, {}, &SlowTime::performance);
    return beyond_whole;
  }

  [[nodiscard]] FleetVerdict verdict_on(const FleetMember& member, const Deviations& deviations,
                                        const RobustSpread& spread) const {
    FleetVerdict verdict{.member = &member,
                         .times = deviations.times,
                         .performance = std::exp(spread.centre - deviations.all),
                         .deviations = deviations_from(spread, deviations.all)};
    const SlowOnes times = find_slow_times(verdict, deviations.all);
    verdict.slow = is_slow_again(deviations, spread) || are_many(times.again, member.times.size());
    verdict.once = !verdict.slow && deviations.rounds.size() < rounds_to_repeat &&
                   (is_slow(deviations.all, spread) || are_many(times.once, member.times.size()));
    for (const auto& [name, mark] : member.outputs) {
      const auto usual = outputs_.find(marked(name, mark));
      if (usual != outputs_.end() && usual->second != mark) verdict.other_outputs.push_back(name);
    }
    if (verdict.slow) verdict.causes = causes_of(verdict);
    if (verdict.once && member.build != build_) verdict.causes = {{.what = SlowGpuCause::What::other_build}};
    const bool in_rounds = deviations.rounds.size() >= rounds_to_repeat;
    if (!in_rounds && !verdict.once) verdict.slow_times.clear();
    return verdict;
  }

  [[nodiscard]] std::optional<double> share_of_fleet(const FleetMember& member,
                                                     const std::string& fact) const {
    const auto own = member.facts.find(fact);
    const auto fleet = facts_.find(fact);
    if (own == member.facts.end() || fleet == facts_.end() || fleet->second <= 0) return std::nullopt;
    return own->second / fleet->second;
  }

  [[nodiscard]] double more_than_fleet(const FleetMember& member, const std::string& fact) const {
    const auto own = member.facts.find(fact);
    return own == member.facts.end() ? 0 : own->second - facts_.at(fact);
  }

  /// Its performance in cycles is that in seconds over its share of the fleet's clock.
  [[nodiscard]] SlowGpuCause lower_clock(const FleetVerdict& verdict, double share) const {
    SlowGpuCause cause = lower(SlowGpuCause::What::clock, *verdict.member, sm_clock);
    cause.performance_in_cycles = performance_where_slow(verdict) / share;
    cause.is_slow_in_cycles = cause.performance_in_cycles < slow_performance;
    return cause;
  }

  [[nodiscard]] SlowGpuCause lower(SlowGpuCause::What what, const FleetMember& member,
                                   const std::string& fact) const {
    return {.what = what, .own = member.facts.at(fact), .fleet = facts_.at(fact)};
  }

  /// What is lower than the fleet's; what explains all of it alone.
  [[nodiscard]] std::vector<SlowGpuCause> causes_of(const FleetVerdict& verdict) const {
    using What = SlowGpuCause::What;
    const FleetMember& member = *verdict.member;
    if (member.build != build_) return {{.what = What::other_build}};
    const auto is_below = [&](const char* fact) {
      return share_of_fleet(member, fact).value_or(1) < slow_performance;
    };
    std::vector<SlowGpuCause> causes;
    if (more_than_fleet(member, neighbours) >= share_that_slows)
      causes.push_back(lower(What::neighbour, member, neighbours));
    if (is_below(sm_clock)) {
      const SlowGpuCause clock = lower_clock(verdict, *share_of_fleet(member, sm_clock));
      if (causes.empty() && !clock.is_slow_in_cycles) return {clock};
      causes.push_back(clock);
    }
    if (is_below(memory_clock))
      causes.push_back(lower(What::memory_clock, member, memory_clock));
    else if (is_below(memory_bandwidth))
      causes.push_back(lower(What::memory_bandwidth, member, memory_bandwidth));
    if (is_below(link_width))
      causes.push_back(lower(What::link_width, member, link_width));
    else if (is_below(link_bandwidth))
      causes.push_back(lower(What::link_bandwidth, member, link_bandwidth));
    if (causes.empty())
      causes.push_back({.what = member.facts.contains(sm_clock) ? What::none : What::no_clocks});
    return causes;
  }

  static double performance_where_slow(const FleetVerdict& verdict) {
    if (verdict.performance < slow_performance || verdict.slow_times.empty()) return verdict.performance;
    std::vector<double> performances;
    for (const SlowTime& slow : verdict.slow_times) performances.push_back(slow.performance);
    return median(performances);
  }

  const std::vector<const FleetMember*>& members_;
  std::map<std::string, RobustSpread> spreads_;    // of the logarithms of each time
  std::map<std::string, RobustSpread> residuals_;  // of the same less what each member is off as a whole
  std::map<MarkedOutput, std::string> outputs_;    // the usual mark of each output
  std::map<std::string, double> facts_;            // the fleet's median
  std::string build_;                              // that most have
};

}  // namespace

namespace {

std::string build_of(const Run& run) {
  const std::string type = known_fact(run, fact::build_type.group, fact::build_type.name);
  return fmt::format("{} ({}){}{}", run.tool.version, run.tool.revision, type.empty() ? "" : ", ", type);
}

}  // namespace

FleetMember fleet_member(const Run& run, const std::string& name) {
  FleetMember member{.name = name,
                     .gpu = gpu_uuid(run),
                     .model = known_fact(run, fact::gpu, fact::gpu_name.name),
                     .started = run.started,
                     .build = build_of(run)};
  if (member.model.empty()) member.model = known_fact(run, fact::cpu, fact::cpu_model.name);
  std::map<std::string, std::vector<double>> samples;
  for (const Case& c : run.cases) {
    add_case(member, c);
    const auto add_median = [&](std::string_view metric, const char* fact) {
      const Measurement* row = find_measurement(c, metric);
      if (row != nullptr && !row->samples.empty()) samples[fact].push_back(median(row->samples));
    };
    add_median(sm_clock_metric(c), sm_clock);
    for (const FactSource& fact : sampled_facts) add_median(fact.id, fact.name);
  }
  for (const auto& [fact, values] : samples) member.facts[fact] = median(values);
  const Fact* width = find_fact(run.environment, fact::gpu, link_width);
  if (width != nullptr && std::holds_alternative<double>(*width))
    member.facts[link_width] = std::get<double>(*width);
  for (const FactSource& fact : ceiling_facts) {
    const auto measured = std::ranges::find_if(run.ceilings, [&](const Ceiling& ceiling) {
      return ceiling.id == fact.id && ceiling.device == "cuda" && ceiling.value;
    });
    if (measured != run.ceilings.end()) member.facts[fact.name] = *measured->value;
  }
  return member;
}

Fleet judge_fleet(const std::vector<FleetMember>& members) {
  std::map<std::string, std::vector<const FleetMember*>> models;
  for (const FleetMember& member : members) models[member.model].push_back(&member);
  Fleet fleet;
  for (const auto& [model, of_model] : models) {
    if (of_model.size() >= fewest_members) {
      fleet.models.push_back(Judge(of_model).judged());
      continue;
    }
    fleet.too_few.push_back({model, of_model.size()});
    std::ranges::copy_if(of_model, std::back_inserter(fleet.failed),
                         [](const FleetMember* member) { return !member->failures.empty(); });
  }
  return fleet;
}

std::span<const FleetFact> fleet_facts() {
  return all_facts;
}

std::optional<double> performance_in(const FleetOfModel& fleet, const FleetMember& member,
                                     const std::string& time) {
  const auto own = member.times.find(time);
  const auto usual = fleet.usual_times.find(time);
  if (own == member.times.end() || usual == fleet.usual_times.end()) return std::nullopt;
  return usual->second / median(own->second);
}

FleetHistory judge_history(const FleetMember& newest, std::vector<RecordedRun> runs) {
  FleetHistory judged{.name = newest.name, .gpu = newest.gpu, .runs = runs.size()};
  try {
    const History history = history_of(std::move(runs), {});
    std::vector<double> performances;
    for (const HistoryMachine& machine : history.machines) {
      for (const HistoryCase& c : machine.cases) {
        for (const HistorySeries& series : c.series) {
          if (series.op.empty()) continue;  // the whole case is the sum of its ops, and of the host's times
          ++judged.times;
          judged.bounded += excludes_decline(series) ? 1 : 0;
          if (!has_declined(series)) continue;
          const HistoryChange& change = series.changes.back();
          judged.declined_times.push_back(
              {time_name(c.id, series.op), 1 / change.ratio, history.runs[change.to].summary.started});
          performances.push_back(1 / change.ratio);
        }
      }
    }
    std::ranges::sort(judged.declined_times, {}, &DeclinedTime::performance);
    if (!performances.empty()) judged.performance = median(performances);
    judged.declined = are_many(judged.declined_times.size(), judged.times);
  } catch (const Error& error) {
    if (error.code() != ExitCode::incomparable) throw;
    judged.absent = error.what();
  }
  return judged;
}

bool Fleet::says_something() const {
  return is_bad() || !histories.empty() || std::ranges::any_of(models, [](const FleetOfModel& model) {
           return std::ranges::any_of(model.verdicts,
                                      [](const FleetVerdict& verdict) { return verdict.times > 0; });
         });
}

bool Fleet::is_bad() const {
  if (!failed.empty()) return true;
  if (std::ranges::any_of(histories, &FleetHistory::declined)) return true;
  return std::ranges::any_of(models, [](const FleetOfModel& model) {
    return std::ranges::any_of(model.verdicts, &FleetVerdict::is_bad);
  });
}

}  // namespace mprof
