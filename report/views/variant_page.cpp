// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "report/text/format.hpp"
#include "report/views/cells.hpp"
#include "report/views/variant_parts.hpp"
#include "report/wording/why.hpp"

/// The times of a variant as a hand-in shows them: without it, with it, and how many times as fast.
namespace mprof {
namespace {

/// By what each op is compared; group_time as soon as one problem's op time says little.
std::string compared_by(const VariantResult& variant, const std::string& op) {
  for (const CaseResult& result : variant.cases) {
    const OpResult* found = result.find_op(op);
    if (found != nullptr && found->compared_by == "group_time") return found->compared_by;
  }
  return "op_time";
}

const Value& time_by(const OpResult& op, const std::string& metric) {
  return metric == "group_time" ? op.group_time : op.op_time;
}

/// "Op" or "Stage": in this table each column is a time.
std::string short_title(const FamilyResult& family, const std::string& metric) {
  return metric == "group_time" ? format::sentence_case(family.words.group()) : "Op";
}

Cell time_cell(const CaseResult* result, const std::string& op, const std::string& metric) {
  if (result == nullptr) return Cell::missing("its baseline was not run there");
  if (op.empty()) return judged(Cell::bare(result->total_time), *result);
  const OpResult* found = result->find_op(op);
  return found == nullptr ? Cell::missing("the case has no such op")
                          : judged(Cell::bare(time_by(*found, metric)), *result);
}

/// To three digits: more than a time's interval leaves would say nothing.
std::string rate_text(double rate) {
  const double step = std::pow(10, std::max(std::floor(std::log10(rate)) - 2, 0.0));
  return format::significant(std::round(rate / step) * step, 3);
}

/// Items a second, of the whole.
Cell rate_cell(const CaseResult& result) {
  const double items = result.ops.empty() ? 0 : result.ops.front().info.items;
  if (!(items > 0)) return Cell::missing("the run does not say how many there are");
  if (!result.total_time) return Cell::missing(result.total_time.absent);
  const double rate = items / result.total_time->median;
  return judged(Cell::figure(rate_text(rate)).valued(rate), result);
}

/// What an op does a second, in what is known of it: items, arithmetic or bytes; and in which unit it is
/// said. 0: nothing tells.
struct Rate {
  double value = 0;
  Unit unit = Unit::count;
};

Rate rate_of(const OpResult* op, const std::string& metric) {
  if (op == nullptr) return {};
  const Value& time = time_by(*op, metric);
  if (!time || !(time->median > 0)) return {};
  if (op->info.items > 0) return {op->info.items / time->median, Unit::count};
  if (op->info.flops > 0) return {op->info.flops / time->median, Unit::flop_per_second};
  return {op->info.bytes / time->median, Unit::byte_per_second};
}

/// "map 1.13× to 3.02 TFLOP/s"; empty where a side has no such rate.
std::string scaled(const FamilyResult& family, const CaseResult& small, const CaseResult& large,
                   const std::pair<std::string, std::string>& timed) {
  const auto& [op, metric] = timed;
  const Rate from = rate_of(small.find_op(op), metric), to = rate_of(large.find_op(op), metric);
  if (!(from.value > 0) || !(to.value > 0) || from.unit != to.unit) return {};
  const std::string what =
      from.unit == Unit::count ? " " + format::one_line(family.info.nouns.items) + "/s" : "";
  const std::string rate = from.unit == Unit::count ? rate_text(to.value) : format::about(to.value, to.unit);
  return fmt::format("{} {} to {}{}", format::short_id(op), format::times(to.value / from.value), rate, what);
}

/// In parentheses where the two times cannot be told apart.
Cell told_cell(const SpeedUp& speed_up) {
  Cell cell = Cell::speed_up(speed_up);
  if (speed_up && speed_up.verdict == Verdict::inconclusive) cell.text = fmt::format("({})", cell.text);
  return cell;
}

bool counts_items(const VariantResult& variant) {
  return std::ranges::any_of(variant.cases, [](const CaseResult& result) {
    return !result.ops.empty() && result.ops.front().info.items > 0;
  });
}

/// Whether the baseline that it declares was run where it was.
bool has_baseline_beside(const FamilyResult& family, const VariantResult& variant) {
  return std::ranges::any_of(family.problems, [&](const Problem& problem) {
    const CaseResult* result = variant.representative(problem);
    return result != nullptr && family.find(result->baseline) != nullptr;
  });
}

}  // namespace

Table page_table(const FamilyResult& family, const VariantResult& variant, Anchors& anchors) {
  const bool has_baseline = has_baseline_beside(family, variant), counted = counts_items(variant);
  Table table(anchors.make(variant.info.id + " page"),
              has_baseline
                  ? fmt::format("Without it ({}) and with it", format::one_line(variant.info.baseline))
                  : "Times by " + family.words.axis_titles());
  add_problem_columns(table, family.words);
  std::vector<std::pair<std::string, std::string>> timed;  // op and metric
  for (const OpInfo& op : family.ops) timed.emplace_back(op.name, compared_by(variant, op.name));
  timed.emplace_back("", "total_time");
  for (std::size_t i = 0; i < timed.size(); ++i) {
    const auto& [op, metric] = timed[i];
    const std::string title =
        op.empty() ? "Total" : numbered(short_title(family, metric), i, family.ops.size());
    if (has_baseline) {
      table.numbers(title + " without", Unit::second).numbers("with", Unit::second).numbers("×");
    } else {
      table.numbers(title, Unit::second);
    }
  }
  if (!family.info.qualities.empty()) table.numbers(format::one_line(family.info.qualities.front().label));
  if (counted) table.numbers(format::sentence_case(family.info.nouns.items) + "/s (total)");
  for (const Problem& problem : family.problems) {
    const CaseResult* result = variant.representative(problem);
    if (result == nullptr) continue;
    std::vector<Cell> cells;
    add_problem(cells, family.words, problem);
    if (!result->ran()) {
      if (cells.empty()) cells.push_back(Cell::dash());
      cells.back().note = why_without_times(*result);
      table.row(std::move(cells));
      continue;
    }
    if (variant.swept() && !cells.empty()) cells.back().note = format::short_id(result->configuration);
    const CaseResult* before = family.find(result->baseline);
    for (const auto& [op, metric] : timed) {
      if (has_baseline) cells.push_back(time_cell(before, op, metric));
      cells.push_back(time_cell(result, op, metric));
      if (!has_baseline) {
        if (cells.back().note.empty() && !variant.info.baseline.empty())
          cells.back().note = say(result->total_speed_up.absent);
        continue;
      }
      const OpResult* found = result->find_op(op);
      cells.push_back(op.empty()         ? told_cell(result->total_speed_up)
                      : found != nullptr ? told_cell(found->speed_up)
                                         : Cell::missing("the case has no such op"));
    }
    if (!result->qualities.empty()) {
      const QualityResult& quality = result->qualities.front();
      cells.push_back(judged(Cell::quality(quality.value, quality.info->unit), *result));
    }
    if (counted) cells.push_back(rate_cell(*result));
    table.row(std::move(cells));
  }
  return table;
}

std::string scaling_text(const FamilyResult& family, const VariantResult& variant) {
  std::vector<const CaseResult*> timed;
  for (const Problem& problem : family.problems) {
    const CaseResult* result = variant.representative(problem);
    if (result != nullptr && result->ok()) timed.push_back(result);
  }
  if (timed.size() < 2) return {};
  std::vector<std::string> rates;
  for (const OpInfo& op : family.ops) {
    std::string text =
        scaled(family, *timed.front(), *timed.back(), {op.name, compared_by(variant, op.name)});
    if (!text.empty()) rates.push_back(std::move(text));
  }
  if (rates.empty()) return {};
  return fmt::format("Scaling, from {} to {}: {}.", family.words.problem(timed.front()->key.problem),
                     family.words.problem(timed.back()->key.problem), fmt::join(rates, ", "));
}

}  // namespace mprof
