// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/analysis/judgement/judgement.hpp"

/// What `mprof judge` says of a file, as values.
namespace mprof {

/// `right`: its outputs are right, and nothing contradicts its times. `suspect`: something does.
enum class JudgeStatus { right, wrong, suspect, crashed, timeout, compile_failed };

[[nodiscard]] std::string_view to_string(JudgeStatus status);

/// What is done with a file, in this order; each may be the last one.
enum class JudgeStage { compile, small, memcheck, full, quick, trace, rounds, counters };

[[nodiscard]] std::string_view to_string(JudgeStage stage);

enum class StageOutcome { done, failed, skipped };

[[nodiscard]] std::string_view to_string(StageOutcome outcome);

struct JudgedStage {
  JudgeStage stage = JudgeStage::compile;
  StageOutcome outcome = StageOutcome::done;
  double seconds = 0;
  std::string why{};  ///< it was skipped
};

/// A time of the file and of what it is compared with, s.
struct JudgedTime {
  std::string metric{};  ///< op_time, group_time or total_time
  std::string op{};      ///< empty: the whole
  Value file{};
  Value against{};
  SpeedUp speed_up{};  ///< of the file, with the verdict
};

/// What this process saw of both by its own clock: whole executions on inputs that nobody knew before, from
/// the seed to the last bit of the outputs, s. Work that both have to do beside the variant's is in them.
struct OwnClock {
  std::size_t executions = 0;  ///< of each
  double file = 0;             ///< median
  double against = 0;
  double saved = 0;  ///< by the file, in an execution
  double low = 0;    ///< 99 % interval of that
  double high = 0;
  std::optional<double> claimed{};  ///< what the worker's clock says is saved; nothing before it was timed

  /// Half of the interval's width: smaller savings cannot be confirmed.
  [[nodiscard]] double resolution() const { return (high - low) / 2; }
  /// Whether a saving that the worker claims is more than this clock allows.
  [[nodiscard]] bool contradicts() const;
  /// Whether this clock alone says that the file is faster, or slower.
  [[nodiscard]] bool confirms() const { return low > 0 || high < 0; }
};

/// What a file claims to save in an execution, s: what the whole of it saves, and at least half of what its
/// ops save by their times. It may spend the other half on what it prepares.
[[nodiscard]] double claimed_saving(double whole, double by_ops);

/// Whether a file is judged by its whole execution in place of its ops: the whole saves less than three
/// quarters of what the ops save by their times. Either the worker's times say so for certain, of which
/// `most_by_whole` is the upper end, or mprof's own clock does. All in s, in an execution.
[[nodiscard]] bool counts_by_whole(double by_ops, double most_by_whole,
                                   const std::optional<OwnClock>& own_clock);

/// What makes a file suspect.
struct Suspicion {
  std::string check{};  ///< which check: "own_clock", "whole", "worker", "trace", "counters"
  std::string seen{};   ///< a sentence's part
  std::string limit{};  ///< empty: `seen` says it
};

/// Why a file's times are so, of one of its kernels.
struct JudgedKernel {
  std::string name{};
  std::optional<double> share{};  ///< of the op's time on the GPU
  std::string bottleneck{};       ///< empty: not known
  std::vector<std::string> because{};
};

struct JudgedAdvice {
  std::string rule{};
  std::string op{};
  std::string text{};
  double bound_gain = 1;  ///< at most so many times as fast
  std::string evidence{};
};

struct CompilerWords {
  std::vector<std::string> errors{};  ///< the first ones, without paths
  std::size_t more = 0;               ///< left out
};

/// Something that was not measured, or not judged.
struct JudgeAbsence {
  std::string what{};
  std::string why{};
};

/// Points of a rubric.
struct ScoreItem {
  std::string name{};
  double points = 0;
  double most = 0;
  std::string why{};
  bool passed = false;
};

struct Judgement {
  std::string file{};
  JudgeStatus status = JudgeStatus::right;
  std::string reason{};  ///< why it is not right; from outside in part
  std::string variant{}, family{}, device{}, against{}, problem{}, small_problem{};
  std::optional<Verdict> verdict{};  ///< only of what is right and was timed
  std::vector<JudgedTime> times{};
  std::size_t headline = 0;  ///< the time that stands for all: of the op that takes the longest, or the whole
  std::size_t blocks = 0;
  bool is_clearly_slower = false;  ///< a quick round was enough
  std::size_t outputs = 0;         ///< that were compared by this process
  double max_error = 0, relative_error = 0, tolerance = 0;
  /// Of the least exact output: as Verification has them.
  std::string precision{}, declared_precision{};
  std::uint64_t elements = 0;
  std::vector<std::string> checks{};  ///< that it passed
  std::vector<Suspicion> suspicions{};
  std::optional<OwnClock> own_clock{};
  std::optional<double> of_possible{};  ///< %, of the headline's op
  std::string bound{};                  ///< what allows no less time
  std::vector<JudgedKernel> kernels{};
  std::vector<JudgedAdvice> advice{};
  std::size_t expectations = 0, expectations_met = 0;  ///< that the file declares
  std::optional<CompilerWords> compiler{};
  std::string untrusted_output{};  ///< the end of what the file printed, as tamed_end() gives it
  std::string machine{};           ///< GPU or CPU
  std::vector<std::string> disturbed{};
  std::string sandbox{};  ///< "bwrap", or "none"
  std::vector<JudgedStage> stages{};
  double seconds = 0;
  std::vector<JudgeAbsence> absent{};
  std::string run{};  ///< where the records are; empty: they were not kept
  std::vector<ScoreItem> items{};
  bool has_score = false;

  [[nodiscard]] const JudgedTime* decisive() const {
    return headline < times.size() ? &times[headline] : nullptr;
  }
  [[nodiscard]] double score() const;
  [[nodiscard]] double most_points() const;
};

/// What the process ends with: 0 right and not slower, 1 slower, 3 anything but right.
[[nodiscard]] int exit_code_of(const Judgement& judgement);

/// Text from outside on one line: no control characters, none that reorder text, and at most `most` bytes, up
/// to the "..." behind what was cut.
[[nodiscard]] std::string tamed(std::string_view text, std::size_t most = 300);
/// The same for the end of text of many lines, which it keeps.
[[nodiscard]] std::string tamed_end(std::string_view text, std::size_t most);

}  // namespace mprof
