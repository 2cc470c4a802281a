// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/analysis/machines/environment.hpp"
#include "report/text/format.hpp"
#include "report/views/fleet_charts.hpp"
#include "report/views/table.hpp"
#include "report/views/views.hpp"
#include "report/wording/fleet.hpp"

namespace mprof {
namespace {

using nlohmann::json;

std::size_t bad_in(const FleetOfModel& fleet) {
  return static_cast<std::size_t>(std::ranges::count_if(fleet.verdicts, &FleetVerdict::is_bad));
}

Cell standing_cell(const FleetVerdict& verdict) {
  const Tone tone = verdict.is_bad() ? Tone::bad : verdict.once ? Tone::plain : Tone::quiet;
  return Cell::words(fleet_standing(verdict), tone);
}

constexpr const char* not_compared = "it has no time that five machines have";

Cell performance_cell(const FleetVerdict& verdict) {
  if (verdict.times == 0) return Cell::missing(not_compared);
  return Cell::figure(format::percent(verdict.performance)).valued(verdict.performance);
}

Cell deviations_cell(const FleetVerdict& verdict) {
  if (verdict.times == 0) return Cell::missing(not_compared);
  if (!std::isfinite(verdict.deviations)) return Cell::missing("all others are exactly alike");
  return Cell::figure(format::fixed(verdict.deviations, 1)).valued(verdict.deviations);
}

/// All machines, what is bad first. Of a UUID so much that it tells: a whole one makes rows of four lines.
Table machines_table(const FleetOfModel& fleet, Anchors& anchors) {
  constexpr std::size_t telling = std::string_view("GPU-01234567").size();
  std::vector<FleetFact> known;
  for (const FleetFact& fact : fleet_facts()) {
    if (fleet.usual_facts.contains(std::string(fact.name))) known.push_back(fact);
  }
  Table table(anchors.make("machines of " + fleet.model),
              fmt::format("All machines with {}, what is bad first", format::one_line(fleet.model)));
  table.text("Machine").text("Verdict").numbers("Performance").numbers("Deviations");
  for (const FleetFact& fact : known) table.numbers(format::sentence_case(std::string(fact.name)), fact.unit);
  table.text("GPU");
  const MachineLabels label(fleet);
  for (const FleetVerdict& verdict : fleet.verdicts) {
    const FleetMember& member = *verdict.member;
    std::vector<Cell> cells{Cell::words(label(member)), standing_cell(verdict), performance_cell(verdict),
                            deviations_cell(verdict)};
    for (const FleetFact& fact : known) {
      const auto own = member.facts.find(std::string(fact.name));
      cells.push_back(own == member.facts.end()
                          ? Cell::missing("the run did not record it")
                          : Cell::bare(Value{.estimate = Estimate{.median = own->second}, .absent = {}}));
    }
    cells.push_back(member.gpu.empty() ? Cell::dash() : Cell::words(member.gpu.substr(0, telling)));
    table.row(std::move(cells));
  }
  return table;
}

std::string several_of(const std::vector<std::string>& names) {
  constexpr std::size_t shown = 5;
  const std::vector<std::string> first(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(shown, names.size())));
  std::string text = format::one_line(format::list(first));
  if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

/// What is said of a bad machine, a sentence an item.
std::vector<std::string> details_of(const FleetOfModel& fleet, const FleetVerdict& verdict) {
  std::vector<std::string> details;
  if (const std::string cause = slow_gpu_cause(fleet, verdict); !cause.empty())
    details.push_back(fmt::format("Cause: {}.", format::one_line(cause)));
  if (verdict.slow) {
    if (const std::string facts = fleet_facts_text(fleet, *verdict.member); !facts.empty())
      details.push_back(format::sentence_case(facts) + ".");
  }
  std::vector<std::string> slow;
  for (const SlowTime& time : verdict.slow_times)
    slow.push_back(fmt::format("{} ({})", time.time, format::percent(time.performance)));
  if (!slow.empty())
    details.push_back(
        fmt::format("Slow in {} of its {} times: {}.", slow.size(), verdict.times, several_of(slow)));
  if (!verdict.other_outputs.empty())
    details.push_back(fmt::format("Other bits than the fleet's in: {}.", several_of(verdict.other_outputs)));
  if (!verdict.member->failures.empty())
    details.push_back(fmt::format("Without a verified result: {}.", several_of(verdict.member->failures)));
  if (verdict.once) details.push_back(format::sentence_case(what_tells(verdict)) + ".");
  return details;
}

json bad_machines(const FleetOfModel& fleet) {
  json list = json::array();
  const MachineLabels label(fleet);
  for (const FleetVerdict& verdict : fleet.verdicts) {
    if (!verdict.is_bad() && !verdict.once) continue;
    list.push_back({{"name", label(*verdict.member)},
                    {"gpu", format::one_line(verdict.member->gpu)},
                    {"standing", fleet_standing(verdict)},
                    {"performance", verdict.times == 0 ? "no time that five machines have"
                                                       : format::percent(verdict.performance)},
                    {"details", details_of(fleet, verdict)}});
  }
  return list;
}

json fleet_model_view(const FleetOfModel& fleet, PagePlan& plan) {
  const std::size_t bad = bad_in(fleet);
  json view{
      {"title", format::one_line(fleet.model)},
      {"anchor", plan.anchors.make("model " + fleet.model)},
      {"summary", fmt::format("{} of {} machines {} bad; {} each that five or more have, natural spread {}.",
                              bad == 0 ? "None" : format::count(bad), format::count(fleet.verdicts.size()),
                              bad == 1 ? "is" : "are", format::plural(fleet.usual_times.size(), "time"),
                              format::percent(fleet.spread))},
      {"bad", bad_machines(fleet)},
      {"chart", plan.place(fleet_chart(fleet, plan.anchors))},
      {"machines", machines_table(fleet, plan.anchors).view()}};
  view["has_bad"] = !view["bad"].empty();
  return view;
}

Table histories_table(const Fleet& fleet) {
  Table table("histories", "GPUs against their own earlier runs");
  table.text("GPU")
      .text("Run")
      .numbers("Runs")
      .text("Verdict")
      .numbers("Slower times")
      .numbers("No change above 5 %")
      .numbers("Performance");
  table.text("Since").text("Most in");
  for (const FleetHistory& history : fleet.histories) {
    std::vector<Cell> cells{
        Cell::words(history.gpu), Cell::words(history.name),
        Cell::figure(fmt::format("{}", history.runs)).valued(static_cast<double>(history.runs))};
    if (!history.absent.empty()) {
      cells.push_back(Cell::missing(history.absent));
    } else {
      cells.push_back(history.declined ? Cell::words("slower than it was", Tone::bad)
                                       : Cell::words("as before", Tone::quiet));
      cells.push_back(Cell::figure(fmt::format("{} of {}", history.declined_times.size(), history.times))
                          .valued(static_cast<double>(history.declined_times.size())));
      cells.push_back(Cell::figure(fmt::format("{} of {}", history.bounded, history.times))
                          .valued(static_cast<double>(history.bounded)));
      if (!history.declined_times.empty()) {
        const DeclinedTime& most = history.declined_times.front();
        cells.push_back(Cell::figure(format::percent(history.performance)).valued(history.performance));
        cells.push_back(Cell::words(moment(most.since)));
        cells.push_back(Cell::words(most.time));
      }
    }
    table.row(std::move(cells));
  }
  return table;
}

/// Of models of which there are too few.
json failed_machines(const Fleet& fleet) {
  json list = json::array();
  for (const FleetMember* member : fleet.failed)
    list.push_back(fmt::format("{}: {}", format::one_line(member->name), several_of(member->failures)));
  return list;
}

std::string fleet_headline(const Fleet& fleet) {
  std::size_t bad = fleet.failed.size(), all = bad, untold = 0;
  for (const FleetOfModel& model : fleet.models) {
    bad += bad_in(model);
    all += model.verdicts.size();
    untold +=
        static_cast<std::size_t>(std::ranges::count(model.verdicts, std::size_t{0}, &FleetVerdict::times));
  }
  std::string text = fmt::format("{} of {} machines {} bad.", bad == 0 ? "None" : format::count(bad),
                                 format::count(all), bad == 1 ? "is" : "are");
  if (untold > 0)
    text += fmt::format(" Of {} no speed is known: {} no time that five machines have.",
                        format::count(untold), untold == 1 ? "it has" : "they have");
  const auto declined = std::ranges::count_if(fleet.histories, &FleetHistory::declined);
  if (!fleet.histories.empty())
    text += fmt::format(" {} of {} with earlier runs {} slower than before.",
                        declined == 0 ? "None" : fmt::format("{}", declined), fleet.histories.size(),
                        declined == 1 ? "is" : "are");
  return text;
}

}  // namespace

Page fleet_page(const Fleet& fleet) {
  PagePlan plan;
  (void)plan.anchors.make("histories");
  json models = json::array();
  for (const FleetOfModel& model : fleet.models) models.push_back(fleet_model_view(model, plan));
  json view{
      {"title", "Fleet"},
      {"headline", fleet_headline(fleet)},
      {"rule",
       "Slow: below 95 % of the fleet's performance and more than 3.5 robust standard deviations off, in at "
       "least two rounds. This holds as a whole or, beyond that, in at least two and 5 % of its times. "
       "Other bits: an output with another checksum than nine in ten of the fleet."},
      {"models", std::move(models)},
      {"histories", fleet.histories.empty() ? json(false) : histories_table(fleet).view()},
      {"too_few",
       fleet.too_few.empty() ? json(false) : json(format::one_line(format::list(too_few_gpus(fleet))))},
      {"failed", failed_machines(fleet)}};
  return {std::move(view), plan.take_charts()};
}

}  // namespace mprof
