#include <algorithm>

#include <fmt/format.h>

#include "report/analysis/synergy.hpp"
#include "report/text/format.hpp"
#include "report/views/table.hpp"
#include "report/views/views.hpp"

/// The answer: which variant is best, by how much, and whether it is still right.
namespace mprof {
namespace {

using nlohmann::json;

std::string timed_name(const std::string& op) {
  return op.empty() ? "whole inference" : format::short_id(op);
}

std::string batch_text(std::uint64_t batch) {
  return std::to_string(batch);
}

std::string at_batches(const std::vector<std::uint64_t>& batches, std::size_t all) {
  if (batches.size() == all && all > 1) return "at every batch";
  std::vector<std::string> words;
  for (const std::uint64_t batch : batches) words.push_back(batch_text(batch));
  return fmt::format("at batch{} {}", batches.size() == 1 ? "" : "es", format::list(words));
}

std::vector<const Best*> answers_for(const FamilyResult& family, const std::string& op) {
  std::vector<const Best*> answers;
  for (const Best& best : family.best) {
    if (best.op == op && best.fastest != nullptr) answers.push_back(&best);
  }
  return answers;
}

std::string without_batch(const std::string& case_id) {
  return format::short_id(case_id.substr(0, case_id.rfind('@')));
}

/// "26.5× as fast as conv/baseline", where that is another one than its own baseline.
std::string first_baseline_text(const FamilyResult& family, const Best& best) {
  const std::string first = first_baseline(family, best.fastest->key.variant);
  const SpeedUp gain = over_first_baseline(family, *best.fastest, best.op);
  if (best.fastest->is_baseline || without_batch(best.fastest->baseline) == format::short_id(first) || !gain)
    return {};
  return fmt::format("{} as fast as {}", format::times(*gain.factor), format::short_id(first));
}

/// "1.23 ms, 14.3× as fast as its baseline conv/cpu_naive (95 %: 14.1–14.5×)"
std::string measured(const FamilyResult& family, const Best& best) {
  std::string text = format::quantity(best.time()->median, Unit::second);
  if (!best.speed_up()) return text + (best.fastest->baseline.empty() ? ", the baseline itself" : "");
  text += fmt::format(", {} as fast as its baseline {}", format::times(*best.speed_up().factor),
                      without_batch(best.fastest->baseline));
  if (const auto& interval = best.speed_up().interval) {
    text += fmt::format(" (95 %: {})", format::times(interval->low, interval->high));
  }
  const std::string first = first_baseline_text(family, best);
  return first.empty() ? text : fmt::format("{} and {}", text, first);
}

/// Who wins where, and by how much at the largest batch.
std::string sentence_on(const FamilyResult& family, const std::string& op) {
  const auto answers = answers_for(family, op);
  if (answers.empty()) return {};
  std::vector<std::pair<std::string, std::vector<std::uint64_t>>> winners;
  for (const Best* best : answers) {
    const std::string& name = best->fastest->configuration;
    const auto known =
        std::find_if(winners.begin(), winners.end(), [&](const auto& w) { return w.first == name; });
    if (known == winners.end()) {
      winners.push_back({name, {best->batch}});
    } else {
      known->second.push_back(best->batch);
    }
  }
  std::vector<std::string> who;
  for (const auto& [name, batches] : winners) {
    who.push_back(fmt::format("{}{} {}", format::short_id(name), who.empty() ? " is fastest" : "",
                              at_batches(batches, answers.size())));
  }
  const Best& largest = *answers.back();
  const std::string where =
      answers.size() == 1 ? "where" : fmt::format("and at batch {}", batch_text(largest.batch));
  return fmt::format("{}: {}, {} it takes {}.", timed_name(op), format::list(who), where,
                     measured(family, largest));
}

/// The largest batch with an accuracy, and the range over its verified variants.
std::string accuracy_sentence(const FamilyResult& family) {
  for (auto batch = family.batches.rbegin(); batch != family.batches.rend(); ++batch) {
    std::vector<double> values;
    bool kept = true;
    for (const VariantResult& variant : family.variants) {
      const CaseResult* result = variant.representative(*batch);
      if (result == nullptr || !result->ok() || !result->accuracy) continue;
      values.push_back(result->accuracy->median);
      kept = kept && result->accuracy_change.value_or(0) >= -tolerated_accuracy_loss;
    }
    if (values.empty()) continue;
    const auto [lowest, highest] = std::minmax_element(values.begin(), values.end());
    const std::string range =
        *lowest == *highest ? format::accuracy(*lowest)
                            : fmt::format("{} to {}", format::accuracy(*lowest), format::accuracy(*highest));
    return fmt::format("Accuracy {}: {} at batch {} over {}.", kept ? "is kept" : "is not kept", range,
                       batch_text(*batch), format::plural(values.size(), "verified variant"));
  }
  return {};
}

double ops_time(const CaseResult& result) {
  double sum = 0;
  for (const OpResult& op : result.ops) {
    if (!op.op_time || op.outside_forward) return 0;
    sum += op.op_time->median;
  }
  return sum;
}

/// What the fastest ops leave to win in the whole inference.
std::string remainder_sentence(const FamilyResult& family) {
  const CaseResult* fastest = nullptr;
  for (const VariantResult& variant : family.variants) {
    const CaseResult* result =
        family.batches.empty() ? nullptr : variant.representative(family.batches.back());
    if (result == nullptr || !result->ok() || !result->total_time || !(ops_time(*result) > 0)) continue;
    if (fastest == nullptr || ops_time(*result) < ops_time(*fastest)) fastest = result;
  }
  if (fastest == nullptr || !(ops_time(*fastest) < fastest->total_time->median)) return {};
  const double share = ops_time(*fastest) / fastest->total_time->median;
  return fmt::format(
      "The ops of {} are the fastest together: {} of the {} that the whole inference takes with it at batch "
      "{} "
      "({}). Faster ops alone cannot make that more than {} as fast: the rest is copies, allocation and the "
      "other "
      "layers.",
      format::short_id(fastest->configuration), format::quantity(ops_time(*fastest), Unit::second),
      format::quantity(fastest->total_time->median, Unit::second), fastest->key.batch, format::percent(share),
      format::times(1 / (1 - share)));
}

std::string verification_sentence(const FamilyResult& family) {
  std::size_t checked = 0, passed = 0;
  for (const VariantResult& variant : family.variants) {
    for (const CaseResult& result : variant.cases) {
      for (const OpResult& op : result.ops) {
        checked += op.verification ? 1 : 0;
        passed += op.verification && op.verification->passed ? 1 : 0;
      }
    }
  }
  if (checked == 0) return "No output was checked.";
  const bool right = passed == checked;
  return fmt::format("Outputs are {}: {} of {} against the double-precision reference {}.",
                     right ? "right" : "wrong", right ? passed : checked - passed,
                     format::plural(checked, "check"), right ? "passed" : "failed");
}

std::vector<std::string> timed_of(const FamilyResult& family) {
  std::vector<std::string> timed;
  for (const OpInfo& op : family.ops) timed.push_back(op.name);
  timed.emplace_back();
  return timed;
}

/// How near the fastest comes to what the machine can do, by the nearer of the two limits.
Cell nearness(const Best& best) {
  const OpResult* op = best.fastest->find_op(best.op);
  if (op == nullptr) return Cell::words("");  // the whole inference is no op with FLOPs of its own
  const Value& compute = op->compute_throughput;
  const Value& memory = op->memory_throughput;
  if (!compute && !memory) return Cell::missing(compute.absent);
  if (compute && compute->median > 100)
    return Cell::missing("it computes on tensor cores or in half precision, whose peak was not measured");
  const bool by_compute = compute && (!memory || compute->median >= memory->median);
  const double nearer = (by_compute ? compute : memory)->median;
  Cell cell = Cell::figure(format::percent(nearer / 100), by_compute ? "compute" : "memory").valued(nearer);
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
  if (!best.level.empty()) notes.push_back("its 95 % interval overlaps with that of " + names_of(best.level));
  if (!best.left_out.empty())
    notes.push_back("left out for working outside forward(): " + names_of(best.left_out));
  return fmt::format("{}", fmt::join(notes, "; "));
}

Table best_table(const FamilyResult& family, Anchors& anchors) {
  Table table(anchors.make(family.id + " best"), "Best variant for each op and batch");
  table.text("Op").numbers("Batch Size").text("Best variant").numbers("Median time", Unit::second);
  table.numbers("Speed-up").text("over its baseline").numbers("Over the first baseline");
  table.numbers("Of the machine's peak");
  for (const Best& best : family.best) {
    const Cell op = Cell::words(timed_name(best.op));
    const Cell batch = Cell::figure(batch_text(best.batch)).valued(static_cast<double>(best.batch));
    if (best.fastest == nullptr) {
      const std::string why = best.time().absent;
      table.row({op, batch, Cell::missing(why), Cell::missing(why), Cell::missing(why), Cell::missing(why),
                 Cell::missing(why), Cell::missing(why)});
      continue;
    }
    table.row({op, batch, Cell::words(format::short_id(best.fastest->configuration)).noted(winner_note(best)),
               Cell::value(best.time()), over(best), Cell::words(without_batch(best.fastest->baseline)),
               over_first(family, best), nearness(best)});
  }
  return table;
}

bool wins_everywhere(const std::vector<const Best*>& answers) {
  return answers.size() > 1 && std::all_of(answers.begin(), answers.end(), [&](const Best* best) {
           return best->fastest->configuration == answers.front()->fastest->configuration;
         });
}

/// The answer at the largest batch, for the cards at the top of the page.
json highlights(const FamilyResult& family) {
  json cards = json::array();
  for (const std::string& op : timed_of(family)) {
    const auto answers = answers_for(family, op);
    if (answers.empty()) continue;
    const Best& best = *answers.back();
    const auto& interval = best.speed_up().interval;
    cards.push_back({{"what", timed_name(op)},
                     {"batch", batch_text(best.batch)},
                     {"variant", format::short_id(best.fastest->configuration)},
                     {"time", format::quantity(best.time()->median, Unit::second)},
                     {"speed_up", best.speed_up() ? format::times(*best.speed_up().factor) : ""},
                     {"interval", interval ? format::times(interval->low, interval->high) : ""},
                     {"baseline", without_batch(best.fastest->baseline)},
                     {"over_first", first_baseline_text(family, best)},
                     {"is_baseline", best.fastest->is_baseline},
                     {"everywhere", wins_everywhere(answers) ? "and at every other batch" : ""}});
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
  json checks = json::array();
  for (const std::string& sentence : {remainder_sentence(family), accuracy_sentence(family),
                                      verification_sentence(family), check_sentence(family.check)}) {
    if (!sentence.empty()) checks.push_back(sentence);
  }
  const json cards = highlights(family);
  return {{"family", format::one_line(family.id)},
          {"cards", cards},
          {"has_cards", !cards.empty()},
          {"sentences", sentences},
          {"checks", checks},
          {"table", best_table(family, anchors).view()}};
}

}  // namespace mprof
