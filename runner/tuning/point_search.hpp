// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "model/run.hpp"
#include "runner/coordinator.hpp"
#include "runner/plan.hpp"
#include "runner/result_directory.hpp"
#include "runner/tuning/strategies.hpp"
#include "system/clock.hpp"

/// `mprof tune`: a search among the points of a variant's parameters, and its best points once more.
namespace mprof {

/// The finals of a search, in its directory.
inline constexpr const char* finals_folder = "finals";

/// More points are a record that nobody reads, and a search that does not end.
inline constexpr std::size_t most_points = 100'000;

/// The variant of this id, or of this file among the sources, which are registered. Throws Error(usage) for
/// an unknown one, or where it has no parameters.
[[nodiscard]] const VariantInfo& tunable_variant(const std::string& name,
                                                 const std::vector<PluginSource>& sources,
                                                 const Registry& registry);

/// Every point of the variant, nothing of it measured. What the request does not say of parameters is all
/// that they take; of passes, the timing pass, and one of counters where it names metrics. Throws Error for
/// whatever is wrong with it.
[[nodiscard]] Run planned_search_run(const VariantInfo& variant, RunRequest request, const Registry& registry,
                                     std::vector<std::string> command_line);

/// Whether a setting is one value alone.
[[nodiscard]] bool is_fixed(const std::vector<std::string>& values);

/// What all measuring of one search shares.
struct TuningBench {
  std::vector<std::string> worker_command;
  const Clock& clock;
  Progress& progress;
  int interrupt_fd = -1;
  /// Is told how many points are measured next, and in how many rounds.
  std::function<void(std::size_t points, std::uint32_t rounds)> begins;
};

/// What each case of a run costs, lower is better, in the run's order. The run was derived.
using CostsOfCases = std::function<Costs(const Run& seen)>;

/// Measures the points that a strategy asks for, and keeps what it saw in one run.
class PointSearch {
 public:
  PointSearch(Run run, const std::filesystem::path& out, ResultDirectory::Mode mode, const TuningBench& bench,
              const Registry& registry);

  /// For `budget` seconds at most.
  void run(const SearchSettings& settings, std::optional<double> budget, const CostsOfCases& costs);

  [[nodiscard]] bool was_interrupted() const { return run_.state == RunState::interrupted; }
  [[nodiscard]] bool was_out_of_time() const { return is_out_of_time_; }
  /// How many points there are, impossible ones included.
  [[nodiscard]] std::size_t points() const { return points_; }
  [[nodiscard]] const Run& record() const { return run_; }
  /// The default of all parameters but the fixed ones, where it can be, whether it is searched or not.
  /// Nothing of it is measured.
  [[nodiscard]] const std::optional<Case>& default_point() const { return default_point_; }
  /// Whether it is one of the points, drawn or not. Otherwise it can be no answer.
  [[nodiscard]] bool is_default_searched() const { return is_default_searched_; }
  [[nodiscard]] const Stopping& full_round() const { return full_; }
  [[nodiscard]] const ResultDirectory& directory() const { return directory_; }
  /// The record so far, derived.
  [[nodiscard]] Run seen() const;

 private:
  void coordinate(const std::vector<std::uint32_t>& rounds);
  void keep(const Rung& rung);
  std::optional<Costs> measured(const Rung& rung, const CostsOfCases& costs);
  void close(std::optional<double> budget);

  Run run_;
  ResultDirectory directory_;
  const TuningBench& bench_;
  Stopping full_;
  std::optional<Case> default_point_;
  bool is_default_searched_ = false;
  std::size_t points_ = 0;
  std::vector<std::size_t> at_;  ///< the case of each point that the strategy chooses among
  double deadline_ = std::numeric_limits<double>::infinity();
  bool is_out_of_time_ = false;
};

/// The best points of a search, once more: in fresh processes, in turns, and by themselves. What a search
/// says of its winner is too good on average, since it was chosen for being good.
class Finals {
 public:
  /// `points`: of the search, its default_point() among them or not.
  Finals(const PointSearch& search, const std::vector<CaseKey>& points, std::uint32_t rounds,
         const TuningBench& bench);

  void run(bool adds_rounds);

  [[nodiscard]] bool was_interrupted() const { return run_.state == RunState::interrupted; }
  /// The record, derived.
  [[nodiscard]] Run seen() const;

 private:
  Run run_;
  ResultDirectory directory_;
  const TuningBench& bench_;
};

}  // namespace mprof
