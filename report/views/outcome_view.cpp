// SPDX-License-Identifier: MIT
#include <algorithm>
#include <functional>
#include <initializer_list>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "model/metric.hpp"
#include "report/text/format.hpp"
#include "report/views/cells.hpp"
#include "report/views/table.hpp"
#include "report/views/variant_parts.hpp"
#include "report/wording/judgement.hpp"
#include "report/wording/kernels.hpp"
#include "report/wording/why.hpp"

/// Whether a variant was successful: the verdict, what its author expected against what was measured, and
/// what holds its kernels back.
namespace mprof {
namespace {

using nlohmann::json;

std::string_view word(Direction direction) {
  switch (direction) {
    case Direction::decreases:
      return "lower";
    case Direction::increases:
      return "higher";
    case Direction::unchanged:
      break;
  }
  return "unchanged";
}

Tone tone_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::met:
      return Tone::good;
    case Outcome::not_met:
      return Tone::bad;
    case Outcome::not_told:
    case Outcome::not_measurable:
      break;
  }
  return Tone::quiet;
}

std::string elsewhere(const Words& words, const ExpectationResult& result, const ExpectationAt& decided) {
  std::vector<std::string> parts;
  for (const Outcome outcome : outcomes) {
    std::vector<Problem> problems;
    for (const ExpectationAt& judged : result.at) {
      if (judged.outcome == outcome && judged.problem != decided.problem) problems.push_back(judged.problem);
    }
    if (!problems.empty())
      parts.push_back(fmt::format("{} at {}", to_string(outcome), words.values(problems)));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

Cell quantity_cell(const FamilyResult& family, const Value& value, std::string_view metric,
                   const Origin& origin, const Why& reason) {
  if (!value) return Cell::missing(value.absent.empty() ? reason : value.absent);
  if (const QualityInfo* quality = find_quality(family.info, metric))
    return Cell::quality(value, quality->unit).noted(origin_text(origin, family.words));
  const Metric* row = find_metric(metric);
  Cell cell = Cell::figure(row == nullptr ? format::significant(value->median)
                                          : format::quantity(value->median, row->unit))
                  .valued(value->median);
  cell.modelled = value->source == Source::modelled;
  cell.note = origin_text(origin, family.words);
  return cell;
}

Cell change_cell(const ExpectationAt& judged, std::string_view metric) {
  if (!judged.before || !judged.after) return Cell::missing(judged.reason);
  const Metric* row = find_metric(metric);
  const double difference = judged.after->median - judged.before->median;
  if (row != nullptr && row->unit == Unit::percent)
    return Cell::figure(format::signed_points(difference)).valued(difference);
  if (judged.before->median == 0) return Cell::missing("nothing is a percentage of 0");
  const double change = difference / judged.before->median;
  return Cell::figure(format::signed_percent(change)).valued(change);
}

Table expectation_table(const FamilyResult& family, const VariantResult& variant, Anchors& anchors) {
  const Words& words = family.words;
  Table table(anchors.make(variant.info.id + " expectations"),
              "What its author expected, against its baseline");
  table.text("Expected").text("Outcome");
  add_problem_columns(table, words);
  table.numbers("Baseline").numbers("This variant");
  table.numbers("Change").text(fmt::format("At other {}", words.several()));
  for (const ExpectationResult& result : variant.expectations) {
    if (result.deciding() == nullptr) continue;
    const ExpectationAt& judged = *result.deciding();
    const std::string& metric = result.expectation.metric;
    Cell outcome = Cell::words(to_string(judged.outcome), tone_of(judged.outcome));
    outcome.note = say(judged.reason);
    std::vector<Cell> cells{Cell::words(expected_text(family, result.expectation)), outcome};
    add_problem(cells, words, judged.problem);
    cells.push_back(quantity_cell(family, judged.before, metric, judged.before_origin, judged.reason));
    cells.push_back(quantity_cell(family, judged.after, metric, judged.after_origin, judged.reason));
    cells.push_back(change_cell(judged, metric));
    cells.push_back(Cell::words(elsewhere(words, result, judged), Tone::quiet));
    table.row(std::move(cells));
  }
  return table;
}

/// "op time of rows: lower (12.1 → 3.4 ms)", "... (it changed by 1.87×, not by 2×)"
std::string judged_text(const FamilyResult& family, const ExpectationResult& result,
                        const ExpectationAt& judged) {
  const std::string& metric = result.expectation.metric;
  const auto figure = [&](const Value& value) { return quantity_cell(family, value, metric, {}, {}).text; };
  std::string why = say(judged.reason);
  if (judged.before && judged.after) {
    const std::string moved = fmt::format("{} → {}", figure(judged.before), figure(judged.after));
    why = why.empty() ? moved : fmt::format("{}: {}", moved, why);
  }
  Expectation of_op = result.expectation;
  of_op.op = judged.op;
  const std::string what = format::one_line(expected_text(family, of_op));
  return why.empty() ? what : fmt::format("{} ({})", what, why);
}

/// What was expected, by what became of it.
json expectation_lines(const FamilyResult& family, const VariantResult& variant) {
  json lines = json::array();
  for (const Outcome outcome : outcomes) {
    std::vector<std::string> texts;
    for (const ExpectationResult& result : variant.expectations) {
      const ExpectationAt* judged = result.deciding();
      if (judged != nullptr && judged->outcome == outcome)
        texts.push_back(judged_text(family, result, *judged));
    }
    if (!texts.empty())
      lines.push_back({{"outcome", to_string(outcome)}, {"text", fmt::format("{}", fmt::join(texts, "; "))}});
  }
  return lines;
}

/// What held the longest kernel of each op back, and what does now.
json bottleneck_views(const FamilyResult& family, const VariantResult& variant) {
  json list = json::array();
  for (const KernelResult& kernel : family.speed_of_light.kernels) {
    if (kernel.variant != &variant || !kernel.longest || !kernel.bottleneck) continue;
    list.push_back({{"op", format::one_line(kernel.counters.op)},
                    {"kernel", format::short_id(kernel.counters.kernel)},
                    {"text", bottleneck_change(kernel)}});
  }
  return list;
}

/// Less of a time is rounded to nothing.
constexpr double least_part = 0.005;

/// "Of the stage time of rows, as traced, 57 % is copying alone, 24 % the GPU waits for the host, 18 %
/// kernels alone.": of an op whose op time says little, where its kernels are not what limits it. Empty of
/// others, and where nothing was traced.
std::string budget_sentence(const FamilyResult& family, const OpResult& op, const RemainingGain& gain) {
  if (op.flaw == OpTimeFlaw::none || !gain.traced || !gain.share || !gain.copies || !gain.idle) return {};
  const double beside = 1 - *gain.share - *gain.copies - *gain.idle;
  std::vector<std::pair<double, std::string_view>> parts{{*gain.copies, "copying alone"},
                                                         {*gain.share, "kernels alone"},
                                                         {beside, "kernels beside copies"},
                                                         {*gain.idle, "the GPU waits for the host"}};
  std::erase_if(parts, [](const auto& part) { return part.first < least_part; });
  std::ranges::stable_sort(parts, std::ranges::greater{}, [](const auto& part) { return part.first; });
  std::vector<std::string> texts;
  for (const auto& [share, what] : parts)
    texts.push_back(
        fmt::format("{} {}{}", format::whole_percent(100 * share), texts.empty() ? "is " : "", what));
  return fmt::format("Of the {} of {}, as traced, {}.", family.words.time("group_time"),
                     format::short_id(op.info.name), fmt::join(texts, ", "));
}

/// An op each.
std::map<std::string, std::string> budget_sentences(const FamilyResult& family, const CaseResult& result) {
  std::map<std::string, std::string> sentences;
  for (const RemainingGain& gain : remaining_gains(family, result)) {
    const std::string text = budget_sentence(family, *result.find_op(gain.op), gain);
    if (!text.empty()) sentences[format::one_line(gain.op)] = text;
  }
  return sentences;
}

/// "rows 1.38× as fast (95 %: 1.37–1.39×)".
std::string gain_text(const Words& words, const std::string& what, const SpeedUp& speed_up,
                      std::string_view by) {
  std::string text = fmt::format("{} {} as fast", what, format::times(*speed_up.factor));
  if (speed_up.interval)
    text += fmt::format(" (95 %: {})", format::times(speed_up.interval->low, speed_up.interval->high));
  if (by == "group_time") text += " by " + words.time(by);
  return text;
}

/// The ops of a case by their verdict, in order.
std::vector<std::string> ops_that_are(Verdict verdict, const CaseResult& result) {
  std::vector<std::string> names;
  for (const OpResult& op : result.ops) {
    if (op.speed_up && op.speed_up.verdict == verdict) names.push_back(format::short_id(op.info.name));
  }
  return names;
}

/// "Yes: faster in rows and columns", "In part: ...", "No: ...", "Undecided: ..." for one problem.
std::string verdict_text(const CaseResult& result) {
  const auto faster = ops_that_are(Verdict::faster, result);
  const auto slower = ops_that_are(Verdict::slower, result);
  const auto same = ops_that_are(Verdict::same, result);
  const auto open = ops_that_are(Verdict::inconclusive, result);
  if (faster.empty() && slower.empty() && same.empty() && open.empty()) return {};
  std::vector<std::string> parts;
  if (!faster.empty()) parts.push_back("faster in " + format::list(faster));
  if (!slower.empty()) parts.push_back("slower in " + format::list(slower));
  if (!same.empty())
    parts.push_back(fmt::format("the same within {} in {}", thresholds_text(), format::list(same)));
  if (!open.empty()) parts.push_back("inconclusive in " + format::list(open));
  const std::string_view answer = faster.size() == result.ops.size() ? "Yes"
                                  : !faster.empty()                  ? "In part"
                                  : slower.empty() && !open.empty()  ? "Undecided"
                                                                     : "No";
  return fmt::format("{}: {}", answer, format::list(parts));
}

std::string gains_sentence(const Words& words, const CaseResult& result) {
  std::vector<std::string> gains;
  for (const OpResult& op : result.ops) {
    if (op.speed_up)
      gains.push_back(gain_text(words, format::short_id(op.info.name), op.speed_up, op.compared_by));
  }
  if (result.total_speed_up) gains.push_back(gain_text(words, words.timed(""), result.total_speed_up, ""));
  const std::string baseline = format::short_id(result.baseline.substr(0, result.baseline.rfind('@')));
  return gains.empty() ? "" : fmt::format("Against {}: {}.", baseline, format::list(gains));
}

/// Problems at which the verdict is another one than at the largest.
json other_verdicts(const FamilyResult& family, const VariantResult& variant, const Problem& largest,
                    const std::string& verdict) {
  json sentences = json::array();
  for (const Problem& problem : family.problems) {
    const CaseResult* result = variant.representative(problem);
    if (problem == largest || result == nullptr || !result->ok()) continue;
    const std::string here = verdict_text(*result);
    if (!here.empty() && here != verdict)
      sentences.push_back(fmt::format("{}: {}.", format::sentence_case(family.words.at(problem)), here));
  }
  return sentences;
}

/// How near a variant without a baseline comes to what the machine can do.
std::string of_possible_sentence(const CaseResult& result) {
  std::vector<std::string> parts;
  for (const OpResult& op : result.ops) {
    if (op.of_possible && !is_beyond_measured_peaks(op))
      parts.push_back(
          fmt::format("{}{} in {}", format::percent(op.of_possible->median / 100),
                      op.info.special_operations > 0 ? fmt::format(" ({})", to_string(*op.limit)) : "",
                      format::short_id(op.info.name)));
  }
  return parts.empty() ? ""
                       : fmt::format("It reaches {} of what the measured peaks allow.", format::list(parts));
}

}  // namespace

std::string short_verdict(const FamilyResult& family, const CaseResult& result) {
  using enum Verdict;
  if (result.is_baseline) return "baseline";
  std::map<Verdict, std::vector<std::string>> ops;
  bool by_group = false;
  for (const OpResult& op : result.ops) {
    if (!op.speed_up) continue;
    ops[op.speed_up.verdict].push_back(format::short_id(op.info.name));
    by_group = by_group || op.compared_by == "group_time";
  }
  if (ops.empty() && result.total_speed_up) ops[result.total_speed_up.verdict] = {};
  if (ops.empty()) return "not compared";
  const std::string id = result.baseline.substr(0, result.baseline.rfind('@'));
  const std::string baseline = format::short_id(id.substr(id.find('/') + 1));
  const std::string by = by_group ? fmt::format(" ({})", family.words.time("group_time")) : "";
  if (ops.size() == 1) {
    const Verdict verdict = ops.begin()->first;
    const std::string_view link = is_change(verdict) ? "than" : verdict == same ? "as" : "against";
    return fmt::format("{} {} {}{}", to_string(verdict), link, baseline, by);
  }
  const auto parts = [&](std::initializer_list<Verdict> verdicts) {
    std::vector<std::string> texts;
    for (const Verdict verdict : verdicts) {
      const auto found = ops.find(verdict);
      if (found != ops.end())
        texts.push_back(fmt::format("{} in {}", to_string(verdict), format::list(found->second)));
    }
    return fmt::format("{}", fmt::join(texts, ", "));
  };
  const std::string changed = parts({faster, slower}), others = parts({same, inconclusive});
  if (changed.empty()) return fmt::format("{}, against {}{}", others, baseline, by);
  return fmt::format("{} than {}{}{}{}", changed, baseline, others.empty() ? "" : ", ", others, by);
}

std::string expected_text(const FamilyResult& family, const Expectation& expectation) {
  const std::string of = expectation.op.empty() ? "" : " of " + expectation.op;
  const std::string by =
      expectation.factor ? fmt::format(", by {} or more", format::plain_times(*expectation.factor)) : "";
  const bool is_loose = expectation.direction == Direction::unchanged &&
                        find_quality(family.info, expectation.metric) == nullptr;
  return fmt::format("{}{}: {}{}{}", metric_label(family.info, family.words, expectation.metric), of,
                     word(expectation.direction), by,
                     is_loose ? fmt::format(" within {}", format::percent(noticeable_change)) : "");
}

json outcome_view(const FamilyResult& family, const VariantResult& variant, Anchors& anchors) {
  const Table expectations = expectation_table(family, variant, anchors);
  const json bottlenecks = bottleneck_views(family, variant);
  std::string verdict;
  std::vector<std::string> limits;
  const CaseResult* const largest = variant.largest_timed();
  const auto budgets =
      largest == nullptr ? std::map<std::string, std::string>() : budget_sentences(family, *largest);
  for (const json& one : bottlenecks) {
    if (!budgets.contains(one["op"].get<std::string>()))
      limits.push_back(fmt::format("{} {}", one["op"].get<std::string>(), one["text"].get<std::string>()));
  }
  json sentences = json::array(), budget = json::array();
  for (const auto& [op, text] : budgets) budget.push_back(text);
  if (const CaseResult* result = largest) {
    const Problem& problem = result->key.problem;
    verdict = verdict_text(*result);
    for (const std::string& sentence : {gains_sentence(family.words, *result), of_possible_sentence(*result)})
      if (!sentence.empty()) sentences.push_back(sentence);
    for (const json& other : other_verdicts(family, variant, problem, verdict)) sentences.push_back(other);
    if (!verdict.empty()) verdict += fmt::format(", {}.", family.words.at(problem));
  }
  return {{"verdict", verdict},
          {"sentences", sentences},
          {"expectations", expectations.empty() ? json(false) : expectations.view()},
          {"expected", expectation_lines(family, variant)},
          {"budget", budget},
          {"bottlenecks", bottlenecks},
          {"has_bottlenecks", !bottlenecks.empty()},
          {"limits", fmt::format("{}", fmt::join(limits, "; "))},
          {"counted_at", family.words.at(family.speed_of_light.problem)}};
}

}  // namespace mprof
