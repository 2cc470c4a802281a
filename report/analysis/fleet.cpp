#include "report/analysis/fleet.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "model/facts.hpp"
#include "model/rounds.hpp"
#include "model/statistics/median.hpp"
#include "model/statistics/robust.hpp"
#include "report/analysis/facts.hpp"
#include "report/text/format.hpp"

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

struct MedianFact {
  const char* metric;
  const char* name;
};
constexpr const char* neighbours = "others on the GPU";
constexpr std::array median_facts{
    MedianFact{"gpu_sm_clock", "SM clock"}, MedianFact{"gpu_memory_clock", "memory clock"},
    MedianFact{"gpu_temperature", "temperature"}, MedianFact{"gpu_power", "power"},
    MedianFact{"other_gpu_share", neighbours}};
/// Of the GPU's multiprocessors, beyond what the fleet gives to others, must be another process's to make a
/// GPU slow: as much as it must be slower at the least. In percent, as the record has it.
constexpr double share_that_slows = 100 * (1 - slow_performance);
constexpr const char* link_width = "PCIe link width";

std::string time_name(const Case& c, const std::string& op) {
  return c.id + " " + op;
}

/// What tells an output's bits from others, by a name that says how: marks of two kinds never meet. Records
/// of earlier versions have no checksum: there the error against the reference, to its last bit, stands for
/// it.
std::pair<std::string, std::string> output_mark(const Case& c, const Verification& verification) {
  const std::string name = time_name(c, verification.op);
  if (!verification.checksum.empty()) return {name, verification.checksum};
  return {name + " (by its error)", fmt::format("{:a} {:a} {}", verification.relative_l2,
                                                verification.max_error, verification.elements)};
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
    if (row.metric == "op_time" && !row.samples.empty())
      member.times[time_name(c, row.op)] = round_medians(row);
  }
  for (const Verification& verification : timing->verification)
    member.outputs.insert(output_mark(c, verification));
}

/// How a member's times, or those of one of its rounds, lie to the fleet's: logarithms, positive is slower.
struct Deviations {
  double all = 0;
  std::vector<double> rounds{};
};

/// Judges the GPUs of one model.
class Judge {
 public:
  explicit Judge(const std::vector<const FleetMember*>& members) : members_(members) {}

  FleetOfModel judged() {
    find_spreads();
    std::vector<Deviations> deviations;
    std::vector<double> all;
    for (const FleetMember* member : members_) {
      deviations.push_back(deviations_of(*member));
      all.push_back(deviations.back().all);
    }
    const RobustSpread spread = robust_spread(all);
    FleetOfModel fleet{
        .model = members_.front()->model, .times = spreads_.size(), .spread = spread.deviation};
    for (std::size_t i = 0; i < members_.size(); ++i)
      fleet.verdicts.push_back(verdict_on(*members_[i], deviations[i], spread));
    std::ranges::stable_sort(fleet.verdicts, {}, [](const FleetVerdict& verdict) {
      return std::pair(!verdict.is_bad(), verdict.performance);
    });
    return fleet;
  }

 private:
  void find_spreads() {
    std::map<std::string, std::vector<double>> values;
    std::map<std::string, std::map<std::string, std::size_t>> marks;
    std::map<std::string, std::vector<double>> facts;
    for (const FleetMember* member : members_) {
      for (const auto& [name, time] : member->times) values[name].push_back(std::log(median(time)));
      for (const auto& [name, mark] : member->outputs) ++marks[name][mark];
      for (const auto& [name, fact] : member->facts) facts[name].push_back(fact);
    }
    for (const auto& [name, logs] : values) {
      if (logs.size() >= fewest_members) spreads_[name] = robust_spread(logs);
    }
    for (const auto& [name, fact] : facts) facts_[name] = median(fact);
    for (const auto& [name, counts] : marks) {
      const auto usual = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
      std::size_t all = 0;
      for (const auto& [mark, count] : counts) all += count;
      const auto gpus = static_cast<double>(all);
      const bool agree = static_cast<double>(usual->second) >= std::min(agreeing_share * gpus, gpus - 1);
      if (all >= fewest_members && agree) outputs_[name] = usual->first;
    }
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
    Deviations deviations{median(all), {}};
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

  void add_slow_times(FleetVerdict& verdict, bool& unrepeated) const {
    for (const auto& [name, spread] : spreads_) {
      const auto time = verdict.member->times.find(name);
      if (time == verdict.member->times.end()) continue;
      Deviations logs{std::log(median(time->second)), {}};
      for (const double round : time->second) logs.rounds.push_back(std::log(round));
      if (!is_slow(logs.all, spread)) continue;
      unrepeated = unrepeated || logs.rounds.size() < rounds_to_repeat;
      if (is_slow_again(logs, spread))
        verdict.slow_times.push_back(
            {name, std::exp(spread.centre - logs.all), deviations_from(spread, logs.all)});
    }
    std::ranges::sort(verdict.slow_times, {}, &SlowTime::performance);
  }

  [[nodiscard]] FleetVerdict verdict_on(const FleetMember& member, const Deviations& deviations,
                                        const RobustSpread& spread) const {
    FleetVerdict verdict{.member = &member,
                         .performance = std::exp(spread.centre - deviations.all),
                         .deviations = deviations_from(spread, deviations.all)};
    bool unrepeated = false;
    add_slow_times(verdict, unrepeated);
    const auto enough = std::max(2.0, share_of_times * static_cast<double>(member.times.size()));
    verdict.slow =
        is_slow_again(deviations, spread) || static_cast<double>(verdict.slow_times.size()) >= enough;
    verdict.once = !verdict.slow && deviations.rounds.size() < rounds_to_repeat &&
                   (is_slow(deviations.all, spread) || unrepeated);
    for (const auto& [name, mark] : outputs_) {
      const auto own = member.outputs.find(name);
      if (own != member.outputs.end() && own->second != mark) verdict.other_outputs.push_back(name);
    }
    if (verdict.slow) verdict.cause = cause_of(member);
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

  [[nodiscard]] std::string cause_of(const FleetMember& member) const {
    const auto below = [&](const char* fact) {
      return share_of_fleet(member, fact).value_or(1) < slow_performance;
    };
    const auto against = [&](const char* fact, Unit unit) {
      return fmt::format("{}, the fleet's {}", format::quantity(member.facts.at(fact), unit),
                         format::quantity(facts_.at(fact), unit));
    };
    if (const double more = more_than_fleet(member, neighbours); more >= share_that_slows)
      return fmt::format("a neighbour: other processes used {} more of the GPU than of the fleet's",
                         format::percent(more / 100));
    if (below("SM clock"))
      return fmt::format("its clock (power, heat or a limit): {}", against("SM clock", Unit::hertz));
    if (below("memory clock"))
      return fmt::format("its memory's clock: {}", against("memory clock", Unit::hertz));
    if (below(link_width))
      return fmt::format("its link: {} PCIe lanes, the fleet's {}", member.facts.at(link_width),
                         facts_.at(link_width));
    return member.facts.contains("SM clock") ? "not known: clocks, link and neighbours are about the fleet's"
                                             : "not known, the records have no clocks";
  }

  const std::vector<const FleetMember*>& members_;
  std::map<std::string, RobustSpread> spreads_;  // of the logarithms of each time
  std::map<std::string, std::string> outputs_;   // the usual mark of each output
  std::map<std::string, double> facts_;          // the fleet's median
};

}  // namespace

FleetMember fleet_member(const Run& run, const std::string& name) {
  FleetMember member{.name = name,
                     .gpu = known_fact(run, fact::gpu, "UUID"),
                     .model = known_fact(run, fact::gpu, fact::gpu_name.name)};
  if (member.model.empty()) member.model = known_fact(run, fact::cpu, fact::cpu_model.name);
  std::map<std::string, std::vector<double>> samples;
  for (const Case& c : run.cases) {
    add_case(member, c);
    for (const MedianFact& fact : median_facts) {
      const Measurement* row = find_measurement(c, fact.metric);
      if (row != nullptr && !row->samples.empty()) samples[fact.name].push_back(median(row->samples));
    }
  }
  for (const auto& [fact, values] : samples) member.facts[fact] = median(values);
  const Fact* width = find_fact(run.environment, fact::gpu, link_width);
  if (width != nullptr && std::holds_alternative<double>(*width))
    member.facts[link_width] = std::get<double>(*width);
  return member;
}

Fleet judge_fleet(const std::vector<FleetMember>& members) {
  std::map<std::string, std::vector<const FleetMember*>> models;
  for (const FleetMember& member : members) models[member.model].push_back(&member);
  Fleet fleet;
  for (const auto& [model, of_model] : models) {
    if (of_model.size() < fewest_members)
      fleet.too_few.push_back(fmt::format("{} ({})", model, of_model.size()));
    else
      fleet.models.push_back(Judge(of_model).judged());
  }
  return fleet;
}

bool Fleet::is_bad() const {
  return std::ranges::any_of(models, [](const FleetOfModel& model) {
    return std::ranges::any_of(model.verdicts, &FleetVerdict::is_bad);
  });
}

}  // namespace mprof
