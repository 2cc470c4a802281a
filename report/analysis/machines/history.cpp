// SPDX-License-Identifier: MIT
#include "report/analysis/machines/history.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "model/rounds.hpp"
#include "report/text/format.hpp"
#include "system/error.hpp"
#include "system/glob.hpp"
#include "system/suggest.hpp"

namespace mprof {
namespace {

const std::string whole_case = "total";  // as --op has it

std::string name_of(const RecordedTime& time) {
  return time.op.empty() ? whole_case : time.op;
}

std::string numbered_run(std::size_t index) {
  return fmt::format("run {}", index + 1);
}

// --- What is kept of a run

Why why_without_times_in(const Case& c) {
  return {Because::case_ended, {std::string(to_string(case_status(c))), case_reason(c)}};
}

RecordedCase recorded_case(const Case& c) {
  RecordedCase recorded{c.id, c.key, {}, {}};
  if (case_status(c) != Status::ok) {
    recorded.trouble = why_without_times_in(c);
    return recorded;
  }
  for (const OpInfo& op : c.ops) {
    const Value time = value_of(c, "op_time", op.name), grouped = value_of(c, "group_time", op.name);
    // A range of a program has no other time.
    const bool is_by_group = comparable_time(c, op.name) == "group_time" || (!time && grouped);
    recorded.times.push_back({op.name, time, grouped, is_by_group, holds_copies(c, op.name)});
  }
  RecordedTime& whole = recorded.times.emplace_back();
  whole.time = value_of(c, "total_time");
  if (const Measurement* const steps = find_measurement(c, "step_time")) {
    whole.step_time = value_of(c, "step_time");
    whole.steps.derived.own().step = steps->derived->step;
  }
  return recorded;
}

// --- Which of it is asked for

bool any_matches(const std::vector<std::string>& patterns, const std::string& id) {
  return patterns.empty() ||
         std::ranges::any_of(patterns, [&](const std::string& pattern) { return matches(pattern, id); });
}

void require_each_pattern(const std::vector<RecordedRun>& runs, const std::vector<std::string>& patterns) {
  std::set<std::string> known;
  for (const RecordedRun& run : runs) {
    for (const RecordedCase& c : run.cases) known.insert(c.key.variant);
  }
  for (const std::string& pattern : patterns) {
    if (std::ranges::any_of(known, [&](const std::string& id) { return matches(pattern, id); })) continue;
    throw Error(ExitCode::usage,
                fmt::format("--variant {}: no run has such a variant.{} They have {}{}.", pattern,
                            did_you_mean(pattern, {known.begin(), known.end()}),
                            format::plural(known.size(), "variant"),
                            known.empty() ? "" : ", such as " + format::one_line(*known.begin())));
  }
}

void require_op(const std::vector<RecordedRun>& runs, const std::string& op) {
  std::set<std::string> known{whole_case};
  for (const RecordedRun& run : runs) {
    for (const RecordedCase& c : run.cases) {
      for (const RecordedTime& time : c.times) known.insert(format::one_line(name_of(time)));
    }
  }
  if (op.empty() || known.contains(op)) return;
  throw Error(ExitCode::usage,
              fmt::format("--op {}: no run has such an op.{} They have {}.", op,
                          did_you_mean(op, {known.begin(), known.end()}), fmt::join(known, ", ")));
}

void keep_what_is_asked(RecordedRun& run, const HistoryOptions& options) {
  std::erase_if(run.cases,
                [&](const RecordedCase& c) { return !any_matches(options.variants, c.key.variant); });
  if (options.op.empty()) return;
  for (RecordedCase& c : run.cases)
    std::erase_if(c.times, [&](const RecordedTime& time) { return name_of(time) != options.op; });
}

// --- Machines

/// The first machine that nothing tells from the run's: it learns from the run what it did not know. A new
/// one where there is none.
std::size_t machine_for(const RecordedRun& run, std::vector<HistoryMachine>& machines) {
  const auto same = std::ranges::find_if(machines, [&](const HistoryMachine& machine) {
    return machine_differences(machine.facts, run.facts, "", "").empty();
  });
  const auto index = static_cast<std::size_t>(same - machines.begin());
  if (same == machines.end()) machines.emplace_back();
  HistoryMachine& machine = machines[index];
  for (std::size_t i = 0; i < run.facts.size(); ++i) {
    if (machine.facts[i].empty()) machine.facts[i] = run.facts[i];
  }
  machine.name = run.summary.machine;
  return index;
}

void find_machines(History& history, const std::vector<RecordedRun>& runs) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::size_t machine = machine_for(runs[i], history.machines);
    history.machines[machine].runs.push_back(i);
    history.runs.push_back({runs[i].summary, runs[i].quick, machine});
    for (const auto& [id, family] : runs[i].families) history.words.insert_or_assign(id, Words(family, {}));
  }
}

std::vector<std::string> why_told_apart(const std::vector<HistoryMachine>& machines) {
  std::vector<std::string> sentences;
  for (std::size_t b = 1; b < machines.size(); ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      const std::string run_a = numbered_run(machines[a].runs[0]), run_b = numbered_run(machines[b].runs[0]);
      sentences.push_back(fmt::format(
          "{} and {} are of different machines: {}.", format::sentence_case(run_a), run_b,
          fmt::join(machine_differences(machines[a].facts, machines[b].facts, run_a, run_b), "; ")));
    }
  }
  return sentences;
}

// --- Series

/// A case in each run of a machine; nullptr where a run has not got it.
using CaseInRuns = std::vector<const RecordedCase*>;

const RecordedTime* time_in(const RecordedCase* c, const std::string& op) {
  if (c == nullptr) return nullptr;
  const auto found = std::ranges::find(c->times, op, &RecordedTime::op);
  return found == c->times.end() ? nullptr : &*found;
}

/// The newest run's steps are those that are followed.
const Measurement* followed_steps(const CaseInRuns& in_runs) {
  for (auto c = in_runs.rbegin(); c != in_runs.rend(); ++c) {
    const RecordedTime* const time = time_in(*c, "");
    if (time != nullptr && time->step_time) return &time->steps;
  }
  return nullptr;
}

const Value& value_of(const RecordedTime& time, std::string_view metric, const Measurement* steps) {
  static const Value other_steps = absent_value(Because::other_steps);
  static const Value none = absent_value(Because::not_recorded);
  if (metric == "group_time") return time.group_time;
  if (metric != "step_time") return time.time;
  if (time.steps.derived->step.empty() || steps == nullptr) return none;
  return have_like_steps(time.steps, *steps) ? time.step_time : other_steps;
}

Value value_in(const RecordedCase* c, const std::string& op, std::string_view metric,
               const Measurement* steps) {
  if (c == nullptr) return absent_value(Because::not_in_run);
  if (!c->trouble.empty()) return absent_value(c->trouble);
  const RecordedTime* time = time_in(c, op);
  if (time == nullptr) return absent_value(Because::no_such_op_in_run);
  const Value& value = value_of(*time, metric, steps);
  return value && !(value->median > 0) ? absent_value(Because::time_of_zero) : value;
}

/// The times of an op, or of the whole case, that are followed: as compare() has them.
std::vector<std::string> metrics_of(const CaseInRuns& in_runs, const std::string& op) {
  if (op.empty() && followed_steps(in_runs) == nullptr) return {"total_time"};
  if (op.empty()) return {"total_time", "step_time"};
  const auto in_any = [&](bool RecordedTime::*what) {
    return std::ranges::any_of(in_runs, [&](const RecordedCase* c) {
      const RecordedTime* time = time_in(c, op);
      return time != nullptr && time->*what;
    });
  };
  if (in_any(&RecordedTime::is_by_group)) return {"group_time"};
  if (in_any(&RecordedTime::holds_copies)) return {"op_time", "group_time"};
  return {"op_time"};
}

HistorySeries series_of(const CaseInRuns& in_runs, const std::string& metric, const std::string& op,
                        const std::vector<std::size_t>& runs) {
  HistorySeries series{.metric = metric, .op = op, .points = {}, .changes = {}, .overall = {}};
  const Measurement* const steps = followed_steps(in_runs);
  for (std::size_t i = 0; i < runs.size(); ++i)
    series.points.push_back({runs[i], value_in(in_runs[i], op, metric, steps)});
  return series;
}

/// In the order in which the runs name them, the whole case last.
std::vector<std::string> ops_in(const CaseInRuns& in_runs) {
  std::vector<std::string> ops;
  bool whole = false;
  for (const RecordedCase* c : in_runs) {
    if (c == nullptr) continue;
    for (const RecordedTime& time : c->times) {
      whole = whole || time.op.empty();
      if (!time.op.empty() && std::ranges::find(ops, time.op) == ops.end()) ops.push_back(time.op);
    }
  }
  if (whole) ops.emplace_back();
  return ops;
}

void add_cases(HistoryMachine& machine, const std::vector<RecordedRun>& runs) {
  std::vector<CaseKey> order;
  std::map<CaseKey, CaseInRuns> cases;
  for (std::size_t i = 0; i < machine.runs.size(); ++i) {
    for (const RecordedCase& c : runs[machine.runs[i]].cases) {
      const auto [place, is_new] = cases.try_emplace(c.key, machine.runs.size(), nullptr);
      if (is_new) order.push_back(c.key);
      place->second[i] = &c;
    }
  }
  for (const CaseKey& key : order) {
    const CaseInRuns& in_runs = cases.at(key);
    HistoryCase of_case{{}, key, {}};
    bool once = false;
    for (const std::string& op : ops_in(in_runs)) {
      for (const std::string& metric : metrics_of(in_runs, op)) {
        HistorySeries series = series_of(in_runs, metric, op, machine.runs);
        once = once || series.timed() == 1;
        if (series.timed() >= 2) of_case.series.push_back(std::move(series));
      }
    }
    const auto newest = std::find_if(in_runs.rbegin(), in_runs.rend(), [](auto* c) { return c != nullptr; });
    of_case.id = (*newest)->id;
    machine.in_one_run += of_case.series.empty() && once ? 1 : 0;
    if (!of_case.series.empty()) machine.cases.push_back(std::move(of_case));
  }
}

// --- Judgement

/// What may have changed in one series, as runs of the history.
std::vector<std::pair<HistoryChange, TimePair>> possible_in(const HistorySeries& series) {
  std::vector<std::size_t> runs;
  std::vector<Estimate> times;
  for (const HistoryPoint& point : series.points) {
    if (!point.time) continue;
    runs.push_back(point.run);
    times.push_back(*point.time);
  }
  std::vector<std::pair<HistoryChange, TimePair>> all;
  for (PossibleChange& possible : possible_changes(times)) {
    const double ratio = possible.times.after->median / possible.times.before->median;
    all.emplace_back(HistoryChange{runs[possible.before], runs[possible.after], possible.told_by, ratio, {}},
                     std::move(possible.times));
  }
  return all;
}

/// The one that spans the series comes last; it is a change of its own only where no other is.
void take(HistorySeries& series, std::vector<HistoryChange> judged) {
  series.overall = judged.back();
  for (HistoryChange& change : judged) {
    const bool counts = change.told_by != ToldBy::ends || series.changes.empty();
    if (counts && is_change(change.speed_up.verdict)) series.changes.push_back(std::move(change));
  }
}

std::vector<HistorySeries*> all_series(History& history) {
  std::vector<HistorySeries*> all;
  for (HistoryMachine& machine : history.machines) {
    for (HistoryCase& c : machine.cases) {
      for (HistorySeries& series : c.series) all.push_back(&series);
    }
  }
  return all;
}

/// All series of all cases of all machines, together.
void judge_series(History& history) {
  std::vector<TimePair> pairs;
  std::vector<std::vector<HistoryChange>> possible;
  for (const HistorySeries* series : all_series(history)) {
    possible.emplace_back();
    for (auto& [change, times] : possible_in(*series)) {
      possible.back().push_back(std::move(change));
      pairs.push_back(std::move(times));
    }
  }
  std::vector<SpeedUp> judged = judge_together(pairs, history.thresholds);
  std::size_t next = 0, at = 0;
  for (HistorySeries* series : all_series(history)) {
    for (HistoryChange& change : possible[at]) change.speed_up = std::move(judged[next++]);
    take(*series, std::move(possible[at++]));
  }
}

[[noreturn]] void refuse_history(const History& history) {
  std::string reason = "no case has a time in two of them";
  if (history.machines.size() > 1) reason += " that come from one machine";
  for (const std::string& sentence : history.told_apart)
    reason += ". " + sentence.substr(0, sentence.size() - 1);
  throw Error(ExitCode::incomparable,
              fmt::format("the {} have no history: {}. Run the same variants and problems again on one "
                          "machine.",
                          format::plural(history.runs.size(), "run"), reason));
}

}  // namespace

RecordedRun recorded_run(const Run& run, const std::string& name) {
  RecordedRun recorded{summary_of(run, name), run.plan.quick, machine_facts(run), {}, {}};
  for (const FamilyInfo& family : run.families) recorded.families.emplace(family.id, family);
  for (const Case& c : run.cases) recorded.cases.push_back(recorded_case(c));
  return recorded;
}

const HistoryPoint& HistorySeries::first() const {
  return *std::ranges::find_if(points, [](const HistoryPoint& point) { return bool(point.time); });
}

const HistoryPoint& HistorySeries::last() const {
  return *std::find_if(points.rbegin(), points.rend(),
                       [](const HistoryPoint& point) { return bool(point.time); });
}

std::size_t HistorySeries::timed() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(points, [](const HistoryPoint& point) { return bool(point.time); }));
}

std::size_t HistoryCase::changes() const {
  std::size_t number = 0;
  for (const HistorySeries& one : series) number += one.changes.size();
  return number;
}

std::size_t History::series() const {
  std::size_t number = 0;
  for (const HistoryMachine& machine : machines) {
    for (const HistoryCase& c : machine.cases) number += c.series.size();
  }
  return number;
}

std::size_t History::changed() const {
  std::size_t number = 0;
  for (const HistoryMachine& machine : machines) {
    for (const HistoryCase& c : machine.cases)
      number += static_cast<std::size_t>(
          std::ranges::count_if(c.series, [](const HistorySeries& one) { return !one.changes.empty(); }));
  }
  return number;
}

const Words& words_of(const History& history, const HistoryCase& c) {
  static const Words plain;
  const auto found = history.words.find(family_of(c.key.variant));
  return found == history.words.end() ? plain : found->second;
}

History history_of(std::vector<RecordedRun> runs, const HistoryOptions& options) {
  if (runs.size() < 2)
    throw Error(ExitCode::usage,
                fmt::format("a history needs two runs or more, and {} given. Name more result "
                            "directories.",
                            runs.empty() ? "none was" : "one was"));
  require_each_pattern(runs, options.variants);
  require_op(runs, options.op);
  for (RecordedRun& run : runs) keep_what_is_asked(run, options);
  std::ranges::stable_sort(runs, {}, [](const RecordedRun& run) { return run.summary.started; });
  History history{
      .thresholds = options.thresholds, .runs = {}, .machines = {}, .words = {}, .told_apart = {}};
  find_machines(history, runs);
  history.told_apart = why_told_apart(history.machines);
  for (HistoryMachine& machine : history.machines) add_cases(machine, runs);
  if (history.series() == 0) refuse_history(history);
  judge_series(history);
  return history;
}

}  // namespace mprof
