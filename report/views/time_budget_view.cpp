// SPDX-License-Identifier: MIT
#include "report/views/time_budget_view.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "report/analysis/program/picture.hpp"
#include "report/text/format.hpp"
#include "report/views/chart_parts.hpp"
#include "report/views/table.hpp"
#include "report/wording/time_budget.hpp"
#include "report/wording/why.hpp"

/// The time budget: a stack of 100 % for each case, and the same in a table.
namespace mprof {
namespace {

using nlohmann::json;

constexpr double seconds_in_ns = 1e-9;

double in_seconds(std::int64_t ns) {
  return static_cast<double>(ns) * seconds_in_ns;
}

std::string budget_time(std::int64_t ns) {
  return format::quantity(in_seconds(ns), Unit::second);
}

std::string budgeted_name(const CaseBudget& one) {
  if (!one.steps) return format::short_id(one.result->configuration);
  return *one.steps == 0 ? "the whole program" : format::plural(*one.steps, "steady step");
}

/// Of a program with steps: these, and the whole that they are a part of.
void add_steady_steps(const FamilyResult& family, const Evidence& evidence, BudgetComparison& comparison) {
  const auto picture = picture_of_family(family, evidence);
  if (!picture || !picture->steps || comparison.cases.size() != 1) return;
  comparison.cases.front().steps = 0;
  comparison.cases.insert(
      comparison.cases.begin(),
      {.result = picture->result, .budget = picture->budget, .steps = picture->steps->steady_steps()});
}

/// The parts that some case has.
std::vector<BudgetPart> parts_of(const BudgetComparison& comparison) {
  std::vector<BudgetPart> parts;
  for (std::size_t i = 0; i < budget_parts; ++i) {
    const auto part = static_cast<BudgetPart>(i);
    bool there = false;
    for (const CaseBudget& one : comparison.cases) there = there || one.budget->of(part) > 0;
    if (there) parts.push_back(part);
  }
  return parts;
}

// --- Sentences

/// "map/baseline: the GPU worked for 80.1 % of 12.3 ms, and had nothing to do for the rest."
std::string work_sentence(const CaseBudget& one) {
  const TimeBudget& budget = *one.budget;
  const std::int64_t kernels = budget.of(BudgetPart::kernels) + budget.of(BudgetPart::kernels_and_copies);
  const auto share = [&](std::int64_t part) {
    return format::percent(static_cast<double>(part) / static_cast<double>(budget.window));
  };
  return fmt::format(
      "{}: of {}, a kernel ran for {}, the GPU copied or set memory without one for {}, and it had nothing "
      "to do for {}.",
      budgeted_name(one), budget_time(budget.window), share(kernels),
      share(budget.window - budget.idle() - kernels), share(budget.idle()));
}

/// "Work of map/baseline runs on 2 GPUs. GPU 0: a kernel for 99.0 %, copies alone for 0.0 %, idle for 1.0 %;
/// ..."
std::string gpus_sentence(const CaseBudget& one) {
  const TimeBudget& budget = *one.budget;
  if (budget.gpus.empty()) return {};
  std::vector<std::string> gpus;
  for (const GpuShare& gpu : budget.gpus) {
    const auto share = [&](std::int64_t part) {
      return format::percent(static_cast<double>(part) / static_cast<double>(budget.window));
    };
    const std::string causes = idle_causes(gpu.idle, budget.window);
    gpus.push_back(fmt::format("GPU {}: a kernel for {}, copies alone for {}, idle for {}{}", gpu.gpu,
                               share(gpu.kernels), share(gpu.copies),
                               share(budget.window - gpu.kernels - gpu.copies),
                               causes.empty() ? "" : fmt::format(" ({})", causes)));
  }
  return fmt::format(
      "Work of {} runs on {} GPUs. {}. These parts of one GPU add up to 100\u00a0%. The table and the chart "
      "count a moment as work if any GPU works, and as idle only if none does.",
      budgeted_name(one), budget.gpus.size(), fmt::join(gpus, "; "));
}

/// "Share of the traced time in kernels / in copies alone / with the GPU idle: map/baseline 80.1 / 10.2 / 9.7
/// %."
std::string in_short(const BudgetComparison& comparison) {
  std::vector<std::string> cases;
  for (const CaseBudget& one : comparison.cases) {
    const TimeBudget& budget = *one.budget;
    const std::int64_t kernels = budget.of(BudgetPart::kernels) + budget.of(BudgetPart::kernels_and_copies);
    const auto percent = [&](std::int64_t part) {
      return format::fixed(100 * static_cast<double>(part) / static_cast<double>(budget.window), 1);
    };
    if (budget.gpus.empty())
      cases.push_back(fmt::format("{} {} / {} / {}\u00a0%", budgeted_name(one), percent(kernels),
                                  percent(budget.window - budget.idle() - kernels), percent(budget.idle())));
    for (const GpuShare& gpu : budget.gpus)
      cases.push_back(fmt::format("{} GPU {} {} / {} / {}\u00a0%", budgeted_name(one), gpu.gpu,
                                  percent(gpu.kernels), percent(gpu.copies),
                                  percent(budget.window - gpu.kernels - gpu.copies)));
  }
  return format::one_line(
      fmt::format("Share of the traced time in kernels / in copies alone / with the GPU idle: {}.",
                  fmt::join(cases, "; ")));
}

/// How far the traced execution stands for the timed ones.
std::string traced_sentence(const Words& words, const CaseBudget& one) {
  if (one.steps.value_or(0) > 0) return {};
  const CaseResult& result = *one.result;
  const Value& total = result.total_time;
  std::string text;
  const PassResult* const traced = find_pass(*result.source, Pass::trace);
  if (const bool is_program = traced != nullptr && traced->outcome; is_program && total) {
    const bool is_of_all =
        one.budget->of(BudgetPart::idle_before) + one.budget->of(BudgetPart::idle_start) > 0;
    return fmt::format("Untraced, {} takes {} from its start to its end. The trace covers {}, {}.",
                       one.steps ? "the whole program"
                                 : fmt::format("the whole {} of {}", words.whole(), budgeted_name(one)),
                       format::quantity(total->median, Unit::second),
                       format::quantity(in_seconds(one.budget->window), Unit::second),
                       is_of_all ? "also from its start to its end" : "from the first CUDA call to the last");
  }
  if (total && total->median > 0) {
    text = fmt::format("Untraced, the whole {} of {} takes {}, so that the traced one is {} of it",
                       words.whole(), budgeted_name(one), format::quantity(total->median, Unit::second),
                       format::percent(in_seconds(one.budget->window) / total->median));
  }
  if (result.trace_overhead) {
    text += text.empty() ? "The ops of " + budgeted_name(one) : "; its ops";
    text += result.trace_overhead_is_noise
                ? " took as long traced as untraced, within noise"
                : fmt::format(" took {} {} traced than untraced",
                              format::percent(std::abs(result.trace_overhead->median - 1)),
                              result.trace_overhead->median < 1 ? "less" : "longer");
  }
  if (text.empty()) {
    if (find_pass(*result.source, Pass::timing) == nullptr) return {};  // the report says so of the whole run
    return fmt::format("How much longer {} takes for being traced is not known: {}.", budgeted_name(one),
                       say(result.trace_overhead.absent));
  }
  return text + ".";
}

std::string chosen_sentence(const CaseBudget& one) {
  const TimeBudget& budget = *one.budget;
  if (budget.executions == 1) return {};
  return fmt::format(
      "The trace holds {} executions of {}; shown is number {}, whose length is the median one.",
      format::count(budget.executions), budgeted_name(one), format::count(budget.execution));
}

std::string lacking_sentence(const CaseBudget& one) {
  if (one.budget->lacking == 0) return {};
  return fmt::format("The trace of {} lacks {}: part of what looks idle may have been work.",
                     budgeted_name(one), format::plural(one.budget->lacking, "record"));
}

/// Which calls of the operating system the host was in. Empty where it was in none that kept the GPU idle.
std::string system_sentence(const CaseBudget& one) {
  constexpr std::size_t most = 3;
  const TimeBudget& budget = *one.budget;
  const std::int64_t idle = budget.of(BudgetPart::idle_system);
  if (idle == 0) return {};
  std::vector<std::string> calls;
  for (const SystemTime& call : budget.system) {
    if (calls.size() < most) calls.push_back(fmt::format("{} {}", call.name, budget_time(call.time)));
  }
  if (budget.system.size() > most) calls.push_back(format::plural(budget.system.size() - most, "other name"));
  return fmt::format("{}: for {} the GPU was idle while the host was in calls of the operating system: {}.",
                     budgeted_name(one), budget_time(idle), format::list(calls));
}

std::string paused_sentence(const BudgetComparison& comparison) {
  std::vector<std::string> pauses;
  for (const CaseBudget& one : comparison.cases) {
    if (one.budget->paused > 0)
      pauses.push_back(fmt::format("{} of {}", budget_time(one.budget->paused), budgeted_name(one)));
  }
  if (pauses.empty()) return {};
  return fmt::format(
      "What mprof itself did between two stages, such as flushing the caches, is left out: {}.",
      format::list(pauses));
}

std::string faster_sentence(const BudgetComparison& comparison) {
  if (comparison.faster == nullptr) return {};
  return fmt::format("{} is faster still ({} untraced), but has no trace to show.",
                     format::short_id(comparison.faster->configuration),
                     format::quantity(comparison.faster->total_time->median, Unit::second));
}

json budget_sentences(const Words& words, const BudgetComparison& comparison) {
  json list = json::array();
  const auto add = [&](const std::string& sentence) {
    if (!sentence.empty()) list.push_back(format::one_line(sentence));
  };
  for (const CaseBudget& one : comparison.cases) {
    add(one.budget->gpus.empty() ? work_sentence(one) : gpus_sentence(one));
  }
  for (const CaseBudget& one : comparison.cases) add(system_sentence(one));
  for (const CaseBudget& one : comparison.cases) add(traced_sentence(words, one));
  for (const CaseBudget& one : comparison.cases) add(chosen_sentence(one));
  add(faster_sentence(comparison));
  add(paused_sentence(comparison));
  for (const CaseBudget& one : comparison.cases) add(lacking_sentence(one));
  return list;
}

// --- Chart

json budget_point(std::size_t row, const TimeBudget& budget, BudgetPart part) {
  const std::string share = format::percent(budget.share(part));
  return {{"row", row},
          {"value", 100 * budget.share(part)},
          {"text", share},
          {"hover",
           fmt::format("{}, {} of {}", budget_time(budget.of(part)), share, budget_time(budget.window))}};
}

json budget_chart(const FamilyResult& family, const BudgetComparison& comparison, const std::string& id) {
  json rows = json::array(), series = json::array();
  for (const CaseBudget& one : comparison.cases)
    rows.push_back(format::elide(budgeted_name(one), longest_chart_label));
  for (const BudgetPart part : parts_of(comparison)) {
    json points = json::array();
    for (std::size_t row = 0; row < comparison.cases.size(); ++row) {
      const TimeBudget& budget = *comparison.cases[row].budget;
      if (budget.of(part) > 0) points.push_back(budget_point(row, budget, part));
    }
    series.push_back({{"name", part_name(part)},
                      {"place", static_cast<std::size_t>(part)},
                      {"points", std::move(points)}});
  }
  const bool is_of_steps = comparison.cases.front().steps.has_value();
  const ChartText text{"Where the time goes " + family.words.at(comparison.problem),
                       is_of_steps ? "Of one traced execution the steady steps, and all of it. "
                                     "Each bar is 100 %, whatever time it stands for."
                                   : "One traced execution of each, all of it 100 %. All bars are equally "
                                     "long, whatever time they stand for; the table has the times.",
                       "% of the traced execution"};
  json chart = chart_view("stacked_bars", id, text);
  chart["palette"] = "budget";
  chart["longest"] = 100;
  chart["alt"] = alternative(text.title, rows);
  chart["rows"] = std::move(rows);
  chart["series"] = std::move(series);
  return chart;
}

// --- Table

Cell budget_time_cell(std::int64_t ns) {
  Cell cell;
  cell.number = in_seconds(ns);
  return cell;
}

Cell budget_share_cell(double share) {
  return Cell::figure(format::percent(share)).valued(share);
}

json budget_table(const FamilyResult& family, const BudgetComparison& comparison, Anchors& anchors) {
  Table table(
      anchors.make(family.id + " time budget table"),
      fmt::format("Where the time of one traced execution goes {}", family.words.at(comparison.problem)));
  table.text("Part");
  for (const CaseBudget& one : comparison.cases)
    table.numbers(budgeted_name(one), Unit::second).numbers("Share of " + budgeted_name(one));
  for (const BudgetPart part : parts_of(comparison)) {
    std::vector<Cell> cells{Cell::words(format::sentence_case(std::string(part_name(part))))};
    for (const CaseBudget& one : comparison.cases) {
      cells.push_back(budget_time_cell(one.budget->of(part)));
      cells.push_back(budget_share_cell(one.budget->share(part)));
    }
    table.row(std::move(cells));
  }
  std::vector<Cell> whole{Cell::words("All of it")};
  for (const CaseBudget& one : comparison.cases) {
    whole.push_back(budget_time_cell(one.budget->window));
    whole.push_back(budget_share_cell(1));
  }
  table.row(std::move(whole));
  return table.view();
}

}  // namespace

std::vector<std::string> largest_parts(const TimeBudget& budget, std::size_t most) {
  std::array<BudgetPart, budget_parts> order{};
  for (std::size_t i = 0; i < budget_parts; ++i) order.at(i) = static_cast<BudgetPart>(i);
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](BudgetPart part) { return budget.of(part); });
  std::vector<std::string> parts;
  for (const BudgetPart part : order) {
    if (parts.size() == most || budget.of(part) == 0) break;
    parts.push_back(fmt::format("{} {}", part_phrase(part), format::percent(budget.share(part))));
    if (part != BudgetPart::idle_host || budget.host_outside_ops == 0) continue;
    const std::string all = format::percent(budget.share(part));
    const std::string outside =
        format::percent(static_cast<double>(budget.host_outside_ops) / static_cast<double>(budget.window));
    parts.back() += outside == all ? " (outside the ops)" : fmt::format(" ({} outside the ops)", outside);
  }
  return parts;
}

std::string idle_causes(const std::array<std::int64_t, budget_parts>& parts, std::int64_t window) {
  constexpr std::string_view lead = "idle: ";
  std::vector<std::pair<std::int64_t, std::string>> causes;
  for (std::size_t i = 0; i < budget_parts; ++i) {
    const auto part = static_cast<BudgetPart>(i);
    if (is_idle(part) && parts.at(i) > 0)
      causes.emplace_back(-parts.at(i), std::string(part_name(part).substr(lead.size())));
  }
  std::ranges::sort(causes);
  std::vector<std::string> texts;
  for (const auto& [time, cause] : causes)
    texts.push_back(fmt::format("{} {}", cause,
                                format::percent(static_cast<double>(-time) / static_cast<double>(window))));
  return fmt::format("{}", fmt::join(texts, ", "));
}

json time_budget_view(const FamilyResult& family, const Evidence& evidence, PagePlan& plan) {
  BudgetComparison comparison = compare_budgets(family, evidence);
  add_steady_steps(family, evidence, comparison);
  json view{{"anchor", plan.anchors.make(family.id + " time budget")},
            {"absent", ""},
            {"in_short", ""},
            {"sentences", json::array()},
            {"charts", json::array()},
            {"table", false}};
  if (comparison.cases.empty()) {
    view["absent"] = format::sentence_case(say(comparison.absent));
    return view;
  }
  view["in_short"] = in_short(comparison);
  view["sentences"] = budget_sentences(family.words, comparison);
  const std::string id = plan.anchors.make(family.id + " time budget chart");
  view["charts"].push_back(plan.place(budget_chart(family, comparison, id)));
  view["table"] = budget_table(family, comparison, plan.anchors);
  return view;
}

}  // namespace mprof
