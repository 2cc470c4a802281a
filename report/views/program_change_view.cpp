// SPDX-License-Identifier: MIT
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/text/format.hpp"
#include "report/views/json_parts.hpp"
#include "report/views/table.hpp"
#include "report/views/views.hpp"
#include "report/wording/launch_lines.hpp"
#include "report/wording/program_change.hpp"
#include "report/wording/time_budget.hpp"

/// Two runs of a program, a step beside a step.
namespace mprof {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::size_t longest_compared_kernel = 48;

Cell seconds_cell(double seconds) {
  return Cell::bare(derived_value(seconds));
}

Cell side_cell(const std::optional<StepShare>& share, std::string_view side) {
  return share ? seconds_cell(share->time) : Cell::missing(fmt::format("{} launches no such kernel", side));
}

Cell launches_cell(const std::optional<StepShare>& share) {
  if (!share) return Cell::dash();
  return Cell::figure(format::significant(share->launches, 3)).valued(share->launches);
}

/// The columns of both sides behind those of words.
void add_share_columns(Table& table) {
  table.numbers("A", Unit::second).numbers("B", Unit::second).numbers("Difference", Unit::second);
  table.numbers("Launches A").numbers("Launches B");
}

void add_share_row(Table& table, std::vector<Cell> words, const ShareChange& change) {
  words.push_back(side_cell(change.before, "A"));
  words.push_back(side_cell(change.after, "B"));
  words.push_back(seconds_cell(change.difference()));
  words.push_back(launches_cell(change.before));
  words.push_back(launches_cell(change.after));
  table.row(std::move(words));
}

/// Which rows a table has: all, or those that differ noticeably.
class Shown {
 public:
  Shown(const ProgramChange& change, bool all) : change_(change), all_(all) {}

  template <class Row>
  [[nodiscard]] bool operator()(const Row& row) const {
    return all_ || change_.is_noticeable(row.difference());
  }
  /// "Kernels by kind, in an average step".
  [[nodiscard]] std::string caption(std::string_view what) const {
    return fmt::format("{}, {}", what,
                       change_.is_by_step() ? "in an average step" : "from the first CUDA call to the end");
  }

 private:
  const ProgramChange& change_;
  bool all_;
};

Table budget_table(const ProgramChange& change, const std::string& id, const Shown& shown) {
  Table table(id + "-budget", shown.caption("Where the time goes"));
  table.text("The GPU").numbers("A", Unit::second).numbers("B", Unit::second);
  table.numbers("Difference", Unit::second);
  for (const BudgetChange& part : change.budget) {
    if (shown(part))
      table.row({Cell::words(part_name(part.part)), seconds_cell(part.before), seconds_cell(part.after),
                 seconds_cell(part.difference())});
  }
  if (!table.empty())
    table.row({Cell::words("the sum of all"), seconds_cell(change.before.mean),
               seconds_cell(change.after.mean), seconds_cell(change.after.mean - change.before.mean)});
  return table;
}

Table kinds_table(const ProgramChange& change, const std::string& id, const Shown& shown) {
  Table table(id + "-kinds", shown.caption("Kernels by kind"));
  table.text("Kind");
  add_share_columns(table);
  for (const KindChange& kind : change.kinds) {
    if (shown(kind)) add_share_row(table, {Cell::words(kind_name(kind.kind))}, kind);
  }
  return table;
}

Table functions_table(const ProgramChange& change, const std::string& id, const Shown& shown) {
  Table table(id + "-kernels", shown.caption("Kernels"));
  table.text("Kernel").text("Kind");
  add_share_columns(table);
  std::vector<const FunctionChange*> functions;
  std::vector<std::string> names;
  for (const FunctionChange& function : change.functions) {
    if (!shown(function)) continue;
    functions.push_back(&function);
    names.push_back(format::one_line(function.name));
  }
  names = format::elide_apart(names, longest_compared_kernel);
  for (std::size_t i = 0; i < functions.size(); ++i)
    add_share_row(table, {Cell::words(names[i]), Cell::words(kind_name(functions[i]->kind))}, *functions[i]);
  return table;
}

Table ranges_table(const ProgramChange& change, const std::string& id, const Shown& shown) {
  Table table(id + "-ranges", shown.caption("Kernels by the range that launched them"));
  table.text("Range");
  add_share_columns(table);
  for (const RangeChange& range : change.ranges) {
    if (shown(range)) add_share_row(table, {Cell::words(range_text(range))}, range);
  }
  return table;
}

Table launchers_table(const ProgramChange& change, const std::string& id, const Shown& shown) {
  Table table(id + "-launchers", shown.caption("Kernels by the function that launched them"));
  table.text("Function").text("In");
  add_share_columns(table);
  for (const LauncherChange& launcher : change.launchers) {
    if (shown(launcher))
      add_share_row(table,
                    {Cell::words(place_text(launcher.place)), Cell::words(around_place(launcher.place))},
                    launcher);
  }
  return table;
}

json tables_of(const ProgramChange& change, const std::string& id, bool all) {
  const Shown shown(change, all);
  json tables = json::array();
  for (const Table& table :
       {budget_table(change, id, shown), kinds_table(change, id, shown), functions_table(change, id, shown),
        ranges_table(change, id, shown), launchers_table(change, id, shown)}) {
    if (!table.empty()) tables.push_back(table.view());
  }
  return tables;
}

// --- As data

ordered_json share_json(const std::optional<StepShare>& share) {
  if (!share) return nullptr;
  return {{"time", share->time}, {"launches", share->launches}};
}

ordered_json compared_program_json(const ComparedProgram& side) {
  return {{"steps", side.steps},
          {"median", side.median},
          {"interval", interval_json(side.interval)},
          {"mean", side.mean},
          {"launches", side.launches},
          {"bound", bound_name(side.bound)},
          {"gain", optional_json(side.gain)},
          {"peak_memory", optional_json(side.peak_memory)},
          {"held_more", side.held_more}};
}

ordered_json functions_json(const ProgramChange& change, const std::vector<std::size_t>& places) {
  ordered_json names = ordered_json::array();
  for (const std::size_t place : places) names.push_back(change.functions.at(place).name);
  return names;
}

template <class Rows, class Row>
ordered_json changes_json(const Rows& rows, const Row& row_json) {
  ordered_json list = ordered_json::array();
  for (const auto& row : rows) list.push_back(row_json(row));
  return list;
}

}  // namespace

json program_changes_view(const Comparison& comparison, bool all) {
  json programs = json::array();
  for (const CaseComparison* c : comparison.by_importance()) {
    if (!c->program) continue;
    json lines = json::array();
    for (const LedText& line : program_change_lines(*c))
      lines.push_back({{"lead", line.lead}, {"text", line.text}});
    programs.push_back(
        {{"name", compared_name(*c)},
         {"rest", all ? "" : "Parts that differ by less than 1\u00a0% are left out: --all shows them."},
         {"lines", std::move(lines)},
         {"tables", tables_of(*c->program, format::slug(c->id), all)}});
  }
  return programs;
}

ordered_json program_change_json(const ProgramChange& change) {
  return {{"by_step", change.is_by_step()},
          {"a", compared_program_json(change.before)},
          {"b", compared_program_json(change.after)},
          {"budget",
           changes_json(
               change.budget,
               [](const BudgetChange& part) {
                 return ordered_json{{"part", part_name(part.part)}, {"a", part.before}, {"b", part.after}};
               })},
          {"kinds", changes_json(change.kinds,
                                 [&](const KindChange& kind) {
                                   return ordered_json{{"kind", kind_name(kind.kind)},
                                                       {"a", share_json(kind.before)},
                                                       {"b", share_json(kind.after)},
                                                       {"added", functions_json(change, kind.added)},
                                                       {"removed", functions_json(change, kind.removed)}};
                                 })},
          {"kernels", changes_json(change.functions,
                                   [](const FunctionChange& function) {
                                     return ordered_json{{"name", function.name},
                                                         {"kind", kind_name(function.kind)},
                                                         {"a", share_json(function.before)},
                                                         {"b", share_json(function.after)}};
                                   })},
          {"ranges", changes_json(change.ranges,
                                  [](const RangeChange& range) {
                                    return ordered_json{{"range", range.range},
                                                        {"a", share_json(range.before)},
                                                        {"b", share_json(range.after)}};
                                  })},
          {"launchers", changes_json(change.launchers, [](const LauncherChange& launcher) {
             return ordered_json{
                 {"function", launcher.place.function},
                 {"file", launcher.place.file.empty() ? launcher.place.module : launcher.place.file},
                 {"a", share_json(launcher.before)},
                 {"b", share_json(launcher.after)}};
           })}};
}

}  // namespace mprof
