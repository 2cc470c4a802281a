// SPDX-License-Identifier: MIT
#include "report/views/views.hpp"
#include "report/wording/fleet.hpp"

namespace mprof {
namespace {

using nlohmann::ordered_json;

ordered_json slow_json(const SlowTime& slow) {
  return {{"time", slow.time}, {"performance", slow.performance}, {"deviations", slow.deviations}};
}

ordered_json machine_json(const FleetOfModel& fleet, const FleetVerdict& verdict) {
  ordered_json slow = ordered_json::array();
  for (const SlowTime& time : verdict.slow_times) slow.push_back(slow_json(time));
  return {{"run", verdict.member->name},
          {"part", verdict.member->part},
          {"gpu", verdict.member->gpu},
          {"started", verdict.member->started},
          {"times", verdict.times},
          {"performance", verdict.times > 0 ? ordered_json(verdict.performance) : ordered_json(nullptr)},
          {"deviations", verdict.times > 0 ? ordered_json(verdict.deviations) : ordered_json(nullptr)},
          {"slow", verdict.slow},
          {"once", verdict.once},
          {"cause", slow_gpu_cause(fleet, verdict)},
          {"slow_times", std::move(slow)},
          {"other_outputs", verdict.other_outputs},
          {"failures", verdict.member->failures},
          {"facts", verdict.member->facts}};
}

ordered_json fleet_model_json(const FleetOfModel& model) {
  ordered_json machines = ordered_json::array();
  for (const FleetVerdict& verdict : model.verdicts) machines.push_back(machine_json(model, verdict));
  return {{"model", model.model},
          {"times", model.usual_times.size()},
          {"spread", model.spread},
          {"facts", model.usual_facts},
          {"machines", std::move(machines)}};
}

ordered_json gpu_history_json(const FleetHistory& history) {
  ordered_json declined = ordered_json::array();
  for (const DeclinedTime& time : history.declined_times)
    declined.push_back({{"time", time.time}, {"performance", time.performance}, {"since", time.since}});
  ordered_json data{{"run", history.name},
                    {"gpu", history.gpu},
                    {"runs", history.runs},
                    {"times", history.times},
                    {"no_change_above_5_percent", history.bounded},
                    {"declined", history.declined},
                    {"performance", history.performance},
                    {"declined_times", std::move(declined)}};
  if (!history.absent.empty()) data["absent"] = history.absent;
  return data;
}

}  // namespace

ordered_json fleet_json(const Fleet& fleet) {
  ordered_json models = ordered_json::array(), histories = ordered_json::array();
  for (const FleetOfModel& model : fleet.models) models.push_back(fleet_model_json(model));
  for (const FleetHistory& history : fleet.histories) histories.push_back(gpu_history_json(history));
  ordered_json failed = ordered_json::array();
  for (const FleetMember* member : fleet.failed)
    failed.push_back({{"run", member->name},
                      {"part", member->part},
                      {"gpu", member->gpu},
                      {"failures", member->failures}});
  return {{"schema", "mprof.fleet/1"},   {"bad", fleet.is_bad()},
          {"models", std::move(models)}, {"too_few", too_few_gpus(fleet)},
          {"failed", std::move(failed)}, {"histories", std::move(histories)}};
}

}  // namespace mprof
