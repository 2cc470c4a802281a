#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/run.hpp"
#include "report/analysis/judgement.hpp"
#include "report/analysis/words.hpp"

namespace mprof {

struct CompareOptions {
  double threshold = noticeable_change;  ///< a smaller change of a time is none
  bool allow_different_machines = false;
  std::string name_a = "A";  ///< what the reader calls the runs, for example their directories
  std::string name_b = "B";
};

/// One time of a case on both sides.
struct TimeComparison {
  std::string metric;  ///< op_time, group_time (see comparable_time()) or total_time
  std::string op;      ///< empty: the whole case
  Value a;
  Value b;
  std::optional<double> ratio;  ///< b / a
  SpeedUp speed_up;             ///< a / b: above 1 is faster; with the verdict
};

/// A quality of a case on both sides.
struct QualityComparison {
  QualityInfo info;  ///< as A's family has it
  Value a;
  Value b;
  std::optional<double> change{};

  /// Whether B is worse by more than the family tolerates.
  [[nodiscard]] bool lost() const { return change && is_loss(info, *change); }
};

/// A case that both runs hold.
struct CaseComparison {
  std::string id;
  CaseKey key;
  Status status_a = Status::pending;
  Status status_b = Status::pending;
  std::string reason_a;
  std::string reason_b;
  std::vector<TimeComparison> times;         ///< empty unless both sides are ok: a wrong result has no speed
  std::vector<QualityComparison> qualities;  ///< those that A's family has
  std::vector<std::string> regressions;      ///< what became worse, in words
};

/// What a reader must know of a run to believe a comparison with it.
struct RunSummary {
  std::string name;
  std::string started;
  std::string version;
  std::string revision;
  std::string machine;
  RunState state = RunState::complete;
};

struct Comparison {
  RunSummary a;
  RunSummary b;
  double threshold = 0;
  std::vector<CaseComparison> cases;   ///< in the order of A
  std::map<std::string, Words> words;  ///< of A's families
  std::vector<std::string> only_in_a;
  std::vector<std::string> only_in_b;
  std::vector<std::string> notes;  ///< other differences between the runs

  /// Whether B is worse than A somewhere: slower, wrong or broken where A was ok, or worse in a quality.
  [[nodiscard]] bool regression() const;
  [[nodiscard]] std::size_t count(Verdict verdict) const;
};

/// How the family of a case speaks.
[[nodiscard]] const Words& words_of(const Comparison& comparison, const CaseComparison& c);

/// Pairs the cases of two runs by key. Throws Error(incomparable) with the reasons when they share no case,
/// or come from different machines and `options` does not allow that.
[[nodiscard]] Comparison compare(const Run& a, const Run& b, const CompareOptions& options);

}  // namespace mprof
