// SPDX-License-Identifier: MIT
#include <algorithm>

#include <fmt/format.h>

#include "report/text/format.hpp"
#include "report/views/cells.hpp"
#include "report/views/table.hpp"
#include "report/views/variant_parts.hpp"
#include "report/wording/why.hpp"

/// Whether a variant combines with others, and how much there is left to win.
namespace mprof {
namespace {

using nlohmann::json;

Cell link_to(const std::string& id, const PageContext& page) {
  const auto anchor = page.variants.find(id);
  return anchor == page.variants.end() ? Cell::words(id) : Cell::words_to(id, anchor->second);
}

Cell gain_cell(const SpeedUp& speed_up) {
  Cell cell = Cell::speed_up(speed_up);
  if (speed_up.interval)
    cell.detail = fmt::format("({})", format::times(speed_up.interval->low, speed_up.interval->high));
  return cell;
}

Table combination_table(const FamilyResult& family, const VariantResult& variant, const Combination& found,
                        const PageContext& page) {
  Table table(page.anchor(variant.info.id + " combination"),
              fmt::format("The ideas alone and together, over {} {}", format::one_line(found.common_baseline),
                          family.words.at(found.problem)));
  table.variants();
  for (std::size_t i = 0; i < family.ops.size(); ++i)
    table.numbers(numbered("Speed-up", i, family.ops.size()));
  for (const CombinedIdea& idea : found.ideas) {
    std::vector<Cell> cells{link_to(idea.variant, page)};
    for (const SpeedUp& speed_up : idea.alone) cells.push_back(gain_cell(speed_up));
    table.row(std::move(cells));
  }
  std::vector<Cell> product{Cell::words("product of these", Tone::quiet)},
      together{link_to(variant.info.id, page)};
  for (const auto& factor : found.product) {
    product.push_back(factor ? Cell::figure(format::times(*factor)).valued(*factor)
                             : Cell::missing("a part of it is missing"));
    product.back().modelled = true;
  }
  for (const SpeedUp& speed_up : found.together) together.push_back(gain_cell(speed_up));
  table.row(std::move(product));
  table.row(std::move(together));
  return table;
}

std::string_view word(Interplay interplay) {
  switch (interplay) {
    case Interplay::less:
      return "less than";
    case Interplay::more:
      return "more than";
    case Interplay::as_much:
      break;
  }
  return "about";
}

std::string combination_sentence(const FamilyResult& family, const Combination& found) {
  std::vector<std::string> ideas, parts;
  for (const CombinedIdea& idea : found.ideas) ideas.push_back(format::short_id(idea.variant));
  for (std::size_t i = 0; i < family.ops.size(); ++i) {
    if (!found.product[i] || !found.together[i].factor) continue;
    const double together = *found.together[i].factor;
    parts.push_back(fmt::format("in {} {} together, {} the product of each alone, {}",
                                format::short_id(family.ops[i].name), format::times(together),
                                word(interplay(together, *found.product[i])),
                                format::times(*found.product[i])));
  }
  return parts.empty() ? ""
                       : fmt::format("The ideas of {} over {}: {}.", format::list(ideas),
                                     format::short_id(found.common_baseline), fmt::join(parts, "; "));
}

Table step_table(const FamilyResult& family, const VariantResult& variant, const std::vector<Step>& steps,
                 const PageContext& page) {
  const std::size_t ops = family.ops.size();
  const std::string root = steps.front().variant->info.baseline;
  Table table(page.anchor(variant.info.id + " steps"),
              fmt::format("The steps from {} to here", format::one_line(root)));
  table.variants();
  for (std::size_t i = 0; i < ops; ++i) table.numbers(numbered("Over its baseline, op", i, ops));
  for (std::size_t i = 0; i < ops; ++i)
    table.numbers(numbered("Over " + format::short_id(root) + ", op", i, ops));
  for (const Step& step : steps) {
    std::vector<Cell> cells{link_to(step.variant->info.id, page)};
    for (const SpeedUp& speed_up : step.step) cells.push_back(Cell::speed_up(speed_up));
    for (const SpeedUp& speed_up : step.total) cells.push_back(Cell::speed_up(speed_up));
    table.row(std::move(cells));
  }
  return table;
}

/// "map/fp16x2 builds on it: 1.87× as fast in rows and 2.03× in columns, at size 10000."
/// "1.87× in rows, 2.03× in columns (inconclusive)"; "stage time: 1.87× in rows, 2.03× in columns" where that
/// is what was compared, and "1.87× in rows, 2.03× in columns by stage time" where it was of one.
std::string gains_text(const FamilyResult& family, const CaseResult& result) {
  const auto is_by_group = [](const OpResult& op) { return op.compared_by == "group_time"; };
  const std::string group = family.words.time("group_time");
  const bool all_by_group = std::ranges::all_of(result.ops, is_by_group);
  std::vector<std::string> gains;
  for (const OpResult& op : result.ops) {
    if (!op.speed_up) continue;
    std::string gain =
        fmt::format("{} in {}", format::times(*op.speed_up.factor), format::short_id(op.info.name));
    if (is_by_group(op) && !all_by_group) gain += fmt::format(" by {}", group);
    if (op.speed_up.verdict == Verdict::inconclusive) gain += " (inconclusive)";
    gains.push_back(std::move(gain));
  }
  if (gains.empty()) return {};
  return fmt::format("{}{}", all_by_group ? group + ": " : "", fmt::join(gains, ", "));
}

std::string gains_over_it(const FamilyResult& family, const VariantResult& other) {
  const CaseResult* const largest = other.largest_timed();
  return largest == nullptr ? std::string() : gains_text(family, *largest);
}

/// "map/fp16x2 builds on it: 1.87× in rows, 2.03× in columns, size 8192."
std::string built_on_sentence(const FamilyResult& family, const VariantResult& other) {
  const std::string id = format::short_id(other.info.id), gains = gains_over_it(family, other);
  return gains.empty() ? fmt::format("{} builds on it.", id)
                       : fmt::format("{} builds on it: {}, {}.", id, gains,
                                     family.words.at(other.largest_timed()->key.problem));
}

/// "map/fp16x2 (1.87× in rows, 2.03× in columns)"
std::string built_on_words(const FamilyResult& family, const VariantResult& other) {
  const std::string id = format::short_id(other.info.id), gains = gains_over_it(family, other);
  return gains.empty() ? id : fmt::format("{} ({})", id, gains);
}

Table remaining_table(const FamilyResult& family, const CaseResult& result, const PageContext& page) {
  const std::vector<RemainingGain> gains = remaining_gains(family, result);
  const bool traced = std::ranges::any_of(gains, &RemainingGain::traced);
  Table table(page.anchor(result.key.variant + " remaining"),
              fmt::format("What is left to win by {}, {} (Amdahl's law)",
                          traced ? "faster kernels" : "a faster op", family.words.at(result.key.problem)));
  table.text("Op").numbers(family.words.time_title("group_time"), Unit::second);
  table.numbers(traced ? "of it kernels alone" : "of it the op").numbers("of it copying alone");
  table.numbers(format::sentence_case(family.words.group()) + " at most");
  for (const RemainingGain& gain : gains) {
    Cell share = gain.share ? Cell::figure(format::percent(*gain.share)).valued(*gain.share)
                            : Cell::missing(gain.absent);
    if (gain.traced) share.note = "of the traced execution: a kernel ran, and no copy beside it";
    if (gain.share && traced && !gain.traced) share.note = "the op time, for there is no trace of it";
    table.row({Cell::words(gain.op), Cell::bare(gain.group_time), share,
               gain.copies ? Cell::figure(format::percent(*gain.copies)).valued(*gain.copies)
                           : Cell::missing("there is no trace of it"),
               gain.limit
                   ? Cell::figure(format::times(*gain.limit)).valued(*gain.limit)
                   : Cell::missing(gain.share ? "hardly anything else takes time" : say(gain.absent))});
  }
  return table;
}

/// Whether the page advises faster kernels for the whole, with what they could gain.
bool is_advised(const VariantResult& variant, const PageContext& page) {
  const VariantAdvice* advice = page.advice == nullptr ? nullptr : page.advice->find_variant(variant);
  return advice != nullptr && std::ranges::any_of(advice->whole.advice, [](const Advice& one) {
           return one.rule->id == "whole_kernels";
         });
}

/// Of the whole, which holds what no op does.
std::string whole_sentence(const FamilyResult& family, const CaseResult& result) {
  const auto gain = remaining_gain_of_whole(family, result);
  if (!gain) return {};
  const std::string share = format::percent(gain->share);
  const std::string without =
      gain->limit ? fmt::format(": without them it would be {} as fast", format::times(*gain->limit)) : "";
  if (gain->traced)
    return fmt::format(
        "Kernels that no copy runs beside take {} of {}, by their share of each op as traced and each op's "
        "share of the time measured{}.",
        share, family.words.timed(""), without);
  const std::string whole = format::quantity(result.total_time->median, Unit::second);
  if (!gain->limit)
    return fmt::format("The ops take all of {}'s {} but for {}.", family.words.timed(""), whole,
                       format::percent(1 - gain->share));
  return fmt::format("The ops take {} of {}'s {}{}.", share, family.words.timed(""), whole, without);
}

}  // namespace

json synergy_view(const FamilyResult& family, const VariantResult& variant, const PageContext& page) {
  json view{{"combination", false}, {"steps", false}, {"remaining", false}};
  json sentences = json::array(), whole = json::array();
  if (const auto found = combination_of(family, variant)) {
    if (found->absent.empty()) {
      view["combination"] = combination_table(family, variant, *found, page).view();
      sentences.push_back(combination_sentence(family, *found));
    } else {
      sentences.push_back(fmt::format("It combines {}, but {}.",
                                      format::one_line(format::list(variant.info.combines)),
                                      say(found->absent)));
    }
  }
  for (const auto& [other, found] : combinations_with(family, variant)) {
    const std::string gives = combination_sentence(family, found);
    if (!gives.empty())
      sentences.push_back(fmt::format("It is part of {}. {}", format::short_id(other->info.id), gives));
  }
  std::vector<std::string> short_words;
  view["together"] = sentences;
  for (const VariantResult* other : built_on(family, variant)) {
    sentences.push_back(built_on_sentence(family, *other));
    short_words.push_back(built_on_words(family, *other));
  }
  view["built_on"] = format::list(short_words);
  const std::vector<Step> steps = steps_to(family, variant);
  if (steps.size() > 1) view["steps"] = step_table(family, variant, steps, page).view();
  if (const CaseResult* largest = variant.largest_timed()) {
    const CaseResult& result = *largest;
    const Table remaining = remaining_table(family, result, page);
    if (!remaining.empty()) view["remaining"] = remaining.view();
    // The advice says it of the traced whole: two numbers for one thing would be one too many.
    const std::string sentence = is_advised(variant, page) ? "" : whole_sentence(family, result);
    if (!sentence.empty()) whole.push_back(sentence);
  }
  const bool in_short = !view["together"].empty() || view["built_on"] != "" ||
                        (variant.info.baseline.empty() && !whole.empty());
  view["says_in_short"] = in_short;
  view["says"] = in_short || !sentences.empty() || !whole.empty() || !view["steps"].is_boolean() ||
                 !view["remaining"].is_boolean();
  view["sentences"] = sentences;
  view["whole"] = whole;
  return view;
}

}  // namespace mprof
