#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/run.hpp"
#include "report/analysis/estimate.hpp"

namespace mprof {

struct CompareOptions {
  double threshold = 0.05;  ///< a smaller change of a time is none
  bool allow_different_machines = false;
  std::string name_a = "A";  ///< what the reader calls the runs, for example their directories
  std::string name_b = "B";
};

/// One time of a case on both sides.
struct TimeComparison {
  std::string metric;  ///< op_time, layer_time (see comparable_time()) or total_time
  std::string op;      ///< empty: the whole case
  Value a;
  Value b;
  std::optional<double> ratio;  ///< b / a
  SpeedUp speed_up;             ///< a / b: above 1 is faster
  Verdict verdict = Verdict::inconclusive;
  std::string reason;  ///< why it is inconclusive
};

/// A case that both runs hold.
struct CaseComparison {
  std::string id;
  CaseKey key;
  Status status_a = Status::pending;
  Status status_b = Status::pending;
  std::string reason_a;
  std::string reason_b;
  std::vector<TimeComparison> times;  ///< empty unless both sides are ok: a wrong result has no speed
  Value accuracy_a;
  Value accuracy_b;
  std::optional<double> accuracy_change;
  std::vector<std::string> regressions;  ///< what became worse, in words
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
  std::vector<CaseComparison> cases;  ///< in the order of A
  std::vector<std::string> only_in_a;
  std::vector<std::string> only_in_b;
  std::vector<std::string> notes;  ///< other differences between the runs

  /// Whether B is worse than A somewhere: slower, wrong or broken where A was ok, or less accurate.
  [[nodiscard]] bool regression() const;
  [[nodiscard]] std::size_t count(Verdict verdict) const;
};

/// Pairs the cases of two runs by key. Throws Error(incomparable) with the reasons when they share no case,
/// or come from different machines and `options` does not allow that.
[[nodiscard]] Comparison compare(const Run& a, const Run& b, const CompareOptions& options);

}  // namespace mprof
