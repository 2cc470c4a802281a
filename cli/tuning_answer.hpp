// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "report/views/tuning_view.hpp"
#include "runner/tuning/point_search.hpp"

namespace mprof::cli {

/// What `mprof tune` says at the end, and keeps.
class TuningAnswer {
 public:
  /// `chosen_by`: the options of `mprof run` that choose the variant. `strategy`: as the user gave it.
  /// `ended`: why the search ended before its time, or nothing.
  TuningAnswer(const PointSearch& search, Objective objective, std::string chosen_by, std::string strategy,
               std::string ended);

  /// The points to measure once more: the best one and the default. The default is left out if it was
  /// measured and gave nothing.
  [[nodiscard]] std::vector<CaseKey> finals() const;
  /// Whether any point of the search has a value.
  [[nodiscard]] bool has_values() const;
  [[nodiscard]] bool has_best() const;
  [[nodiscard]] bool has_wrong_outputs() const;
  /// Whether the budget ended before any point was measured.
  [[nodiscard]] bool had_no_time() const;
  /// Takes what the finals, which were derived, have found.
  void take(Run finals);
  void print();
  /// The answer as the file of tuned values has it.
  [[nodiscard]] nlohmann::ordered_json kept() const;
  /// Adds the answer to the file of tuned values.
  void keep(const std::filesystem::path& file) const;

 private:
  void set_default_beside();

  const PointSearch& search_;
  Objective objective_;
  std::string chosen_by_;
  Run searched_, finals_, default_;  ///< what the outcome points into
  TuningOutcome outcome_;
};

/// A paragraph in lines of the terminal's width.
void print_wrapped(const std::string& text);

}  // namespace mprof::cli
