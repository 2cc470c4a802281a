// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/family.hpp"
#include "model/metric.hpp"

/// The words in which the reports of a family speak of its problems and of what was timed. Every table and
/// sentence asks here, so that a run of two families reads as each family's readers expect.
namespace mprof {

class Words {
 public:
  /// Plain words, for a family of which nothing is known.
  Words() : Words(FamilyInfo{}, {}) {}
  /// `problems`: the problems of the run. What the family does not say of itself is called by plain words.
  Words(const FamilyInfo& family, const std::vector<Problem>& problems);

  // --- Problems. The axes that vary in the run tell its problems apart; without any, all of them do.

  [[nodiscard]] const std::vector<AxisInfo>& axes() const { return axes_; }
  /// "size 1000"; "size 8192, iterations 5".
  [[nodiscard]] std::string problem(const Problem& problem) const;
  /// With all of its axes, for one that need not be of the run.
  [[nodiscard]] std::string in_full(const Problem& problem) const;
  /// "at size 1000".
  [[nodiscard]] std::string at(const Problem& problem) const;
  /// "at sizes 100 and 1000"; "at size 1024, iterations 5; size 8192, iterations 1".
  [[nodiscard]] std::string at(const std::vector<Problem>& problems) const;
  /// The same where the head of a column names the axes: "100 and 1000".
  [[nodiscard]] std::string values(const std::vector<Problem>& problems) const;
  /// Where an axis is named by its title, as tables do: "matrix size 1000".
  [[nodiscard]] std::string titled(const Problem& problem) const;
  /// "at matrix size 1000"; "in this run" in a family without axes.
  [[nodiscard]] std::string at_titled(const Problem& problem) const;
  /// "every size", "every problem".
  [[nodiscard]] std::string every() const;
  /// "size", "problem"; and of several.
  [[nodiscard]] std::string one() const;
  [[nodiscard]] std::string several() const;
  /// "matrix size", "size and iterations".
  [[nodiscard]] std::string axis_titles() const;
  /// What is the same throughout the run beside axes that vary: "iterations 5"; empty when nothing is.
  [[nodiscard]] const std::string& throughout() const { return throughout_; }

  // --- What was timed

  /// "map", "execution".
  [[nodiscard]] const std::string& whole() const { return nouns_.whole; }
  /// "an element"; where nothing is counted "an output".
  [[nodiscard]] std::string an_item() const;
  /// Whether readers know an op with its stages as something of its own.
  [[nodiscard]] bool has_group() const { return !nouns_.group.empty(); }
  /// "stage"; without a noun "op with its copies".
  [[nodiscard]] std::string group() const;
  [[nodiscard]] const std::string& groups() const { return nouns_.groups; }
  /// In a sentence: "op time", "stage time" or, without a noun, "time of the op with its copies".
  [[nodiscard]] std::string time(std::string_view metric) const;
  /// At the head of a chart: "Op time".
  [[nodiscard]] std::string time_label(std::string_view metric) const;
  /// Over a column: "Op Time", "Stage Time", "Total Execution Time".
  [[nodiscard]] std::string time_title(std::string_view metric) const;
  /// The op, or "the whole map" when it is empty.
  [[nodiscard]] std::string timed(std::string_view op) const;

 private:
  Nouns nouns_;
  std::vector<AxisInfo> axes_;
  std::string throughout_;
};

/// What a row says of a time: its op, "second"; by its group "second (stage time)", or without a noun "second
/// (with its copies)"; of the whole case "total", of a program's steps "step".
[[nodiscard]] std::string time_name(const Words& words, std::string_view metric, std::string_view op);

/// "an element", "a map".
[[nodiscard]] std::string with_article(const std::string& noun);

/// In a sentence: "error"; what is in capitals stays.
[[nodiscard]] std::string quality_word(const QualityInfo& quality);

/// What a metric is called: a time or a quality by the family's word, others as the catalogue has them.
[[nodiscard]] std::string metric_label(const FamilyInfo& family, const Words& words, std::string_view metric);

}  // namespace mprof
