// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "report/analysis/judgement/judgement.hpp"
#include "report/analysis/standing/brief.hpp"
#include "report/analysis/standing/standings.hpp"
#include "report/analysis/standing/synergy.hpp"
#include "report/text/format.hpp"
#include "report/views/answer_sentences.hpp"
#include "report/views/brief_head.hpp"
#include "report/views/cells.hpp"
#include "report/views/table.hpp"
#include "report/views/views.hpp"
#include "report/wording/judgement.hpp"
#include "report/wording/sanitizer.hpp"
#include "report/wording/why.hpp"

/// The answer: which variant is best, by how much, and whether it is still right.
namespace mprof {
namespace {

using nlohmann::json;

std::string without_problem(const std::string& case_id) {
  return format::short_id(case_id.substr(0, case_id.rfind('@')));
}

/// Over the first of its baselines, where that is another one than its own.
SpeedUp over_another(const FamilyResult& family, const Best& best) {
  const std::string first = first_baseline(family, best.fastest->key.variant);
  if (best.fastest->is_baseline || without_problem(best.fastest->baseline) == format::short_id(first))
    return {};
  return over_first_baseline(family, *best.fastest, best.op);
}

/// " (95 %: 14.1–14.5×)", and where there is no verdict, so.
std::string certainty_text(const SpeedUp& speed_up) {
  if (speed_up.is_open_by_disturbance()) return fmt::format(" ({})", disturbed_words);
  if (const std::string despite = despite_text(speed_up); !despite.empty())
    return fmt::format(" ({})", despite);
  if (!speed_up.interval) return {};
  const auto& [low, high] = *speed_up.interval;
  const bool tells_nothing = speed_up.verdict == Verdict::inconclusive && low <= 1 && high >= 1;
  return fmt::format(" (95 %: {}{})", format::times(low, high), tells_nothing ? ", no verdict" : "");
}

/// "1.23 ms, 14.3× as fast as its baseline map/cpu_naive (95 %: 14.1–14.5×) and 26.5× as fast as
/// map/baseline"
std::string measured(const FamilyResult& family, const Best& best) {
  const SpeedUp& own = best.speed_up();
  std::string text = format::quantity(best.time()->median, Unit::second);
  if (!own) return text + (best.fastest->is_baseline ? ", the baseline itself" : "");
  text += fmt::format(", {} as fast as its baseline {}", format::times(*own.factor),
                      without_problem(best.fastest->baseline));
  const SpeedUp first = over_another(family, best);
  if (!(own.is_open_by_disturbance() && first.is_open_by_disturbance())) text += certainty_text(own);
  if (!first) return text;
  text += fmt::format(" and {} as fast as {}", format::times(*first.factor),
                      format::short_id(first_baseline(family, best.fastest->key.variant)));
  return !first.disturbed.empty() ? text + certainty_text(first) : text;
}

/// " (tied with 3 others)", where the measurement cannot say that nothing else is as fast.
std::string level_text(const FamilyResult& family, const Answers& answers, const Winner& winner) {
  std::vector<Problem> level;
  std::size_t others = 0;
  for (const Best* best : answers.best) {
    const bool is_its_own = std::ranges::find(winner.problems, best->problem) != winner.problems.end();
    if (!is_its_own || best->level.empty()) continue;
    level.push_back(best->problem);
    others = best->level.size();
  }
  if (level.empty()) return {};
  if (level.size() < winner.problems.size())
    return fmt::format(" (tied with others {})", family.words.at(level));
  return level.size() == 1 ? fmt::format(" (tied with {})", format::plural(others, "other"))
                           : " (tied with others)";
}

/// " is fastest", and of how many where the report leaves some out. What was disturbed only looks so.
std::string fastest_words(const FamilyResult& family, const Answers& answers) {
  const bool is_sure = std::ranges::all_of(answers.best, [](const Best* best) { return best->is_clear; });
  const std::string words = is_sure ? " is fastest" : " has the shortest median";
  const std::size_t shown = family.variants.size();
  return family.measured <= shown
             ? words
             : fmt::format("{} of {} shown, {} measured,", words, shown, family.measured);
}

/// What the only one that was measured takes at the largest problem.
std::string alone_on(const FamilyResult& family, const std::string& op, const Best& best) {
  return fmt::format("{}: {} takes {} {}; nothing else was measured.", timed_name(family, op),
                     format::short_id(best.fastest->configuration),
                     format::quantity(best.time()->median, Unit::second), family.words.at(best.problem));
}

/// Where no op time can be compared: the shortest of those with all copies, at the largest problem.
std::string sentence_by_group_time(const FamilyResult& family, const std::string& op) {
  const auto best = std::find_if(family.best.rbegin(), family.best.rend(), [&](const Best& candidate) {
    return candidate.op == op && !candidate.left_out.empty();
  });
  if (best == family.best.rend()) return {};
  const auto time = [&](const CaseResult* result) -> const Value& { return result->find_op(op)->group_time; };
  std::vector<const CaseResult*> compared = best->left_out;
  std::erase_if(compared, [&](const CaseResult* result) {
    return result->find_op(op)->compared_by != "group_time" || !time(result);
  });
  if (compared.size() < 2) return {};
  const CaseResult* const shortest =
      *std::ranges::min_element(compared, {}, [&](const CaseResult* result) { return time(result)->median; });
  const auto level = std::ranges::count_if(compared, [&](const CaseResult* result) {
    return result != shortest && is_level(time(result), time(shortest));
  });
  return fmt::format(
      "{}: no op time can be compared; {} has the shortest median of {} {}{}, {}, of {}.",
      timed_name(family, op), format::short_id(shortest->configuration), family.words.time("group_time"),
      family.words.at(best->problem),
      level == 0 ? ""
                 : fmt::format(" (tied with {})", format::plural(static_cast<std::size_t>(level), "other")),
      format::quantity(time(shortest)->median, Unit::second), compared.size());
}

/// Who wins where, and by how much at the largest problem.
std::string sentence_on(const FamilyResult& family, const std::string& op) {
  const Answers answers = answers_for(family, op);
  if (answers.best.empty()) return sentence_by_group_time(family, op);
  if (family.has_one_configuration()) return alone_on(family, op, *answers.best.back());
  const std::size_t all = answers.best.size();
  std::vector<std::string> who;
  for (const Winner& winner : answers.winners) {
    const bool everywhere = winner.problems.size() == all && all > 1;
    who.push_back(fmt::format("{}{} {}{}", format::short_id(winner.configuration),
                              who.empty() ? fastest_words(family, answers) : "",
                              everywhere ? "at " + family.words.every() : family.words.at(winner.problems),
                              level_text(family, answers, winner)));
  }
  const Best& largest = *answers.best.back();
  const std::string where = all == 1 ? "where" : "and " + family.words.at(largest.problem);
  const std::string it = answers.winners.size() > 1 ? format::short_id(largest.fastest->configuration) : "it";
  return fmt::format("{}: {}, {} {} takes {}.", timed_name(family, op), format::list(who), where, it,
                     measured(family, largest));
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
    notes.push_back("tied with it (difference within noise or " + thresholds_text() +
                    "): " + names_of(best.level));
  if (!best.left_out.empty())
    notes.push_back("left out, since their op times say little: " + names_of(best.left_out));
  return fmt::format("{}", fmt::join(notes, "; "));
}

/// "tied with 3 others"; empty where nothing is.
std::string level_words(const Best& best) {
  return best.level.empty() ? "" : fmt::format("tied with {}", format::plural(best.level.size(), "other"));
}

Cell winner_cell(const Best& best) {
  Cell cell = Cell::words(format::short_id(best.fastest->configuration)).noted(winner_note(best));
  if (!best.level.empty()) cell.detail = level_words(best);
  return cell;
}

Table best_table(const FamilyResult& family, Anchors& anchors) {
  Table table(anchors.make(family.id + " best"),
              fmt::format("Best variant for each op and {}", family.words.one()));
  table.text("Op");
  add_problem_columns(table, family.words);
  table.text("Best variant").numbers("Time", Unit::second);
  table.numbers("Speed-up").text("over its baseline").numbers("Over the first baseline");
  table.numbers("Of the machine's peak");
  for (const Best& best : family.best) {
    std::vector<Cell> cells{Cell::words(timed_name(family, best.op))};
    add_problem(cells, family.words, best.problem);
    if (best.fastest == nullptr) {
      cells.resize(cells.size() + 6, Cell::missing(best.time().absent));
    } else {
      for (Cell& cell : std::array{winner_cell(best), Cell::value(best.time()), over(best),
                                   Cell::words(without_problem(best.fastest->baseline)),
                                   over_first(family, best), nearness(best)})
        cells.push_back(std::move(cell));
    }
    table.row(std::move(cells));
  }
  return table;
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
    for (Cell& cell : std::array{winner_cell(step.cpu), Cell::value(step.cpu.time()), winner_cell(step.gpu),
                                 Cell::value(step.gpu.time()), Cell::speed_up(step.speed_up)})
      cells.push_back(std::move(cell));
    table.row(std::move(cells));
  }
  return table;
}

/// Of the best, where it computes less precisely than the common baseline must; else nullptr.
const Leader* less_precise(const Brief& brief, const Best& best) {
  const auto leader = std::ranges::find_if(brief.leaders, [&](const Leader& one) {
    return one.best->op == best.op && one.best->problem == best.problem && one.as_tight != nullptr;
  });
  return leader == brief.leaders.end() ? nullptr : &*leader;
}

/// The answer at the largest problem, for the cards at the top of the page.
json highlights(const FamilyResult& family, const Brief& brief) {
  json cards = json::array();
  for (const std::string& op : timed_of(family)) {
    const Answers answers = answers_for(family, op);
    if (answers.best.empty()) continue;
    const Best& best = *answers.best.back();
    const bool everywhere = answers.best.size() > 1 && answers.winners.size() == 1;
    const auto leader = std::ranges::find_if(brief.leaders, [&](const Leader& one) {
      return one.best->op == op && one.over && one.best->problem == best.problem;
    });
    const Leader* const loose = less_precise(brief, best);
    const bool is_common = leader != brief.leaders.end();  // the baseline that all are compared with first
    const SpeedUp& over = is_common ? leader->over : best.speed_up();
    const std::string baseline = without_problem(best.fastest->baseline);
    const std::string against = is_common ? format::short_id(brief.common->info.id) : baseline;
    const std::string despite = over ? despite_text(over) : "";
    const bool is_sure = over.interval && !over.is_open_by_disturbance() && despite.empty();
    cards.push_back({{"what", timed_name(family, op)},
                     {"problem", family.words.problem(best.problem)},
                     {"variant", format::short_id(best.fastest->configuration)},
                     {"precision", loose == nullptr ? "" : precision_label(loose->precision)},
                     {"time", format::quantity(best.time()->median, Unit::second)},
                     {"speed_up", over ? format::times(*over.factor) : ""},
                     {"interval", is_sure ? format::times(over.interval->low, over.interval->high) : ""},
                     {"no_verdict", over.is_open_by_disturbance() ? std::string(disturbed_words) : despite},
                     {"baseline", against},
                     {"tight", loose == nullptr ? "" : tight_factor_text(*loose)},
                     {"over_own", best.speed_up() && against != baseline
                                      ? fmt::format("{} as fast as its baseline {}",
                                                    format::times(*best.speed_up().factor), baseline)
                                      : ""},
                     {"standing", family.has_one_configuration() ? "nothing else was measured"
                                  : best.fastest->is_baseline    ? "the baseline itself"
                                                                 : ""},
                     {"everywhere", !best.level.empty() ? level_words(best)
                                    : everywhere        ? "and at every other " + family.words.one()
                                                        : ""}});
  }
  return cards;
}

}  // namespace

namespace {

std::string no_answer(const FamilyResult& family) {
  if (family.all_are(&VariantInfo::is_imported))
    return "Nothing was timed without a profiler, so there is no best variant.";
  if (family.all_are(&VariantInfo::is_program))
    return "No program ran to its end as it should, so no time counts.";
  return "No case gave a verified time, so there is no best variant.";
}

}  // namespace

json answer_view(const FamilyResult& family, const Brief& brief, Anchors& anchors) {
  json sentences = json::array();
  for (const std::string& op : timed_of(family)) {
    const std::string sentence = sentence_on(family, op);
    if (!sentence.empty()) sentences.push_back(sentence);
  }
  if (sentences.empty()) sentences.push_back(no_answer(family));
  json remarks = json::array();
  const auto add = [&](const std::string& sentence) {
    if (!sentence.empty()) remarks.push_back(sentence);
  };
  add(device_sentence(family));
  add(remainder_sentence(family));
  add(unswept_sentence(family));
  for (const QualityRange& range : quality_ranges(family)) add(quality_sentence(family, range));
  add(verification_sentence(family));
  add(sanitizer_sentence(family.sanitizer));
  const json cards = highlights(family, brief);
  json tables = json::array({best_table(family, anchors).view()});
  if (!family.device_steps.empty()) tables.push_back(device_table(family, anchors).view());
  json lists = json::array();
  for (const NamedList& list : unswept_lists(family)) {
    if (!is_cut(list.items)) continue;
    lists.push_back(
        {{"title", fmt::format("{}: all {}", list.title, list.items.size())}, {"items", list.items}});
  }
  return {{"family", format::one_line(family.id)},
          {"cards", cards},
          {"has_cards", !cards.empty()},
          {"sentences", sentences},
          {"remarks", remarks},
          {"lists", lists},
          {"has_lists", !lists.empty()},
          {"tables", tables}};
}

}  // namespace mprof
