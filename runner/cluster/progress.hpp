// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/run.hpp"

/// How far a run is that others are at, as its result directories tell.
namespace mprof {

enum class ShardState {
  complete,
  running,
  waiting,   ///< a scheduler will start it
  stopped,   ///< unfinished, and nobody is at it
  unknown,   ///< unfinished, and whether anybody is at it is not known
  not_begun  ///< there is no record of it
};
[[nodiscard]] std::string_view to_string(ShardState state);

struct ShardProgress {
  Shard shard{};
  std::filesystem::path path{};
  ShardState state = ShardState::stopped;
  std::string note{};                   ///< where it runs, or why it waits
  bool has_known_cases = true;          ///< whether it is known which cases are its own
  std::size_t cases = 0;                ///< 0 where that is not known
  std::size_t done = 0;                 ///< cases that are through, and did not fail
  std::size_t failed = 0;               ///< cases that are through with a pass that failed
  std::vector<std::string> failures{};  ///< "f/a@8 timing: crashed: signal 11"
  double seconds = 0;                   ///< s, that what is done took
  double work_done = 0;                 ///< s, that it was expected to take (expected_costs())
  double work_left = 0;                 ///< s, that the rest is expected to take
  [[nodiscard]] std::size_t left() const { return cases - done - failed; }
};

/// What the record says; the state as far as that goes: complete or stopped.
[[nodiscard]] ShardProgress progress_of(const Run& run, const std::filesystem::path& path);

/// The shards of a plan that have not begun.
struct AbsentShards {
  std::vector<ShardProgress> shards{};
  std::size_t unassigned = 0;  ///< cases of theirs of which it is not known which one's they are
};

/// As those tell that have: their records. None where these are not of one division, or have all cases of the
/// plan. Which cases are whose is known where these have what the work of cases gives them (and not the times
/// of an earlier run), or one shard alone is absent.
[[nodiscard]] AbsentShards absent_shards(std::span<const Run> shards);

/// The expected time, in s, until all shards are complete that are running or waiting. What is left takes as
/// long, for its expected work, as what is done took. A waiting shard begins when the first running one is
/// complete. nullopt where nothing runs, or where nothing is done yet to estimate from.
[[nodiscard]] std::optional<double> seconds_left(std::span<const ShardProgress> shards);

}  // namespace mprof
