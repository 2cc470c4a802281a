// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "report/analysis/machines/noise.hpp"
#include "report/text/format.hpp"
#include "report/views/cells.hpp"
#include "report/views/table.hpp"
#include "report/views/variant_parts.hpp"

/// Noise beside times: the standard deviation of their samples, and the GPU's clock while they were taken.
namespace mprof {
namespace {

Cell spreading_cell(const CaseResult& result, std::string_view metric, std::string_view op) {
  const auto spreading = spreading_of(result, metric, op);
  if (!spreading) return Cell::not_recorded("fewer than two samples");
  constexpr double fine = 0.01;  // below it one decimal would say nothing
  const double coefficient = spreading->coefficient;
  return Cell::figure(
             fmt::format("{}\u00a0%", format::fixed(100 * coefficient, coefficient < fine ? 2 : 1)),
             fmt::format("({}/{})", format::count(spreading->far_out), format::count(spreading->samples)))
      .valued(coefficient);
}

Cell clock_cell(const VariantResult& variant, const CaseResult& result) {
  if (variant.info.device != "cuda") return Cell::missing("it runs on the CPU");
  Why absent;
  const auto clock = sm_clock_of(result, absent);
  if (!clock) return Cell::missing(absent);
  constexpr double hertz_in_mhz = 1e6;
  const auto mhz = [](double hertz) { return format::fixed(hertz / hertz_in_mhz, 0); };
  return Cell::figure(mhz(clock->median), clock->lowest == clock->highest
                                              ? ""
                                              : fmt::format("{}–{}", mhz(clock->lowest), mhz(clock->highest)))
      .valued(clock->median);
}

}  // namespace

Table noise_table(const FamilyResult& family, const VariantResult& variant, Anchors& anchors) {
  Table table(anchors.make(variant.info.id + " noise"),
              "Noise: standard deviation of the samples in percent of their mean (samples far out / all "
              "samples), and the "
              "SM clock meanwhile");
  if (variant.swept()) table.text("Parameters");
  add_problem_columns(table, family.words);
  const auto add_columns = [&](std::string_view metric) {
    for (std::size_t i = 0; i < family.ops.size(); ++i)
      table.numbers(numbered(family.words.time_title(metric), i, family.ops.size()));
  };
  add_columns("op_time");
  if (family.words.has_group()) add_columns("group_time");
  table.numbers(family.words.time_title("total_time")).numbers("SM clock between samples (MHz)");
  for (const CaseResult& result : variant.cases) {
    if (!result.ran()) continue;
    std::vector<Cell> cells;
    if (variant.swept()) cells.push_back(Cell::words(parameters_text(result)));
    add_problem(cells, family.words, result.key.problem);
    const auto add_ops = [&](std::string_view metric) {
      for (const OpInfo& op : family.ops) cells.push_back(spreading_cell(result, metric, op.name));
    };
    add_ops("op_time");
    if (family.words.has_group()) add_ops("group_time");
    cells.push_back(spreading_cell(result, "total_time", ""));
    cells.push_back(clock_cell(variant, result));
    table.row(std::move(cells));
  }
  return table;
}

}  // namespace mprof
