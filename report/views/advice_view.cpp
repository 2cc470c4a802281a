// SPDX-License-Identifier: MIT
#include "report/views/advice_view.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "report/text/format.hpp"
#include "report/views/table.hpp"
#include "report/wording/advice.hpp"
#include "report/wording/why.hpp"

/// What to do next, and how such advice has done in this run.
namespace mprof {
namespace {

using nlohmann::json;

/// Of each op and time: more of it nobody does at once.
constexpr std::size_t shown_advice = 3;

std::string advised_time(const Words& words, const AdviceRule& rule) {
  return words.time(rule.time);
}

/// `steps`: times are sums over so many, and a reader wants one; 0: they are of the whole.
std::string limit_text(const AdviceRule& rule, double before, double after, std::size_t steps = 0) {
  const double each = steps > 0 && rule.unit == Unit::second ? 1 / static_cast<double>(steps) : 1;
  return format::from_to(before * each, after * each, rule.unit);
}

/// What a bound takes for granted that need not be so.
std::string proviso(const AdviceRule& rule, const OpInfo* op) {
  if (rule.id == "dram_traffic")
    return ", had they moved at the measured bandwidth";  // slower ones cost more
  constexpr std::array<std::string_view, 2> by_flops{"instructions", "instructions_and_accesses"};
  if (std::ranges::find(by_flops, rule.id) == by_flops.end()) return "";
  const bool has_functions = op != nullptr && op->special_operations > 0;
  return fmt::format(" for the op's FLOPs{}", has_functions ? ", special functions aside" : "");
}

json advice_item(const Words& words, const OpInfo* op, const Advice& advice, const AdviceRecord& record,
                 std::size_t steps, bool is_alone) {
  const AdviceRule& rule = *advice.rule;
  return {{"gain", format::up_to(advice.gain)},
          {"time", steps > 0 ? "a step" : advised_time(words, rule)},
          {"text", fmt::format("{} {} at best{}", rule.limit,
                               limit_text(rule, advice.value, advice.best, steps), proviso(rule, op))},
          {"change", std::string(change_text(rule, steps > 0))},
          {"example", example_text(advice)},
          {"rule", std::string(rule.id)},
          {"record", is_alone ? "" : record_text(record)}};
}

std::string silenced_text(const OpAdvice& of_op, const RunAdvice& all) {
  if (of_op.left.empty()) return {};
  std::vector<std::string> rules;
  for (const AdviceRule* rule : of_op.left) {
    const AdviceRecord& record = all.record_of(*rule);
    rules.push_back(fmt::format("{} ({} of {})", rule->id, record.wrong, record.tries));
  }
  return fmt::format(
      "Not advised here, because in this run the time became longer in at least half of the tries: {}.",
      format::list(rules));
}

json op_advice(const FamilyResult& family, const OpAdvice& of_op, const RunAdvice& all) {
  const Words& words = family.words;
  const auto op = std::ranges::find(family.ops, of_op.op, &OpInfo::name);
  json list = json::array(), rest = json::array();
  for (const std::string_view time : {"op_time", "group_time", "total_time"}) {
    std::size_t shown = 0;
    for (const Advice& advice : of_op.advice) {
      if (advice.rule->time != time) continue;
      (shown++ < shown_advice ? list : rest)
          .push_back(advice_item(words, op == family.ops.end() ? nullptr : &*op, advice,
                                 all.record_of(*advice.rule), of_op.steps, family.variants.size() == 1));
    }
  }
  std::vector<std::string> missing;
  for (const NotJudged& evidence : of_op.missing) missing.push_back(not_judged_text(evidence));
  const bool silent = list.empty() && missing.empty();
  return {{"op", of_op.steps > 0 ? "the " + format::plural(of_op.steps, "steady step")
                                 : format::one_line(words.timed(of_op.op))},
          {"is_whole", of_op.op.empty()},
          {"first", silent || list.empty() ? json(false) : list.front()},
          {"list", list},
          {"more", rest.empty() ? "" : fmt::format("{} with lower gains", format::count(rest.size()))},
          {"rest", rest},
          {"silence", silent ? "No rule names a limit whose removal could gain " +
                                   format::percent(least_advised_gain - 1) + " or more."
                             : ""},
          {"missing", missing.empty() ? "" : fmt::format("Not judged: {}.", format::list(missing))},
          {"silenced", silenced_text(of_op, all)}};
}

bool is_of_gpu(const VariantResult& variant) {
  return variant.info.device == "cuda";
}

// --- What became of it

Cell factor_cell(double factor) {
  return Cell::figure(format::times(factor)).valued(factor);
}

Cell outcome_cell(AdviceOutcome outcome) {
  const Tone tone = outcome == AdviceOutcome::right   ? Tone::good
                    : outcome == AdviceOutcome::wrong ? Tone::bad
                                                      : Tone::quiet;
  return Cell::words(to_string(outcome), tone);
}

Cell variant_of(const CaseResult& result, const PageContext& page) {
  const auto anchor = page.variants.find(result.key.variant);
  return anchor == page.variants.end() ? Cell::words(result.configuration)
                                       : Cell::words_to(result.configuration, anchor->second);
}

Table tries_table(const FamilyResult& family, const FamilyAdvice& advice, const PageContext& page) {
  Table table(page.anchor(family.id + " advice tries"), "Advice: predicted and achieved");
  table.variants().text("Baseline").text("Op").text("Advice for the baseline").text("Time");
  table.text("The limit, before → after").numbers("At most").numbers("Predicted").numbers("Achieved");
  table.text("Became");
  for (const AdviceTry& tried : advice.tries) {
    const AdviceRule& rule = *tried.advice.rule;
    Cell limit = Cell::words(limit_text(rule, tried.advice.value, tried.became));
    table.row({variant_of(*tried.after, page), variant_of(*tried.before, page),
               Cell::words(family.words.timed(tried.op)), Cell::words(rule.id),
               Cell::words(advised_time(family.words, rule), Tone::quiet), std::move(limit),
               factor_cell(tried.advice.gain),
               factor_cell(tried.predicted).with(tried.leading ? Tone::best : Tone::plain),
               Cell::speed_up(tried.achieved), outcome_cell(tried.outcome)});
  }
  return table;
}

Table records_table(const FamilyResult& family, const RunAdvice& all, const PageContext& page) {
  Table table(
      page.anchor(family.id + " advice rules"),
      "How often the time became shorter where a limit was moved as advised, over all families of the run");
  table.text("Rule").text("Advice").numbers("Tries").numbers("Faster").numbers("Slower").numbers("Not told");
  table.numbers("Hit rate").numbers("Achieved over predicted").numbers("Largest prediction of its step");
  table.numbers("Of these faster").text("Shown as advice");
  const auto number = [](std::size_t count) {
    return Cell::figure(format::count(count)).valued(static_cast<double>(count));
  };
  for (const AdviceRecord& record : all.records) {
    if (record.tries == 0) continue;
    table.row({Cell::words(record.rule->id), Cell::words(record.rule->advice), number(record.tries),
               number(record.right), number(record.wrong), number(record.tries - record.right - record.wrong),
               Cell::figure(format::percent(*record.hit_rate())).valued(*record.hit_rate()),
               factor_cell(*record.achieved_over_predicted), number(record.leading),
               number(record.leading_right),
               record.silenced() ? Cell::words("no", Tone::bad) : Cell::words("yes")});
  }
  return table;
}

std::vector<std::string> rules_where(const RunAdvice& all, bool (*holds)(const AdviceRecord&)) {
  std::vector<std::string> ids;
  for (const AdviceRecord& record : all.records) {
    if (holds(record)) ids.emplace_back(record.rule->id);
  }
  return ids;
}

json tried_sentences(const FamilyAdvice& advice, const RunAdvice& all) {
  json list = json::array();
  if (advice.tries.empty())
    list.push_back(
        "No variant of this family moved a limit as the advice for its baseline says, or it was not "
        "counted.");
  const auto silenced = rules_where(all, [](const AdviceRecord& record) { return record.silenced(); });
  if (!silenced.empty())
    list.push_back(fmt::format(
        "Silenced in this report, because the time became longer in at least half of two or more tries: {}.",
        format::list(silenced)));
  const auto untried = rules_where(all, [](const AdviceRecord& record) { return record.tries == 0; });
  if (!untried.empty() && untried.size() < all.records.size())
    list.push_back(fmt::format("Not tried in this run, so that nothing is known of their advice here: {}.",
                               format::list(untried)));
  return list;
}

}  // namespace

json advice_view(const FamilyResult& family, const VariantResult& variant, const PageContext& page) {
  const VariantAdvice* advice = page.advice == nullptr ? nullptr : page.advice->find_variant(variant);
  if (advice == nullptr || !is_of_gpu(variant)) return false;
  json items = json::array();
  for (const OpAdvice& of_op : advice->ops) items.push_back(op_advice(family, of_op, *page.advice));
  if (advice->absent.empty()) items.push_back(op_advice(family, advice->whole, *page.advice));
  return {{"anchor", page.anchor(variant.info.id + " next")},
          {"absent", format::sentence_case(say(advice->absent))},
          {"at", advice->result == nullptr ? "" : family.words.at(advice->result->key.problem)},
          {"items", items}};
}

json tried_advice_view(const FamilyResult& family, const PageContext& page) {
  const FamilyAdvice* advice = page.advice == nullptr ? nullptr : page.advice->find_family(family.id);
  if (advice == nullptr || std::ranges::none_of(family.variants, is_of_gpu)) return false;
  json tables = json::array();
  for (const Table& table : {tries_table(family, *advice, page), records_table(family, *page.advice, page)}) {
    if (!table.empty()) tables.push_back(table.view());
  }
  return {{"anchor", page.anchor(family.id + " advice")},
          {"sentences", tried_sentences(*advice, *page.advice)},
          {"tables", tables}};
}

}  // namespace mprof
