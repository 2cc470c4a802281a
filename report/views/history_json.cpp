// SPDX-License-Identifier: MIT
#include "report/views/json_parts.hpp"
#include "report/views/views.hpp"
#include "report/wording/why.hpp"

namespace mprof {
namespace {

using nlohmann::ordered_json;

/// Runs and machines are numbered from 1.
ordered_json numbers(const std::vector<std::size_t>& indices) {
  ordered_json list = ordered_json::array();
  for (const std::size_t index : indices) list.push_back(index + 1);
  return list;
}

ordered_json run_json(const HistoryRun& run, std::size_t index) {
  return {{"number", index + 1},
          {"name", run.summary.name},
          {"started", run.summary.started},
          {"version", run.summary.version},
          {"revision", run.summary.revision},
          {"machine", run.machine + 1},
          {"quick", run.quick},
          {"state", to_string(run.summary.state)}};
}

ordered_json change_json(const History& history, const HistoryChange& change) {
  return {{"from", change.from + 1},
          {"to", change.to + 1},
          {"from_revision", history.runs[change.from].summary.revision},
          {"to_revision", history.runs[change.to].summary.revision},
          {"told_by", to_string(change.told_by)},
          {"ratio", change.ratio},
          {"change", change.ratio - 1},
          {"interval", interval_json(change.speed_up.ratio_interval())},
          {"p", optional_json(change.speed_up.p)},
          {"no_change_above", optional_json(change.speed_up.no_change_above)},
          {"verdict", to_string(change.speed_up.verdict)},
          {"reason", say(change.speed_up.reason)}};
}

ordered_json series_json(const History& history, const HistorySeries& series) {
  ordered_json points = ordered_json::array(), changes = ordered_json::array();
  for (const HistoryPoint& point : series.points) {
    ordered_json one{{"run", point.run + 1}};
    one.update(value_json(point.time));
    points.push_back(std::move(one));
  }
  for (const HistoryChange& change : series.changes) changes.push_back(change_json(history, change));
  return {{"metric", series.metric},
          {"op", series.op},
          {"points", points},
          {"changes", changes},
          {"overall", change_json(history, series.overall)}};
}

ordered_json history_case_json(const History& history, const HistoryCase& c) {
  ordered_json list = ordered_json::array();
  for (const HistorySeries& series : c.series) list.push_back(series_json(history, series));
  return {{"id", c.id},
          {"variant", c.key.variant},
          {"parameters", c.key.parameters},
          {"problem", problem_json(c.key.problem)},
          {"series", list}};
}

ordered_json facts_json(const MachineFacts& facts) {
  ordered_json object = ordered_json::object();
  for (std::size_t i = 0; i < facts.size(); ++i) {
    const auto& [group, name] = identifying_facts[i];
    if (!facts[i].empty()) object[group][name] = facts[i];
  }
  return object;
}

ordered_json machine_json(const History& history, std::size_t index) {
  const HistoryMachine& machine = history.machines[index];
  ordered_json cases = ordered_json::array();
  for (const HistoryCase& c : machine.cases) cases.push_back(history_case_json(history, c));
  return {{"number", index + 1},           {"name", machine.name}, {"facts", facts_json(machine.facts)},
          {"runs", numbers(machine.runs)}, {"cases", cases},       {"cases_in_one_run", machine.in_one_run}};
}

}  // namespace

ordered_json history_json(const History& history) {
  ordered_json runs = ordered_json::array(), machines = ordered_json::array();
  for (std::size_t i = 0; i < history.runs.size(); ++i) runs.push_back(run_json(history.runs[i], i));
  for (std::size_t i = 0; i < history.machines.size(); ++i) machines.push_back(machine_json(history, i));
  return {{"schema", "mprof.history/1"},
          {"thresholds", {{"device", history.thresholds.device}, {"host", history.thresholds.host}}},
          {"series", history.series()},
          {"changed", history.changed()},
          {"runs", runs},
          {"machines", machines},
          {"told_apart", history.told_apart}};
}

}  // namespace mprof
