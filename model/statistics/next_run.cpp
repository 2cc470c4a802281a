// SPDX-License-Identifier: MIT
#include "model/statistics/next_run.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include <boost/math/distributions/students_t.hpp>

namespace mprof {
namespace {

constexpr double upper_tail = 0.025;             // on each side: 95 % in all
constexpr double of_power = 0.8416212335729143;  // the normal distribution's quantile of 80 %
constexpr std::size_t most_rounds = 1000;
/// Beyond it Student's t is the normal distribution to more digits than are printed.
constexpr double many = 1e6;

boost::math::students_t student(double dof) {
  return boost::math::students_t(std::min(dof, many));
}

/// Times that were measured in as many rounds share their degrees of freedom, and a quantile takes
/// microseconds: each thread keeps the last ones.
double upper_quantile(double dof, double beyond) {
  struct Known {
    double dof, beyond, quantile;
  };
  static thread_local std::array<Known, 4096> all_known{};  // of 0 degrees of freedom there is none
  const std::size_t at = std::hash<double>{}(dof) ^ std::hash<double>{}(beyond);
  Known& known = all_known[at % all_known.size()];
  if (known.dof != dof || known.beyond != beyond)
    known = {dof, beyond, boost::math::quantile(boost::math::complement(student(dof), beyond))};
  return known.quantile;
}

bool is_known(const Rounds& rounds) {
  return rounds.count > 0 && rounds.center > 0 && rounds.between.dof > 0;
}

/// Variances that add up, with Satterthwaite's degrees of freedom.
class Sum {
 public:
  void add(const Variance& variance, double part = 1) {
    const double value = variance.value * part;
    if (!(value > 0)) return;
    value_ += value;
    by_dof_ += value * value / variance.dof;
  }
  [[nodiscard]] double value() const { return value_; }
  /// `least`: where nothing varies.
  [[nodiscard]] double dof(double least) const { return by_dof_ > 0 ? value_ * value_ / by_dof_ : least; }

 private:
  double value_ = 0, by_dof_ = 0;
};

/// Of the center of a time.
void add_error(Sum& sum, const Rounds& rounds, double count, Apart apart) {
  sum.add(rounds.between, 1 / count);
  if (apart == Apart::in_two_runs) sum.add(rounds.common);
}

/// Half the width of the interval of something with this error, of 95 % or with another `beyond` on each
/// side, on the logarithmic scale; infinite where the error is beyond what can be reckoned.
double reach(const Sum& error, double least_dof, double beyond = upper_tail) {
  const double dof = error.dof(least_dof);
  return std::isfinite(error.value()) && dof > 0 ? upper_quantile(dof, beyond) * std::sqrt(error.value())
                                                 : std::numeric_limits<double>::infinity();
}

Sum error_of_difference(const Rounds& before, double count_before, const Rounds& after, double count_after,
                        Apart apart) {
  Sum sum;
  add_error(sum, before, count_before, apart);
  add_error(sum, after, count_after, apart);
  return sum;
}

double least_dof(const Rounds& before, const Rounds& after) {
  return std::min(before.between.dof, after.between.dof);
}

}  // namespace

std::optional<Interval> next_run_interval(const Rounds& rounds) {
  if (!is_known(rounds)) return std::nullopt;
  Sum error;
  error.add(rounds.between, 2 / rounds.count);
  error.add(rounds.common, 2);
  const double factor = std::exp(reach(error, rounds.between.dof) + std::log1p(rounds.step));
  if (!(factor < interval_of_no_use)) return std::nullopt;
  return Interval{rounds.center / factor, rounds.center * factor};
}

std::optional<RatioTest> test_ratio(const Rounds& before, const Rounds& after, Apart apart, double step) {
  if (!is_known(before) || !is_known(after)) return std::nullopt;
  const Sum error = error_of_difference(before, before.count, after, after.count, apart);
  const double shift = std::log1p(step);
  const Excuse excuse{shift + std::log(after.lengthened), shift + std::log(before.lengthened)};
  const double least = least_dof(before, after), width = reach(error, least);
  if (!(std::exp(width + excuse.known()) < interval_of_no_use)) return std::nullopt;
  const double dof = error.dof(least), deviation = std::sqrt(error.value());
  const double difference = std::log(after.center / before.center);
  const double beyond = std::max(0.0, std::abs(difference) - excuse.of(difference));
  RatioTest test{std::exp(difference), 1, {}, shift, excuse};
  test.interval = {test.ratio / std::exp(width + excuse.longer),
                   test.ratio * std::exp(width + excuse.shorter)};
  if (deviation > 0) {
    test.p = 2 * boost::math::cdf(boost::math::complement(student(dof), beyond / deviation));
  } else {
    test.p = beyond == 0 ? 1 : 0;
  }
  return test;
}

std::size_t rounds_for(const Rounds& before, const Rounds& after, double relative, Apart apart,
                       double together) {
  if (!is_known(before) || !is_known(after)) return most_rounds;
  const double wanted = std::log1p(relative), least = least_dof(before, after);
  const double beyond = upper_tail / together, of_normal = upper_quantile(many, beyond);
  const auto present = static_cast<std::size_t>(std::min(before.count, after.count));
  for (std::size_t rounds = std::max<std::size_t>(2, present + 1); rounds < most_rounds; ++rounds) {
    const auto count = static_cast<double>(rounds);
    const Sum error = error_of_difference(before, count, after, count, apart);
    const double by_chance = of_power * std::sqrt(error.value());
    if (of_normal * std::sqrt(error.value()) + by_chance > wanted) continue;  // nor is Student's t less
    if (reach(error, least, beyond) + by_chance <= wanted) return rounds;
  }
  return most_rounds;
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return p[i]; });
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const double scaled = p[order[rank]] * static_cast<double>(p.size() - rank);
    largest = std::max(largest, std::min(scaled, 1.0));
    adjusted[order[rank]] = largest;
  }
  return adjusted;
}

}  // namespace mprof
