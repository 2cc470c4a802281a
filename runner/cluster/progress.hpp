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
  waiting,  ///< a scheduler will start it
  stopped   ///< unfinished, and nobody is at it
};
[[nodiscard]] std::string_view to_string(ShardState state);

struct ShardProgress {
  Shard shard{};
  std::filesystem::path path{};
  ShardState state = ShardState::stopped;
  std::string note{};  ///< where it runs, or why it waits
  std::size_t cases = 0;
  std::size_t done = 0;                 ///< cases that are through, whatever became of them
  std::vector<std::string> failures{};  ///< "f/a@8 timing: crashed: signal 11"
  double seconds = 0;                   ///< s, that what is done took
  double work_done = 0;                 ///< s, that it was expected to take (expected_costs())
  double work_left = 0;                 ///< s, likewise of the rest
};

/// What the record says; the state as far as that goes: complete or stopped.
[[nodiscard]] ShardProgress progress_of(const Run& run, const std::filesystem::path& path);

/// How long it should be, in s, until all shards are complete that are running or waiting: what is left of
/// each by how long the work so far took, a waiting one behind whichever running one is through first.
/// nullopt where nothing runs, or nothing is done yet to reckon with.
[[nodiscard]] std::optional<double> seconds_left(std::span<const ShardProgress> shards);

}  // namespace mprof
