// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/metric.hpp"
#include "model/problem.hpp"

/// What a family says of itself: its axes, the words of its readers, what its runs say beside their times. So
/// code that plans, runs and reports needs to know no family. A run's record keeps it.
namespace mprof {

/// One of the whole numbers that make a problem.
struct AxisInfo {
  std::string name{};               ///< "batch": also the option's, --batch, and in sentences "at batch 1000"
  std::string plural{};             ///< "batches": "at batches 100 and 1000"
  std::string title{};              ///< "Batch Size": over a column of a table
  std::string meaning{};            ///< "images of one inference"
  std::uint64_t default_value = 1;  ///< where other axes are given and this one is not
  std::uint64_t min = 1;
  std::uint64_t max = 0;  ///< the largest value that can be run; 0: no limit of the family's own
  bool operator==(const AxisInfo&) const = default;
};

/// What the readers of a family's reports call things. Lower case, as in the middle of a sentence; titles
/// stand over columns.
struct Nouns {
  std::string item{};    ///< one of what a problem counts: "image"; empty: nothing is counted
  std::string items{};   ///< "images"
  std::string whole{};   ///< one execution from input to output: "inference"
  std::string group{};   ///< an op with its stages, prepare() + forward() + finish(): "layer"; empty: no
                         ///< table distinguishes it from the whole or from the op
  std::string groups{};  ///< "layers"
  std::string op_time_title{};     ///< "Op Time"
  std::string group_time_title{};  ///< "Layer Time"
  std::string total_time_title{};  ///< "Total Execution Time"
  bool operator==(const Nouns&) const = default;
};

/// What a run of the whole says beside its time, such as a share of right answers or an error norm. Its
/// values are measurements of the case with this metric.
struct QualityInfo {
  std::string metric{};   ///< "accuracy"
  std::string label{};    ///< "Accuracy"
  std::string meaning{};  ///< one sentence
  Unit unit = Unit::ratio;
  Better better = Better::higher;
  /// A smaller loss does not count, in the quality's own unit: the order of a summation alone may cause it.
  double tolerance = 0;
  bool operator==(const QualityInfo&) const = default;
};

/// An op of a family as its definition has it, for one problem.
struct OpInfo {
  std::string name{};
  std::string title{};  ///< "layer 1: 7x7, 1 -> 4 maps"
  double flops = 0;     ///< FLOP; a multiply-add counts as two
  double bytes = 0;     ///< B: each input read once, each output written once
  /// Evaluations of functions that hardware has units of their own for (exponential, logarithm, sine, cosine,
  /// reciprocal, square root), in its definition; 0: none.
  double special_operations = 0;
  double items = 0;  ///< how many of what the family's problems count pass through it; 0: nothing is counted
  bool operator==(const OpInfo&) const = default;
};

/// The work of one problem of the plan.
struct ProblemInfo {
  Problem problem{};
  std::vector<OpInfo> ops{};
  bool operator==(const ProblemInfo&) const = default;
};

struct FamilyInfo {
  std::string id{};     ///< the first part of its variants' ids
  std::string title{};  ///< one line
  std::vector<AxisInfo> axes{};
  Nouns nouns{};
  std::vector<QualityInfo> qualities{};  ///< may be empty
  std::vector<ProblemInfo> problems{};   ///< of the run, ascending; empty in what a program declares
  bool operator==(const FamilyInfo&) const = default;
};

/// By name; nullptr when the family has none.
[[nodiscard]] const AxisInfo* find_axis(const FamilyInfo& family, std::string_view name);
/// By metric; nullptr when the family has no such quality.
[[nodiscard]] const QualityInfo* find_quality(const FamilyInfo& family, std::string_view metric);
/// nullptr when the run has no such problem.
[[nodiscard]] const ProblemInfo* find_problem(const FamilyInfo& family, const Problem& problem);

/// A file that a family read.
struct InputFile {
  std::string family{};
  std::string name{};  ///< of the family's input that it belongs to: "weights"
  std::string path{};
  std::uint64_t size = 0;  ///< B
  std::string checksum{};  ///< "sha256:" and 64 hexadecimal digits
  bool operator==(const InputFile&) const = default;
};

}  // namespace mprof
