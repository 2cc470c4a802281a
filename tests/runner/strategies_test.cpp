// SPDX-License-Identifier: MIT
#include "runner/tuning/strategies.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace mprof {
namespace {

/// A landscape of two parameters with one deep valley, seen through noise that shrinks as sampling does it.
class Landscape {
 public:
  Landscape(std::size_t side, std::size_t best, std::uint64_t seed)
      : side_(side), best_(best), random_(seed), seen_(side * side) {}

  [[nodiscard]] std::size_t points() const { return seen_.size(); }

  std::optional<Costs> measure(const Rung& rung) {
    rungs.push_back(rung);
    Costs costs;
    for (const std::size_t point : rung.points) {
      std::normal_distribution<double> noise(0, 0.02 / std::sqrt(16 * rung.effort));
      spent += rung.effort;
      seen_[point].push_back(cost(point) * std::exp(noise(random_)));
      double sum = 0;
      for (const double value : seen_[point]) sum += value;
      costs.emplace_back(sum / static_cast<double>(seen_[point].size()));
    }
    last_ = costs;
    return costs;
  }

  [[nodiscard]] double cost(std::size_t point) const {
    const auto distance = [&](std::size_t a, std::size_t b) {
      return std::abs(static_cast<double>(a) - static_cast<double>(b));
    };
    return 1 + 0.05 * (distance(point % side_, best_ % side_) + distance(point / side_, best_ / side_));
  }

  /// The cheapest point of the last rung, as it was seen.
  [[nodiscard]] std::size_t winner() const {
    const auto least = std::ranges::min_element(last_);
    return rungs.back().points[static_cast<std::size_t>(least - last_.begin())];
  }

  std::vector<Rung> rungs;
  double spent = 0;  ///< full rounds

 private:
  std::size_t side_, best_;
  std::mt19937_64 random_;
  std::vector<std::vector<double>> seen_;
  Costs last_;
};

Landscape searched(Strategy strategy, std::size_t best, std::uint64_t seed) {
  Landscape landscape(12, best, seed);
  search(landscape.points(), {.strategy = strategy, .seed = seed},
         [&](const Rung& rung) { return landscape.measure(rung); });
  return landscape;
}

TEST(Strategies, HalvingFindsTheBestThatAGridFindsForLess) {
  std::size_t found_by_grid = 0, found_by_halving = 0, searches = 0;
  for (std::size_t best = 0; best < 144; best += 11) {
    const Landscape grid = searched(Strategy::grid, best, best),
                    halving = searched(Strategy::halving, best, best);
    ++searches;
    found_by_grid += grid.winner() == best ? 1 : 0;
    found_by_halving += halving.winner() == best ? 1 : 0;
    EXPECT_LT(halving.spent, grid.spent / 2);
  }
  EXPECT_EQ(found_by_grid, searches);
  EXPECT_EQ(found_by_halving, searches);
}

TEST(Strategies, EachRungOfHalvingSpendsAboutAsMuchAsTheOneBefore) {
  const std::vector<Rung> rungs = searched(Strategy::halving, 5, 1).rungs;
  ASSERT_GT(rungs.size(), 3U);
  EXPECT_EQ(rungs.front().points.size(), 144U);
  EXPECT_EQ(rungs.back().effort, 1);
  for (std::size_t i = 1; i < rungs.size(); ++i) {
    EXPECT_EQ(rungs[i].points.size(), (rungs[i - 1].points.size() + 1) / 2);
    EXPECT_EQ(rungs[i].rounds, rungs[i - 1].rounds + 1) << "each in a process of its own";
    EXPECT_EQ(rungs[i].effort, std::min(1.0, 2 * rungs[i - 1].effort));
  }
}

TEST(Strategies, AGridMeasuresEveryPointAlike) {
  std::vector<Rung> rungs;
  search(5, {.rounds = 2}, [&](const Rung& rung) {
    rungs.push_back(rung);
    return Costs(rung.points.size(), 1.0);
  });
  ASSERT_EQ(rungs.size(), 1U);
  EXPECT_EQ(rungs[0].points, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(rungs[0].rounds, 2U);
  EXPECT_EQ(rungs[0].effort, 1);
}

std::vector<std::size_t> drawn(std::size_t points, std::size_t draws, std::uint64_t seed) {
  std::vector<std::size_t> list;
  search(points, {.strategy = Strategy::random, .seed = seed, .draws = draws}, [&](const Rung& rung) {
    list = rung.points;
    return std::nullopt;
  });
  return list;
}

TEST(Strategies, ARandomSearchDrawsEachPointOnceAtTheMost) {
  const std::vector<std::size_t> points = drawn(1000, 60, 7);
  EXPECT_EQ(points.size(), 60U);
  EXPECT_EQ(std::set<std::size_t>(points.begin(), points.end()).size(), 60U);
  EXPECT_LT(*std::ranges::max_element(points), 1000U);
  EXPECT_EQ(points, drawn(1000, 60, 7)) << "the seed says which";
  EXPECT_NE(points, drawn(1000, 60, 8));
  std::vector<std::size_t> all = drawn(5, 60, 7);
  std::ranges::sort(all);
  EXPECT_EQ(all, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
}

TEST(Strategies, WhatGaveNothingNeverWins) {
  std::vector<Rung> rungs;
  search(32, {.strategy = Strategy::halving}, [&](const Rung& rung) {
    rungs.push_back(rung);
    Costs costs;
    for (const std::size_t point : rung.points)
      costs.push_back(point % 4 == 0 ? std::nullopt : std::optional(static_cast<double>(point)));
    return costs;
  });
  ASSERT_GT(rungs.size(), 1U);
  EXPECT_EQ(rungs[1].points.size(), 16U);
  for (std::size_t i = 1; i < rungs.size(); ++i) {
    for (const std::size_t point : rungs[i].points) EXPECT_NE(point % 4, 0U);
  }
}

TEST(Strategies, AllThatFailsEndsTheSearch) {
  std::size_t rungs = 0;
  search(32, {.strategy = Strategy::halving}, [&](const Rung& rung) {
    ++rungs;
    return Costs(rung.points.size());
  });
  EXPECT_EQ(rungs, 1U);
  search(0, {}, [&](const Rung& /*rung*/) { return ++rungs, Costs{}; });
  EXPECT_EQ(rungs, 1U) << "without a point there is nothing to measure";
}

TEST(Strategies, ASearchThatIsEndedAsksForNoMore) {
  std::size_t rungs = 0;
  search(64, {.strategy = Strategy::halving}, [&](const Rung& rung) -> std::optional<Costs> {
    if (++rungs == 2) return std::nullopt;
    return Costs(rung.points.size(), 1.0);
  });
  EXPECT_EQ(rungs, 2U);
}

TEST(Strategies, HaveNames) {
  for (const Strategy strategy : {Strategy::grid, Strategy::random, Strategy::halving}) {
    Strategy read{};
    EXPECT_TRUE(from_string(to_string(strategy), read));
    EXPECT_EQ(read, strategy);
  }
  Strategy untouched = Strategy::halving;
  EXPECT_FALSE(from_string("hyperband", untouched));
  EXPECT_EQ(untouched, Strategy::halving);
}

}  // namespace
}  // namespace mprof
