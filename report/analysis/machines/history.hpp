// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "report/analysis/judgement/compare.hpp"
#include "report/analysis/machines/change_points.hpp"
#include "report/analysis/machines/environment.hpp"

/// The times of many runs, and where they changed (report/analysis/machines/change_points.hpp says by what
/// method).
namespace mprof {

struct HistoryOptions {
  Thresholds thresholds{};
  std::vector<std::string> variants{};  ///< patterns of their ids, as a shell has them; empty: all
  std::string op{};                     ///< its name, or "total" for the whole case; empty: all times
};

/// An op of a case in one run; or the whole case.
struct RecordedTime {
  std::string op;             ///< empty: the whole case, with total_time
  Value time;                 ///< op_time or total_time
  Value group_time;           ///< of an op
  bool is_by_group = false;   ///< whether the op time of this run says little: see comparable_time()
  bool holds_copies = false;  ///< whether the group time says more than the op time
  Value step_time{};          ///< of the whole case, where its steps were found
  Measurement steps{};        ///< what these are, without samples
};

/// A case in one run.
struct RecordedCase {
  std::string id;
  CaseKey key;
  Why trouble;  ///< why it has no times, for a wrong result has none; nothing when it is ok
  std::vector<RecordedTime> times;
};

/// What a history keeps of a run, which is little beside its samples.
struct RecordedRun {
  RunSummary summary;
  bool quick = false;
  MachineFacts facts{};
  std::map<std::string, FamilyInfo> families;
  std::vector<RecordedCase> cases;
};

/// Of a run with its variation (derive_variation()); `name` is what the reader calls it.
[[nodiscard]] RecordedRun recorded_run(const Run& run, const std::string& name);

/// A run's place in a history. Runs are numbered from 1 in the order in which they started.
struct HistoryRun {
  RunSummary summary;
  bool quick = false;
  std::size_t machine = 0;  ///< index into History::machines
};

/// One time of a case in one of its machine's runs; or why it has none there.
struct HistoryPoint {
  std::size_t run = 0;  ///< index into History::runs
  Value time;
};

/// A change, or what was found instead of one.
struct HistoryChange {
  std::size_t from = 0;  ///< the last run of the old time; index into History::runs
  std::size_t to = 0;    ///< the first of the new one
  ToldBy told_by = ToldBy::neighbours;
  double ratio = 1;  ///< the new time over the old one
  SpeedUp speed_up{};
};

/// One time of a case over the runs of a machine; at least two runs have it.
struct HistorySeries {
  std::string metric;  ///< total_time, and step_time; op_time, and group_time beside it where that says more;
                       ///< or group_time alone as soon as one run's op time says little
  std::string op;      ///< empty: the whole case
  std::vector<HistoryPoint> points;    ///< one for each run of the machine
  std::vector<HistoryChange> changes;  ///< faster and slower, ascending
  HistoryChange overall;               ///< the first run that has the time against the last one

  [[nodiscard]] const HistoryPoint& first() const;
  [[nodiscard]] const HistoryPoint& last() const;
  /// How many runs have the time.
  [[nodiscard]] std::size_t timed() const;
};

struct HistoryCase {
  std::string id;
  CaseKey key;
  std::vector<HistorySeries> series;

  [[nodiscard]] std::size_t changes() const;
};

/// A machine, and what its runs say together: times of different machines are never joined.
struct HistoryMachine {
  std::string name;
  MachineFacts facts{};            ///< what any of its runs knows
  std::vector<std::size_t> runs;   ///< indices into History::runs
  std::vector<HistoryCase> cases;  ///< those with a series; in the order in which they first appear
  std::size_t in_one_run = 0;      ///< cases that have a time in a single run
};

struct History {
  Thresholds thresholds{};
  std::vector<HistoryRun> runs;          ///< ascending by their start
  std::vector<HistoryMachine> machines;  ///< in the order of their first runs
  std::map<std::string, Words> words;    ///< of each family, as its newest run speaks
  std::vector<std::string> told_apart;   ///< which runs are of different machines and why, as sentences

  [[nodiscard]] std::size_t series() const;
  /// Series with a change.
  [[nodiscard]] std::size_t changed() const;
};

/// How the family of a case speaks.
[[nodiscard]] const Words& words_of(const History& history, const HistoryCase& c);

/// Throws Error(usage) for fewer than two runs and for a pattern or an op that no run has, and
/// Error(incomparable) with the reasons where no time is in two runs of one machine.
[[nodiscard]] History history_of(std::vector<RecordedRun> runs, const HistoryOptions& options);

}  // namespace mprof
