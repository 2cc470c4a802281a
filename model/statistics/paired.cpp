// SPDX-License-Identifier: MIT
#include "model/statistics/paired.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <boost/math/distributions/students_t.hpp>

#include "model/statistics/median.hpp"

namespace mprof {
namespace {

constexpr double alpha_of_all = 0.05;
/// About half as many more each time.
constexpr std::array<std::size_t, 8> looks{3, 4, 6, 9, 13, 20, 30, 45};

}  // namespace

std::optional<RatioTest> test_paired(std::span<const double> before, std::span<const double> after,
                                     double alpha) {
  const std::size_t blocks = std::min(before.size(), after.size());
  if (blocks < 2) return std::nullopt;
  const auto count = static_cast<double>(blocks);
  std::vector<double> differences(blocks);
  double mean = 0, spread = 0;
  for (std::size_t i = 0; i < blocks; ++i) {
    differences[i] = std::log(after[i] / before[i]);
    mean += differences[i] / count;
  }
  for (const double difference : differences) spread += (difference - mean) * (difference - mean);
  const double error = std::sqrt(spread / (count - 1) / count);
  const boost::math::students_t student(count - 1);
  const double reach = std::exp(boost::math::quantile(boost::math::complement(student, alpha / 2)) * error);
  if (!(reach < interval_of_no_use)) return std::nullopt;
  RatioTest test{std::exp(mean), 1, {}};
  test.interval = {test.ratio / reach, test.ratio * reach};
  if (error > 0)
    test.p = 2 * boost::math::cdf(boost::math::complement(student, std::abs(mean) / error));
  else
    test.p = mean == 0 ? 1 : 0;
  return test;
}

Rounds Difference::after() const {
  return {std::exp(mean), rounds, between};
}

Difference difference_of(std::span<const double> ratios) {
  if (ratios.empty()) return {};
  return {std::log(geometric_mean(ratios)), static_cast<double>(ratios.size()), variance_of_logs(ratios)};
}

double ratio_of_pairs(std::span<const double> before, std::span<const double> after) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i)
    ratios.push_back(after[i] / before[i]);
  return median(ratios);
}

std::optional<Interval> interval_of_mean(std::span<const double> differences, double alpha) {
  if (differences.size() < 2) return std::nullopt;
  const auto count = static_cast<double>(differences.size());
  double mean = 0, spread = 0;
  for (const double difference : differences) mean += difference / count;
  for (const double difference : differences) spread += (difference - mean) * (difference - mean);
  const boost::math::students_t student(count - 1);
  const double reach = boost::math::quantile(boost::math::complement(student, alpha / 2)) *
                       std::sqrt(spread / (count - 1) / count);
  return Interval{mean - reach, mean + reach};
}

bool is_look(std::size_t blocks) {
  return std::ranges::count(looks, blocks) > 0;
}

double alpha_of_a_look() {
  return alpha_of_all / static_cast<double>(looks.size());
}

std::size_t most_blocks() {
  return looks.back();
}

}  // namespace mprof
