// SPDX-License-Identifier: MIT
#include "runner/tuning/strategies.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <utility>

namespace mprof {
namespace {

constexpr std::array<std::pair<Strategy, std::string_view>, 3> strategy_names{
    {{Strategy::grid, "grid"}, {Strategy::random, "random"}, {Strategy::halving, "halving"}}};

/// A full round's sampling is cut into so many parts at the most: a median of fewer samples says too little.
constexpr double smallest_effort = 1.0 / 16;

std::vector<std::size_t> all(std::size_t points) {
  std::vector<std::size_t> list(points);
  std::iota(list.begin(), list.end(), std::size_t{0});
  return list;
}

/// By a Fisher-Yates shuffle of our own, of which the first ones are enough: std::sample gives others with
/// another standard library.
std::vector<std::size_t> drawn(std::size_t points, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::size_t> list = all(points);
  count = std::min(count, points);
  for (std::size_t i = 0; i < count; ++i) std::swap(list[i], list[i + random() % (points - i)]);
  list.resize(count);
  return list;
}

/// The better half of the points, and none that gave nothing.
std::vector<std::size_t> better_half(const std::vector<std::size_t>& points, const Costs& costs) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (costs[i]) order.push_back(i);
  }
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return *costs[a] < *costs[b]; });
  order.resize(std::min(order.size(), (points.size() + 1) / 2));
  std::vector<std::size_t> left;
  for (const std::size_t i : order) left.push_back(points[i]);
  return left;
}

/// The share of a full round that the first rung takes, so that the last one takes it whole.
double first_effort(std::size_t points) {
  double effort = 1;
  for (std::size_t left = (points + 1) / 2; left > left_by_halving && effort > smallest_effort;
       left = (left + 1) / 2)
    effort /= 2;
  return effort;
}

void halve(std::size_t points, const MeasureRung& measure) {
  Rung rung{.points = all(points), .rounds = 1, .effort = first_effort(points)};
  while (!rung.points.empty()) {
    const std::optional<Costs> costs = measure(rung);
    if (!costs) return;
    rung.points = better_half(rung.points, *costs);
    if (rung.points.size() <= left_by_halving) return;
    ++rung.rounds;
    rung.effort = std::min(1.0, 2 * rung.effort);
  }
}

}  // namespace

std::string_view to_string(Strategy strategy) {
  return std::ranges::find(strategy_names, strategy, &std::pair<Strategy, std::string_view>::first)->second;
}

bool from_string(std::string_view text, Strategy& value) {
  const auto found = std::ranges::find(strategy_names, text, &std::pair<Strategy, std::string_view>::second);
  if (found == strategy_names.end()) return false;
  value = found->first;
  return true;
}

void search(std::size_t points, const SearchSettings& settings, const MeasureRung& measure) {
  if (points == 0) return;
  if (settings.strategy == Strategy::halving) return halve(points, measure);
  const bool is_random = settings.strategy == Strategy::random;
  static_cast<void>(measure({.points = is_random ? drawn(points, settings.draws, settings.seed) : all(points),
                             .rounds = settings.rounds}));
}

}  // namespace mprof
