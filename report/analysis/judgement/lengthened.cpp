// SPDX-License-Identifier: MIT
#include "report/analysis/judgement/lengthened.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "model/rounds.hpp"
#include "model/statistics/median.hpp"
#include "report/analysis/judgement/disturbance.hpp"

namespace mprof {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
/// More is no bound of any use.
constexpr double useless = 1e3;

/// The number that stands before some words of a text; nullopt where they are not in it.
std::optional<double> number_before(std::string_view text, std::string_view words) {
  const std::size_t end = text.find(words);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view before = text.substr(0, end);
  const std::size_t last = before.find_last_not_of("0123456789.");
  const std::string_view digits = before.substr(last == std::string_view::npos ? 0 : last + 1);
  double number = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && !digits.empty() ? std::optional(number) : std::nullopt;
}

/// What others may have done to the host's times of a round.
struct Neighbours {
  double slow = 1;    ///< by this factor at most, while neither waits
  double stolen = 0;  ///< share of all CPUs' time
  double cpus = 0;    ///< that the case may use; 0: not known
  bool bounded = true;
};

Neighbours neighbours_in(std::string_view text) {
  Neighbours all;
  for (const auto& [cause, detail] : disturbances_in(text)) {
    all.slow = std::max(all.slow, most_by_neighbours);
    if (cause == "other processes used the CPUs") {
      all.cpus = number_before(detail, " usable").value_or(all.cpus);
    } else if (cause == "a hypervisor took CPU time") {
      const std::optional<double> percent = number_before(detail, " %");
      all.cpus = number_before(detail, " usable").value_or(all.cpus);
      all.bounded = all.bounded && percent;
      all.stolen += percent.value_or(0) / 100;
    } else if (const auto devices = number_before(cause, " devices of the host were measured")) {
      all.slow = std::max(all.slow, *devices);  // they may share what copies go through
    } else {
      all.bounded = false;
    }
  }
  return all;
}

/// The samples of each round of a row; empty where there is no such row.
std::vector<std::span<const double>> rounds_of_row(const PassResult& pass, std::string_view metric,
                                                   std::string_view op = {}) {
  const auto row = std::ranges::find_if(pass.measurements, [&](const Measurement& one) {
    return one.metric == metric && one.op == op && one.kernel.empty();
  });
  return row == pass.measurements.end() ? std::vector<std::span<const double>>() : samples_by_round(*row);
}

/// What the pass tells of its executions, by round.
struct Executions {
  std::vector<std::span<const double>> own_waits{}, waits, totals, user, system;

  Executions(const PassResult& pass, const Measurement& time)
      : waits(rounds_of_row(pass, "cpu_wait")),
        totals(rounds_of_row(pass, "total_time")),
        user(rounds_of_row(pass, "user_time")),
        system(rounds_of_row(pass, "system_time")) {
    if (time.metric == "op_time" && !time.op.empty())
      own_waits = rounds_of_row(pass, "cpu_wait", time.op);  // of forward() alone
  }

  /// How long sample `i` of a round waited for CPUs at most: as its threads say, or what is left of it when
  /// all CPUs do nothing but its work.
  [[nodiscard]] double wait(std::size_t round, std::size_t i, double cpus) const {
    const auto at = [&](const std::vector<std::span<const double>>& row) {
      return round < row.size() && i < row[round].size() ? std::optional(row[round][i]) : std::nullopt;
    };
    double most = std::min(at(own_waits).value_or(infinite), at(waits).value_or(infinite));
    const auto total = at(totals), of_user = at(user), of_system = at(system);
    if (total && of_user && of_system && cpus > 0)
      most = std::min(most, std::max(0.0, *total - (*of_user + *of_system) / cpus));
    return most;
  }
};

double lengthened_in(std::size_t round, std::span<const double> samples, const Executions& executions,
                     const Neighbours& neighbours) {
  if (!neighbours.bounded) return infinite;
  // A hypervisor may have taken its time from the one CPU that mattered, and in half of the samples.
  constexpr double half_of_the_samples = 2;
  if (neighbours.stolen > 0 && !(neighbours.cpus > 0)) return infinite;
  const double stolen = half_of_the_samples * neighbours.stolen * neighbours.cpus;
  std::vector<double> left;
  for (std::size_t i = 0; i < samples.size(); ++i)
    left.push_back(samples[i] * (1 - stolen) - executions.wait(round, i, neighbours.cpus));
  const double least = median(left);
  return least > 0 ? neighbours.slow * median(samples) / least : infinite;
}

}  // namespace

std::optional<double> most_lengthened(const PassResult& pass, const Measurement& row) {
  std::vector<Sampling> rounds = pass.rounds;
  if (rounds.empty() && pass.sampling) rounds.push_back(*pass.sampling);
  const std::vector<std::span<const double>> samples = samples_by_round(row);
  const Executions executions(pass, row);
  double sum = 0, count = 0;
  bool is_known = false;  // what disturbed it
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples[i].empty()) continue;
    ++count;
    if (i >= rounds.size()) continue;
    if (!rounds[i].disturbance.empty()) return std::nullopt;  // a GPU's: nothing that is recorded bounds it
    if (row.derived->clock != ClockSource::host || rounds[i].host_disturbance.empty()) continue;
    is_known = true;
    const Neighbours neighbours = neighbours_in(rounds[i].host_disturbance);
    sum += std::log(lengthened_in(i, samples[i], executions, neighbours));
  }
  const double mean = is_known ? std::exp(sum / count) : infinite;
  return mean < useless ? std::optional(mean) : std::nullopt;
}

}  // namespace mprof
