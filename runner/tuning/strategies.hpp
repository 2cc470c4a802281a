// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

/// Which points of a variant's parameters a search measures, and for how long. What a point is, and how it is
/// measured, is no matter here: points are numbers, and the search looks for low costs.
namespace mprof {

enum class Strategy {
  grid,     ///< every point alike
  random,   ///< some points, drawn without replacement
  halving,  ///< every point shortly, the better half of them twice as long, and so on
};

[[nodiscard]] std::string_view to_string(Strategy strategy);
/// The inverse; false, and `value` untouched, when `text` names none.
bool from_string(std::string_view text, Strategy& value);

/// What to measure next.
struct Rung {
  std::vector<std::size_t> points{};
  std::uint32_t rounds = 1;  ///< fresh processes that each of the points shall have been measured in by then
  double effort = 1;         ///< of each of these rounds that is new: its share of a full round's sampling
};

/// What each point of a rung costs, lower is better; nullopt of one that gave nothing, which never wins.
using Costs = std::vector<std::optional<double>>;

/// Measures a rung; nullopt ends the search.
using MeasureRung = std::function<std::optional<Costs>(const Rung& rung)>;

struct SearchSettings {
  Strategy strategy = Strategy::grid;
  std::uint64_t seed = 0;    ///< of what is drawn; the same on every machine
  std::size_t draws = 60;    ///< points of a random search
  std::uint32_t rounds = 1;  ///< of each point, of a grid and of a random search
};

/// A search by halving ends with so many points or fewer: those are left for whoever measures the best ones
/// again.
inline constexpr std::size_t left_by_halving = 4;

/// Measures some of the points 0 ... `points` - 1, rung by rung.
///
/// random: 1 - (1 - q)^n is the probability that the best of n drawn points is among the best share q of all:
/// 95 % for 5 % and 60 points. J. Bergstra and Y. Bengio, Random search for hyper-parameter optimization,
/// Journal of Machine Learning Research 13 (2012), 281-305.
///
/// halving: K. Jamieson and A. Talwalkar, Non-stochastic best arm identification and hyperparameter
/// optimization, AISTATS 2016; Z. Karnin, T. Koren and O. Somekh, Almost optimal exploration in multi-armed
/// bandits, ICML 2013. Each rung spends about as much as the one before it: half of the points, twice the
/// sampling, until a round is a full one. Each rung is a round of its own, since processes differ.
void search(std::size_t points, const SearchSettings& settings, const MeasureRung& measure);

}  // namespace mprof
