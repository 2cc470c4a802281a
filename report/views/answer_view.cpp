#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "report/analysis/standings.hpp"
#include "report/analysis/synergy.hpp"
#include "report/text/format.hpp"
#include "report/views/cells.hpp"
#include "report/views/table.hpp"
#include "report/views/views.hpp"

/// The answer: which variant is best, by how much, and whether it is still right.
namespace mprof {
namespace {

using nlohmann::json;

std::string timed_name(const FamilyResult& family, const std::string& op) {
  return op.empty() ? "whole " + family.words.whole() : format::short_id(op);
}

std::string without_problem(const std::string& case_id) {
  return format::short_id(case_id.substr(0, case_id.rfind('@')));
}

/// "26.5× as fast as map/baseline", where that is another one than its own baseline.
std::string first_baseline_text(const FamilyResult& family, const Best& best) {
  const std::string first = first_baseline(family, best.fastest->key.variant);
  const SpeedUp gain = over_first_baseline(family, *best.fastest, best.op);
  if (best.fastest->is_baseline || without_problem(best.fastest->baseline) == format::short_id(first) ||
      !gain)
    return {};
  return fmt::format("{} as fast as {}", format::times(*gain.factor), format::short_id(first));
}

/// "1.23 ms, 14.3× as fast as its baseline map/cpu_naive (95 %: 14.1–14.5×)"
std::string measured(const FamilyResult& family, const Best& best) {
  std::string text = format::quantity(best.time()->median, Unit::second);
  if (!best.speed_up()) return text + (best.fastest->baseline.empty() ? ", the baseline itself" : "");
  text += fmt::format(", {} as fast as its baseline {}", format::times(*best.speed_up().factor),
                      without_problem(best.fastest->baseline));
  if (const auto& interval = best.speed_up().interval) {
    text += fmt::format(" (95 %: {})", format::times(interval->low, interval->high));
  }
  const std::string first = first_baseline_text(family, best);
  return first.empty() ? text : fmt::format("{} and {}", text, first);
}

/// Who wins where, and by how much at the largest problem.
std::string sentence_on(const FamilyResult& family, const std::string& op) {
  const Answers answers = answers_for(family, op);
  if (answers.best.empty()) return {};
  const std::size_t all = answers.best.size();
  std::vector<std::string> who;
  for (const Winner& winner : answers.winners) {
    const bool everywhere = winner.problems.size() == all && all > 1;
    who.push_back(fmt::format("{}{} {}", format::short_id(winner.configuration),
                              who.empty() ? " is fastest" : "",
                              everywhere ? "at " + family.words.every() : family.words.at(winner.problems)));
  }
  const Best& largest = *answers.best.back();
  const std::string where = all == 1 ? "where" : "and " + family.words.at(largest.problem);
  return fmt::format("{}: {}, {} it takes {}.", timed_name(family, op), format::list(who), where,
                     measured(family, largest));
}

/// "Error is kept: 0.9127 at size 10000 over 4 verified variants."
std::string quality_sentence(const FamilyResult& family, const QualityRange& range) {
  const Unit unit = range.info->unit;
  const std::string values = range.lowest == range.highest
                                 ? format::quality(range.lowest, unit)
                                 : fmt::format("{} to {}", format::quality(range.lowest, unit),
                                               format::quality(range.highest, unit));
  return fmt::format("{} {}: {} {} over {}.", format::one_line(range.info->label),
                     range.kept ? "is kept" : "is not kept", values, family.words.at(range.problem),
                     format::plural(range.variants, "verified variant"));
}

/// What the fastest ops leave to win in the whole.
std::string remainder_sentence(const FamilyResult& family) {
  const auto fastest = fastest_ops(family);
  if (!fastest) return {};
  const Words& words = family.words;
  const CaseResult& result = *fastest->result;
  const bool one_op = family.ops.size() == 1;
  const std::string rest = words.has_group() ? "the other " + words.groups() : "what else it does";
  return fmt::format(
      "{}: {} of the {} that the whole {} takes with it {} ({}). {} alone cannot save more than that: the "
      "rest "
      "is copies, allocation and {}.",
      one_op ? "The op of " + format::short_id(result.configuration) + " is the fastest"
             : "The ops of " + format::short_id(result.configuration) + " are the fastest together",
      format::quantity(fastest->time, Unit::second),
      format::quantity(result.total_time->median, Unit::second), words.whole(), words.at(result.key.problem),
      format::percent(fastest->share), one_op ? "A faster op" : "Faster ops", rest);
}

std::string verification_sentence(const FamilyResult& family) {
  const VerificationSummary& sum = family.verified;
  if (sum.outputs == 0) return "No output was verified.";
  const bool right = sum.all_passed();
  return fmt::format("Outputs are {}: {} of {} against the double-precision reference {}.",
                     right ? "right" : "wrong", right ? sum.passed : sum.outputs - sum.passed,
                     format::plural(sum.outputs, "verification"), right ? "passed" : "failed");
}

std::vector<std::string> timed_of(const FamilyResult& family) {
  std::vector<std::string> timed;
  for (const OpInfo& op : family.ops) timed.push_back(op.name);
  timed.emplace_back();
  return timed;
}

/// How near the fastest comes to what the machine can do, by the nearest of its limits.
Cell nearness(const Best& best) {
  const OpResult* op = best.fastest->find_op(best.op);
  if (op == nullptr) return Cell::words("");  // the whole is no op with work of its own
  const NearestLimit nearest = nearest_limit(*op);
  if (!nearest.throughput) return Cell::missing(nearest.throughput.absent);
  const double percent = nearest.throughput->median;
  Cell cell =
      Cell::figure(format::percent(percent / 100), std::string(short_name(nearest.limit))).valued(percent);
  cell.modelled = true;
  return cell;
}

Cell over(const Best& best) {
  if (best.speed_up()) {
    const auto& interval = best.speed_up().interval;
    Cell cell = Cell::speed_up(best.speed_up());
    if (interval) cell.detail = fmt::format("({})", format::times(interval->low, interval->high));
    return cell;
  }
  return best.fastest->is_baseline ? Cell::words("baseline", Tone::quiet).valued(1)
                                   : Cell::missing(best.speed_up().absent);
}

/// Where its own baseline builds on another one, the way from the beginning is the longer one.
Cell over_first(const FamilyResult& family, const Best& best) {
  if (best.fastest->is_baseline) return Cell::words("baseline", Tone::quiet);
  return Cell::speed_up(over_first_baseline(family, *best.fastest, best.op));
}

std::string names_of(const std::vector<const CaseResult*>& cases) {
  std::vector<std::string> names;
  for (const CaseResult* other : cases) names.push_back(format::short_id(other->configuration));
  return format::list(names);
}

std::string winner_note(const Best& best) {
  std::vector<std::string> notes;
  if (!best.level.empty())
    notes.push_back("not told from it by more than noise or " + threshold_text() + ": " +
                    names_of(best.level));
  if (!best.left_out.empty())
    notes.push_back("left out for working outside forward(): " + names_of(best.left_out));
  return fmt::format("{}", fmt::join(notes, "; "));
}

Table best_table(const FamilyResult& family, Anchors& anchors) {
  Table table(anchors.make(family.id + " best"),
              fmt::format("Best variant for each op and {}", family.words.one()));
  table.text("Op");
  add_problem_columns(table, family.words);
  table.text("Best variant").numbers("Median time", Unit::second);
  table.numbers("Speed-up").text("over its baseline").numbers("Over the first baseline");
  table.numbers("Of the machine's peak");
  for (const Best& best : family.best) {
    std::vector<Cell> cells{Cell::words(timed_name(family, best.op))};
    add_problem(cells, family.words, best.problem);
    if (best.fastest == nullptr) {
      cells.resize(cells.size() + 6, Cell::missing(best.time().absent));
    } else {
      for (Cell& cell : std::array{
               Cell::words(format::short_id(best.fastest->configuration)).noted(winner_note(best)),
               Cell::value(best.time()), over(best), Cell::words(without_problem(best.fastest->baseline)),
               over_first(family, best), nearness(best)})
        cells.push_back(std::move(cell));
    }
    table.row(std::move(cells));
  }
  return table;
}

/// "map from 24.13 ms (map/threads) to 438.2 µs (map/vectors), 55.1× as fast"
std::string step_text(const FamilyResult& family, const DeviceStep& step) {
  const auto side = [](const Best& best) {
    return fmt::format("{} ({})", format::quantity(best.time()->median, Unit::second),
                       format::short_id(best.fastest->configuration));
  };
  const bool told = is_change(step.speed_up.verdict) || step.speed_up.verdict == Verdict::same;
  return fmt::format("{} from {} to {}, {} as fast{}", timed_name(family, step.cpu.op), side(step.cpu),
                     side(step.gpu), format::times(*step.speed_up.factor),
                     told ? "" : " (not sure: " + step.speed_up.reason + ")");
}

/// What the step from the CPU to the GPU gives at the largest problem of a run that measured on both.
std::string device_sentence(const FamilyResult& family) {
  std::vector<std::string> parts;
  const Problem* largest = nullptr;
  for (const DeviceStep& step : family.device_steps) {
    if (largest == nullptr || *largest < step.cpu.problem) largest = &step.cpu.problem;
  }
  for (const DeviceStep& step : family.device_steps) {
    if (step.cpu.problem == *largest && step.speed_up) parts.push_back(step_text(family, step));
  }
  if (parts.empty()) return {};
  return fmt::format(
      "From the CPU to the GPU, the best of each {}: {}. An op's time on the GPU holds no copy, that of the "
      "whole {} holds them all.",
      family.words.at(*largest), fmt::join(parts, "; "), family.words.whole());
}

Table device_table(const FamilyResult& family, Anchors& anchors) {
  Table table(anchors.make(family.id + " devices"), "From the CPU to the GPU: the best variant of each");
  table.text("Op");
  add_problem_columns(table, family.words);
  table.text("Best on the CPU").numbers("Time on the CPU", Unit::second);
  table.text("Best on the GPU").numbers("Time on the GPU", Unit::second).numbers("Speed-up");
  for (const DeviceStep& step : family.device_steps) {
    std::vector<Cell> cells{Cell::words(timed_name(family, step.cpu.op))};
    add_problem(cells, family.words, step.cpu.problem);
    for (Cell& cell : std::array{Cell::words(format::short_id(step.cpu.fastest->configuration)),
                                 Cell::value(step.cpu.time()),
                                 Cell::words(format::short_id(step.gpu.fastest->configuration)),
                                 Cell::value(step.gpu.time()), Cell::speed_up(step.speed_up)})
      cells.push_back(std::move(cell));
    table.row(std::move(cells));
  }
  return table;
}

/// The answer at the largest problem, for the cards at the top of the page.
json highlights(const FamilyResult& family) {
  json cards = json::array();
  for (const std::string& op : timed_of(family)) {
    const Answers answers = answers_for(family, op);
    if (answers.best.empty()) continue;
    const Best& best = *answers.best.back();
    const bool everywhere = answers.best.size() > 1 && answers.winners.size() == 1;
    const auto& interval = best.speed_up().interval;
    cards.push_back({{"what", timed_name(family, op)},
                     {"problem", family.words.problem(best.problem)},
                     {"variant", format::short_id(best.fastest->configuration)},
                     {"time", format::quantity(best.time()->median, Unit::second)},
                     {"speed_up", best.speed_up() ? format::times(*best.speed_up().factor) : ""},
                     {"interval", interval ? format::times(interval->low, interval->high) : ""},
                     {"baseline", without_problem(best.fastest->baseline)},
                     {"over_first", first_baseline_text(family, best)},
                     {"is_baseline", best.fastest->is_baseline},
                     {"everywhere", everywhere ? "and at every other " + family.words.one() : ""}});
  }
  return cards;
}

}  // namespace

json answer_view(const FamilyResult& family, Anchors& anchors) {
  json sentences = json::array();
  for (const std::string& op : timed_of(family)) {
    const std::string sentence = sentence_on(family, op);
    if (!sentence.empty()) sentences.push_back(sentence);
  }
  if (sentences.empty()) sentences.push_back("No case gave a verified time, so there is no best variant.");
  json remarks = json::array();
  const auto add = [&](const std::string& sentence) {
    if (!sentence.empty()) remarks.push_back(sentence);
  };
  add(device_sentence(family));
  add(remainder_sentence(family));
  for (const QualityRange& range : quality_ranges(family)) add(quality_sentence(family, range));
  add(verification_sentence(family));
  add(sanitizer_sentence(family.sanitizer));
  const json cards = highlights(family);
  json tables = json::array({best_table(family, anchors).view()});
  if (!family.device_steps.empty()) tables.push_back(device_table(family, anchors).view());
  return {{"family", format::one_line(family.id)},
          {"cards", cards},
          {"has_cards", !cards.empty()},
          {"sentences", sentences},
          {"remarks", remarks},
          {"tables", tables}};
}

}  // namespace mprof
