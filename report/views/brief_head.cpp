// SPDX-License-Identifier: MIT
#include "report/views/brief_head.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/analysis/standing/time_budget.hpp"
#include "report/text/format.hpp"
#include "report/views/answer_sentences.hpp"
#include "report/views/time_budget_view.hpp"
#include "report/wording/advice.hpp"
#include "report/wording/judgement.hpp"
#include "report/wording/kernels.hpp"
#include "report/wording/precision.hpp"
#include "report/wording/reasons.hpp"
#include "report/wording/sanitizer.hpp"
#include "report/wording/why.hpp"

namespace mprof {
namespace {

using nlohmann::json;

std::string id_of(const CaseResult& result) {
  return format::short_id(result.configuration);
}

json head_line(const std::string& lead, const std::string& text) {
  return {{"lead", lead}, {"text", text}};
}

// --- The best

/// "15.5× as fast as map/baseline (95 %: 15.4–15.7×)"
std::string over_text(const SpeedUp& over, const std::string& other) {
  if (over.verdict == Verdict::same) return "tied with " + other;
  std::string text = fmt::format("{} as fast as {}", format::times(*over.factor), other);
  if (over.is_open_by_disturbance()) return fmt::format("{} ({})", text, disturbed_words);
  if (!is_change(over.verdict)) return text + " (inconclusive)";
  if (const std::string despite = despite_text(over); !despite.empty())
    return fmt::format("{} ({})", text, despite);
  if (over.interval)
    text += fmt::format(" (95\u00a0%: {})", format::times(over.interval->low, over.interval->high));
  return text;
}

/// "TF32", where a parameter of the case says so.
std::string precision_name(const CaseResult& result) {
  return mprof::precision_name(number_format_of(result));
}

/// " in TF32"
std::string precision_words(const CaseResult& result) {
  const std::string name = precision_name(result);
  return name.empty() ? "" : " in " + name;
}

/// "map/cublas, math=fp32; map/cudnn is tied": what a library was asked for is part of what it took.
std::string rival_ids(const RivalStep& step) {
  std::string text = id_of(*step.rival);
  for (const auto& [name, value] : step.rival->key.parameters) {
    const std::string given = format::one_line(fmt::format("{}={}", name, value));
    if (text.find(given) == text.npos) text += ", " + given;
  }
  std::vector<std::string> level;
  for (const CaseResult* other : step.level) level.push_back(id_of(*other));
  if (!level.empty()) text += fmt::format("; tied with {}", format::list(level));
  return text;
}

/// " Both are allowed TF32.", " Both are limited to FP32." or " Both must meet 2.0e-3.", where there are
/// others with which they do not compare. A library that may round to TF32 need not do so.
std::string likeness_sentence(const RivalStep& step) {
  if (!step.is_like) return {};
  const std::string name = precision_name(*step.own);
  if (!name.empty() && name == precision_name(*step.rival)) {
    const bool rounds = name != "FP32" && name != "FP64";
    return fmt::format(" Both are {} {}.", rounds ? "allowed" : "limited to", name);
  }
  const auto tolerance = tolerance_of(*step.rival, step.op);
  return tolerance ? fmt::format(" Both must meet {}.", format::scientific(*tolerance)) : "";
}

/// " Its tolerance is looser: 2.0e-3 in TF32, not 1.0e-5; no library was measured at it. At 1.0e-5 map/exact
/// is 2.78× as fast."; empty where both must meet one.
std::string tolerance_sentence(const RivalStep& step) {
  const auto own = tolerance_of(*step.own, step.op);
  const auto rival = tolerance_of(*step.rival, step.op);
  if (!own || !rival || *own == *rival) return {};
  std::string text = fmt::format(
      " Its tolerance is {}: {}{}, not {}{}.", *rival < *own ? "looser" : "tighter", format::scientific(*own),
      precision_words(*step.own), format::scientific(*rival),
      is_like(*step.own, *step.rival, step.op) ? "" : "; no library has a comparable time at this precision");
  if (step.as_tight != nullptr && step.as_tight_speed_up)
    text += fmt::format(" At {} {} is {} as fast.", format::scientific(*rival), id_of(*step.as_tight),
                        format::times(*step.as_tight_speed_up.factor));
  return text;
}

/// " The ops take 4.4 % of cuBLAS's time, copies and the host the rest.", where a library is in little of a
/// whole that is compared with it; else empty.
std::string little_of_the_whole(const RivalStep& step) {
  constexpr double little = 0.5;
  if (!step.op.empty() || !step.rival->total_time) return {};
  double ops = 0;
  for (const OpResult& op : step.rival->ops) {
    if (!op.op_time || op.flaw != OpTimeFlaw::none) return {};
    ops += op.op_time->median;
  }
  const double share = ops / step.rival->total_time->median;
  if (!(share > 0) || share > little) return {};
  return fmt::format(" The ops take {} of {}'s time, copies and the host the rest.", format::percent(share),
                     format::one_line(step.library));
}

/// Of all ops, by the trace; nullopt where one of them was not traced.
std::optional<double> time_of_kernels(const CaseResult& result) {
  double sum = 0;
  for (const OpResult& op : result.ops) {
    if (!op.gpu_time) return std::nullopt;
    sum += op.gpu_time->median;
  }
  return sum;
}

/// " Its kernels take longer (20.4 → 41.6 ms), so the gain is outside of them.", where a whole is ahead of a
/// library's although its kernels are not; else empty.
std::string despite_kernels(const RivalStep& step) {
  constexpr double longer = 1.05;
  if (!step.op.empty() || step.speed_up.verdict != Verdict::faster) return {};
  const auto own = time_of_kernels(*step.own), rival = time_of_kernels(*step.rival);
  if (!own || !rival || *own < longer * *rival) return {};
  return fmt::format(" Its kernels take longer ({}), so the gain is outside of them.",
                     format::from_to(*rival, *own, Unit::second));
}

const Value& time_of_step(const CaseResult& result, const std::string& op) {
  return op.empty() ? result.total_time : result.find_op(op)->op_time;
}

/// "oneDNN on the CPU": where the rival runs on another device.
std::string library_words(const FamilyResult& family, const RivalStep& step) {
  const VariantResult* const own = family.find_variant(step.own->key.variant);
  const VariantResult* const rival = family.find_variant(step.rival->key.variant);
  const std::string name = format::one_line(step.library);
  const bool is_elsewhere = own != nullptr && rival != nullptr && own->info.device != rival->info.device &&
                            rival->info.device == "cpu";
  return is_elsewhere ? name + " on the CPU" : name;
}

/// "map/tiled is 2.0× as fast as the fastest library, cuBLAS (map/cublas): 1.2 ms where it takes 2.4 ms."
json rival_line(const FamilyResult& family, const RivalStep& step) {
  const auto time = [&](const CaseResult& result) {
    return format::quantity(time_of_step(result, step.op)->median, Unit::second);
  };
  // Of several kinds the rival is the fastest of its own.
  const bool is_fastest =
      !step.is_of_other_kind && step.over_fastest && step.over_fastest.factor == step.speed_up.factor;
  const std::string rival = fmt::format("{}{} ({})", is_fastest ? "the fastest library, " : "",
                                        library_words(family, step), rival_ids(step));
  std::string text =
      step.speed_up
          ? fmt::format("{} is {}: {} where the library takes {}.", id_of(*step.own),
                        over_text(step.speed_up, rival), time(*step.own), time(*step.rival))
          : fmt::format("{} takes {}, {} {}.", id_of(*step.own), time(*step.own), rival, time(*step.rival));
  text +=
      likeness_sentence(step) + tolerance_sentence(step) + little_of_the_whole(step) + despite_kernels(step);
  if (!is_fastest && !step.is_of_other_kind && step.over_fastest)
    text += fmt::format(
        " It is {}.",
        over_text(step.over_fastest, "the fastest library, " + format::one_line(step.fastest_library)));
  return head_line(fmt::format("{} against libraries", timed_name(family, step.op)), text);
}

/// "; the most frequent stall: long scoreboard"; empty where no reason was counted.
std::string most_often(const KernelCounters& kernel) {
  const std::vector<Stall> stalls = stalls_of(kernel);
  const auto first = std::ranges::find_if(stalls, &Stall::harms);
  return first == stalls.end() ? "" : fmt::format("; the most frequent stall: {}", first->reason);
}

/// "DRAM at 81 % of its peak": what holds up the op's longest kernel, as hardware counted it; empty where it
/// did not.
std::string kernel_limit(const FamilyResult& family, const Best& best) {
  const OpReadings readings(family, *best.fastest, best.op);
  const KernelCounters* kernel = readings.longest_kernel();
  const auto bottleneck = kernel == nullptr ? std::nullopt : bottleneck_of(*kernel);
  if (!bottleneck) return {};
  const std::string both =
      fmt::format("multiprocessors at {}, caches and memory at {} of their peaks",
                  format::whole_percent(bottleneck->compute), format::whole_percent(bottleneck->memory));
  switch (bottleneck->bound) {
    case Bound::latency:
      return fmt::format("latency, with no unit busy: {}{}", both, most_often(*kernel));
    case Bound::balanced:
      return fmt::format("no single bottleneck: {}", both);
    case Bound::compute:
    case Bound::memory:
      break;
  }
  const BoundWords words = bound_words(*bottleneck);
  return fmt::format("{} at {} of its peak{}", words.head, words.figures,
                     words.beside.empty() ? "" : fmt::format(" ({})", words.beside));
}

/// "97.2 % of the speed that the measured memory bandwidth allows"; empty where nobody knows.
std::string nearness_text(const OpResult& op) {
  if (!op.of_possible || is_beyond_measured_peaks(op)) return {};
  return fmt::format("{} of the speed that the measured {} allows",
                     format::percent(std::min(1.0, op.of_possible->median / 100)), to_string(*op.limit));
}

/// "rows (map/tiled): DRAM at 81 % of its peak; 97.2 % of the speed that the measured memory bandwidth
/// allows."; empty of a whole, and where nobody knows.
std::string bound_sentence(const FamilyResult& family, const Best& best) {
  const OpResult* op = best.op.empty() ? nullptr : best.fastest->find_op(best.op);
  if (op == nullptr) return {};
  std::vector<std::string> parts{kernel_limit(family, best), nearness_text(*op)};
  std::erase(parts, "");
  return parts.empty() ? ""
                       : fmt::format("{} ({}): {}.", timed_name(family, best.op), id_of(*best.fastest),
                                     fmt::join(parts, "; "));
}

/// "FP32, tolerance 1.0e-5"; without the name where nobody says it.
std::string precision_text(const Precision& precision) {
  std::vector<std::string> parts;
  if (!precision.format.empty()) parts.push_back(mprof::precision_name(precision.format));
  if (precision.tolerance) parts.push_back("tolerance " + format::scientific(*precision.tolerance));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// "rows by map/exact in 337.6 µs, 24.6× as fast as map/baseline (95 %: …)": in the precision of the common
/// baseline.
std::string tight_text(const FamilyResult& family, const Brief& brief, const Leader& leader) {
  const CaseResult& tight = *leader.as_tight;
  const std::string& op = leader.best->op;
  std::string text = fmt::format("{} by {} in {}", timed_name(family, op), id_of(tight),
                                 format::quantity(time_of_step(tight, op)->median, Unit::second));
  if (leader.as_tight_over)
    text += ", " + over_text(leader.as_tight_over, format::short_id(brief.common->info.id));
  const OpResult* const timed = op.empty() ? nullptr : tight.find_op(op);
  const std::string nearness = timed == nullptr ? "" : nearness_text(*timed);
  return nearness.empty() ? text : fmt::format("{}, {}", text, nearness);
}

/// The fastest in the precision of the common baseline, where the best are less precise: a line for each such
/// precision.
json tight_lines(const FamilyResult& family, const Brief& brief) {
  std::vector<std::pair<std::string, std::vector<std::string>>> lines;
  for (const Leader& leader : brief.leaders) {
    if (leader.as_tight == nullptr) continue;
    const std::string lead =
        fmt::format("Fastest {} {}", leader.tight.format.empty() ? "at" : "in", precision_text(leader.tight));
    const auto known = std::ranges::find(lines, lead, &decltype(lines)::value_type::first);
    auto& texts =
        known == lines.end() ? lines.emplace_back(lead, std::vector<std::string>{}).second : known->second;
    texts.push_back(tight_text(family, brief, leader));
  }
  json list = json::array();
  for (const auto& [lead, texts] : lines)
    list.push_back(head_line(lead, fmt::format("{}.", fmt::join(texts, "; "))));
  return list;
}

json leader_line(const FamilyResult& family, const Brief& brief, const Leader& leader) {
  const Best& best = *leader.best;
  const CaseResult& fastest = *best.fastest;
  const std::string format = leader.as_tight == nullptr ? "" : precision_label(leader.precision);
  std::vector<std::string> parts{fmt::format("{} in {}{}", id_of(fastest),
                                             format::quantity(best.time()->median, Unit::second),
                                             format.empty() ? "" : fmt::format(" ({})", format))};
  const std::string common = brief.common == nullptr ? "" : brief.common->info.id;
  const bool is_level =
      std::ranges::any_of(best.level, [&](const CaseResult* other) { return other->key.variant == common; });
  if (leader.over && !is_level) {
    parts.push_back(over_text(leader.over, format::short_id(common)));
  } else if (family.has_one_configuration()) {
    parts.emplace_back("the only one measured");
  } else if (fastest.key.variant == common) {
    parts.emplace_back("the common baseline itself");
  }
  std::vector<std::string> level;
  for (const CaseResult* other : best.level) level.push_back(id_of(*other));
  if (!level.empty()) parts.push_back(fmt::format("tied with {}", some_of(std::move(level))));
  if (const std::string tight = tight_factor_text(leader); leader.over && !is_level && !tight.empty())
    parts.push_back(tight);
  return head_line(
      best.op.empty() ? format::sentence_case(timed_name(family, best.op)) : timed_name(family, best.op),
      fmt::format("{}.", fmt::join(parts, ", ")));
}

/// "18.4× in FP32 (map/exact)".
std::string factor_in(const Precision& precision, double factor, const CaseResult& result) {
  return fmt::format("{} {} {} ({})", format::times(factor), precision.format.empty() ? "at tolerance" : "in",
                     precision_label(precision), id_of(result));
}

/// Where the row is less precise than the common baseline: the first that is not; else nullptr.
const BriefRow* as_tight_row(const Brief& brief, const BriefRow& row) {
  const auto common = std::ranges::find(brief.rows, brief.common, &BriefRow::variant);
  if (common == brief.rows.end()) return nullptr;
  const auto keeps = [&](const BriefRow& one) {
    return one.precision.tolerance.value_or(0) <= common->precision.tolerance.value_or(0);
  };
  if (keeps(row)) return nullptr;
  const auto found =
      std::ranges::find_if(brief.rows, [&](const BriefRow& one) { return one.over && keeps(one); });
  return found == brief.rows.end() || found->variant == brief.common ? nullptr : &*found;
}

/// The ops of one case together, of the whole: nullopt where there is one op, or they are no part of it.
std::optional<json> together_line(const FamilyResult& family, const Brief& brief) {
  const auto fastest = fastest_ops(family);
  if (!fastest || family.ops.size() < 2 || fastest->result->key.problem != *brief.problem)
    return std::nullopt;
  const auto row = std::ranges::find(brief.rows, fastest->result, &BriefRow::result);
  const BriefRow* const tight = row == brief.rows.end() ? nullptr : as_tight_row(brief, *row);
  std::string text =
      fmt::format("{} in {}", id_of(*fastest->result), format::quantity(fastest->time, Unit::second));
  if (tight != nullptr) text += fmt::format(" ({})", precision_label(row->precision));
  if (row != brief.rows.end() && row->over && row->variant != brief.common)
    text +=
        fmt::format(", {} as fast as {}", format::times(*row->over), format::short_id(brief.common->info.id));
  if (fastest->level > 0) text += fmt::format(", tied with {}", format::plural(fastest->level, "other"));
  if (tight != nullptr) text += ", " + factor_in(tight->precision, *tight->over, *tight->result);
  text +=
      fmt::format(". That is {} of its whole {} ({}).", format::percent(fastest->share), family.words.whole(),
                  format::quantity(fastest->result->total_time->median, Unit::second));
  return head_line("Sum of the ops", text);
}

// --- What comes next

/// Why the best are faster than the common baseline: the first reason for each op, by the rules.
std::optional<json> why_line(const FamilyResult& family, const Brief& brief) {
  std::vector<std::string> causes;
  for (const Leader& leader : brief.leaders) {
    if (!leader.cause) continue;
    causes.push_back(fmt::format("{}: {}", timed_name(family, leader.best->op),
                                 short_sentence_of(*leader.cause, family.words)));
  }
  if (causes.empty()) return std::nullopt;
  return head_line(fmt::format("Why, against {}", format::short_id(brief.common->info.id)),
                   fmt::format("{}", fmt::join(causes, " ")));
}

/// What bounds the best in each op, by the hardware's counters and the measured peaks.
std::optional<json> bound_line(const FamilyResult& family, const Brief& brief) {
  std::vector<std::string> sentences;
  for (const Leader& leader : brief.leaders) sentences.push_back(bound_sentence(family, *leader.best));
  std::erase(sentences, "");
  if (sentences.empty()) return std::nullopt;
  return head_line("What bounds it", fmt::format("{}", fmt::join(sentences, " ")));
}

/// Of the traced execution of the fastest one that has a trace.
json time_line(const FamilyResult& family, const BudgetComparison& comparison) {
  const std::string lead = "Where the time goes";
  if (comparison.cases.empty())
    return head_line(lead, fmt::format("Not known ({}).", say(comparison.absent)));
  const CaseBudget& best = comparison.cases.back();
  constexpr std::size_t most = 3;
  const std::string name = id_of(*best.result);
  const Value& timed = best.result->total_time;
  return head_line(
      lead,
      fmt::format("{} ({} traced{}): {}.",
                  comparison.faster == nullptr
                      ? format::sentence_case(fmt::format("{} of {}", family.words.timed(""), name))
                      : fmt::format("{}, the fastest that was traced", name),
                  format::quantity(best.budget->seconds(), Unit::second),
                  timed ? fmt::format(", {} untraced", format::quantity(timed->median, Unit::second)) : "",
                  format::list(largest_parts(*best.budget, most))));
}

/// ", which took 22 % longer than the timed one", where tracing made an execution much longer.
std::string longer_traced(const CaseBudget& traced) {
  constexpr double much = 1.1;
  const Value& timed = traced.result->total_time;
  if (!timed || !(timed->median > 0)) return {};
  const double ratio = traced.budget->seconds() / timed->median;
  return ratio < much ? ""
                      : fmt::format(", which took {} longer than the timed one",
                                    format::whole_percent(100 * (ratio - 1)));
}

/// The parts of its time that could be saved, the largest gain first.
std::optional<json> next_line(const FamilyResult& family, const BudgetComparison& comparison,
                              const PageContext& page) {
  if (comparison.cases.empty() || page.advice == nullptr) return std::nullopt;
  const CaseResult& best = *comparison.cases.back().result;
  const VariantResult* variant = family.find_variant(best.key.variant);
  const VariantAdvice* advice = variant == nullptr ? nullptr : page.advice->find_variant(*variant);
  if (advice == nullptr || advice->result != &best || !advice->whole.missing.empty()) return std::nullopt;
  constexpr std::size_t most = 2;
  std::vector<std::string> gains;
  for (const Advice& one : advice->whole.advice) {
    if (gains.size() < most)
      gains.push_back(fmt::format("{} ({})", change_text(*one.rule), format::up_to(one.gain)));
  }
  const std::string bound =
      fmt::format("{}, from the traced execution{}.",
                  gains.size() > 1 ? "Upper bounds, one change at a time" : "An upper bound",
                  longer_traced(comparison.cases.back()));
  return head_line("The next gain", gains.empty() ? "No single part of that time is worth 5\u00a0% or more."
                                                  : fmt::format("{}. {}", fmt::join(gains, ". "), bound));
}

/// "Error is kept (0.9174 to 0.9175)."
std::string quality_words(const QualityRange& range) {
  const Unit unit = range.info->unit;
  const std::string low = format::quality(range.lowest, unit), high = format::quality(range.highest, unit);
  return fmt::format("{} {} ({}).", format::one_line(range.info->label),
                     range.kept ? "is kept" : "is not kept", low == high ? low : low + " to " + high);
}

json right_line(const FamilyResult& family) {
  std::vector<std::string> sentences{verification_sentence(family)};
  if (std::string text = sanitizer_sentence(family.sanitizer); !text.empty()) {
    sentences.push_back(std::move(text));
  } else if (std::ranges::any_of(family.variants,
                                 [](const VariantResult& v) { return v.info.device == "cuda"; }) &&
             !family.all_are(&VariantInfo::is_program)) {
    sentences.emplace_back("compute-sanitizer was not run.");
  }
  for (const QualityRange& range : quality_ranges(family)) sentences.push_back(quality_words(range));
  return head_line("Is it right", fmt::format("{}", fmt::join(sentences, " ")));
}

// --- Below

/// "At other sizes: map is fastest with map/waves at size 1024."
std::string elsewhere_sentence(const FamilyResult& family, const Brief& brief) {
  std::vector<std::string> parts;
  bool is_sure = true;
  for (const Leader& leader : brief.leaders) {
    const Answers answers = answers_for(family, leader.best->op);
    for (const Winner& winner : answers.winners) {
      if (winner.configuration == leader.best->fastest->configuration) continue;
      const bool is_level = std::ranges::any_of(answers.best, [&](const Best* best) {
        return best->fastest->configuration == winner.configuration && !best->level.empty();
      });
      if (is_level) continue;  // no winner
      is_sure = is_sure && std::ranges::all_of(answers.best, &Best::is_clear);
      parts.push_back(fmt::format("{} with {} {}", timed_name(family, leader.best->op),
                                  format::short_id(winner.configuration), family.words.at(winner.problems)));
    }
  }
  if (parts.empty()) return {};
  return fmt::format("{} at other {}: {}.", is_sure ? "Fastest" : "Of the shortest median",
                     family.words.several(), fmt::join(parts, "; "));
}

/// "From the CPU to the GPU, the best of each: map 55.1×, whole transformation 0.494× as fast."
std::string devices_sentence(const FamilyResult& family, const Brief& brief) {
  std::vector<std::string> parts;
  for (const DeviceStep& step : family.device_steps) {
    if (step.cpu.problem == *brief.problem && step.speed_up)
      parts.push_back(
          fmt::format("{} {}", timed_name(family, step.cpu.op), format::times(*step.speed_up.factor)));
  }
  if (parts.empty()) return {};
  return fmt::format("From the CPU to the GPU, the best of each: {} as fast.", format::list(parts));
}

}  // namespace

std::string precision_label(const Precision& precision) {
  if (!precision.format.empty()) return mprof::precision_name(precision.format);
  return precision.tolerance ? format::scientific(*precision.tolerance) : "";
}

std::string tight_factor_text(const Leader& leader) {
  const SpeedUp& over = leader.as_tight_over;
  if (leader.as_tight == nullptr || !over || over.is_open_by_disturbance()) return {};
  return factor_in(leader.tight, *over.factor, *leader.as_tight);
}

json brief_together(const FamilyResult& family, const Brief& brief) {
  const bool has_whole =
      std::ranges::any_of(brief.leaders, [](const Leader& leader) { return leader.best->op.empty(); });
  const std::optional<json> line = has_whole ? together_line(family, brief) : std::nullopt;
  return line ? json::array({*line}) : json::array();
}

json brief_best(const FamilyResult& family, const Brief& brief) {
  json lines = json::array();
  for (const Leader& leader : brief.leaders) {
    if (leader.best->op.empty()) {
      if (auto together = together_line(family, brief)) lines.push_back(*std::move(together));
    }
    lines.push_back(leader_line(family, brief, leader));
  }
  return lines;
}

json brief_outlook(const FamilyResult& family, const Brief& brief, const PageContext& page) {
  const BudgetComparison comparison = compare_budgets(family, page.materials->evidence);
  json lines = json::array();
  const auto add = [&](std::optional<json> line) {
    if (line) lines.push_back(*std::move(line));
  };
  add(why_line(family, brief));
  add(bound_line(family, brief));
  lines.push_back(time_line(family, comparison));
  add(next_line(family, comparison, page));
  return lines;
}

json brief_right(const FamilyResult& family) {
  return json::array({right_line(family)});
}

json brief_details(const FamilyResult& family, const Brief& brief) {
  json lines = tight_lines(family, brief);
  for (const RivalStep& step : brief.rivals) lines.push_back(rival_line(family, step));
  return lines;
}

json brief_notes(const FamilyResult& family, const Brief& brief) {
  json notes = json::array();
  for (const std::string& text :
       {elsewhere_sentence(family, brief), devices_sentence(family, brief), unswept_sentence(family)}) {
    if (!text.empty()) notes.push_back(text);
  }
  return notes;
}

}  // namespace mprof
