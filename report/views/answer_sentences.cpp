// SPDX-License-Identifier: MIT
#include "report/views/answer_sentences.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "report/analysis/judgement/verification.hpp"
#include "report/text/format.hpp"
#include "report/wording/why.hpp"

namespace mprof {
namespace {

/// "map from 24.13 ms (map/threads) to 438.2 µs (map/vectors), 55.1× as fast"
std::string step_text(const FamilyResult& family, const DeviceStep& step) {
  const auto side = [](const Best& best) {
    return fmt::format("{} ({})", format::quantity(best.time()->median, Unit::second),
                       format::short_id(best.fastest->configuration));
  };
  const bool told = is_change(step.speed_up.verdict) || step.speed_up.verdict == Verdict::same;
  return fmt::format("{} from {} to {}, {} as fast{}", timed_name(family, step.cpu.op), side(step.cpu),
                     side(step.gpu), format::times(*step.speed_up.factor),
                     told ? "" : " (not sure: " + say(step.speed_up.reason) + ")");
}

constexpr std::size_t most_named = 3;

/// "All 24 outputs", "The output"
std::string all_of(std::size_t count, const std::string& noun) {
  return count == 1 ? "The " + noun : fmt::format("All {}", format::plural(count, noun));
}

/// What was looked at while times were taken; empty where the record does not say it.
std::string scrutiny_sentence(const FamilyResult& family) {
  const Scrutiny& scrutiny = family.scrutiny;
  if (scrutiny.executions == 0) return {};
  std::string text =
      fmt::format(" mprof also checked {}", format::plural(scrutiny.executions, "timed execution"));
  const std::string items = format::one_line(family.info.nouns.items);
  if (scrutiny.orders > 1)
    text += fmt::format(", with the {} in up to {} different orders", items.empty() ? "inputs" : items,
                        scrutiny.orders);
  if (scrutiny.unseen > 0)
    text += fmt::format(", and {} on random inputs", format::plural(scrutiny.unseen, "execution"));
  return text + ".";
}

}  // namespace

bool is_cut(const std::vector<std::string>& names) {
  return names.size() > most_named + 1;  // "1 other" is no shorter than its name
}

std::string timed_name(const FamilyResult& family, const std::string& op) {
  return op.empty() ? "whole " + family.words.whole() : format::short_id(op);
}

/// The cases of programs whose outputs were verified, and those of them that were right.
std::pair<std::size_t, std::size_t> verified_programs(const FamilyResult& family) {
  std::size_t verified = 0, right = 0;
  for (const VariantResult& variant : family.variants) {
    for (const CaseResult& result : variant.cases) {
      if (verified_by(*result.source).empty()) continue;
      ++verified;
      if (result.status != Status::wrong) ++right;
    }
  }
  return {verified, right};
}

bool is_verified(const FamilyResult& family) {
  return family.verified.outputs > 0 || verified_programs(family).first > 0;
}

std::string quality_sentence(const FamilyResult& family, const QualityRange& range) {
  const Unit unit = range.info->unit;
  const std::string values = range.lowest == range.highest
                                 ? format::quality(range.lowest, unit)
                                 : fmt::format("{} to {}", format::quality(range.lowest, unit),
                                               format::quality(range.highest, unit));
  return fmt::format("{} {}: {} {} over {}.", format::one_line(range.info->label),
                     range.kept ? "is kept" : "is not kept", values, family.words.at(range.problem),
                     format::plural(range.variants, is_verified(family) ? "verified variant" : "variant"));
}

std::string remainder_sentence(const FamilyResult& family) {
  const auto fastest = fastest_ops(family);
  if (!fastest) return {};
  const Words& words = family.words;
  const CaseResult& result = *fastest->result;
  const bool one_op = family.ops.size() == 1;
  const std::string level_with =
      fastest->level == 0 ? "" : fmt::format(" (tied with {})", format::plural(fastest->level, "other"));
  const std::string rest =
      family.all_are(&VariantInfo::is_program)
          ? "what else the program does"
          : "copies, allocation and " +
                (words.has_group() ? "the other " + words.groups() : "what else it does");
  return fmt::format(
      "{}: {} of the {} that the whole {} takes with it {} ({}). {} alone cannot save more than that: the "
      "rest is {}.",
      one_op
          ? "The op of " + format::short_id(result.configuration) + " is the fastest" + level_with
          : "The ops of " + format::short_id(result.configuration) + " are the fastest together" + level_with,
      format::quantity(fastest->time, Unit::second),
      format::quantity(result.total_time->median, Unit::second), words.whole(), words.at(result.key.problem),
      format::percent(fastest->share), one_op ? "A faster op" : "Faster ops", rest);
}

std::string some_of(std::vector<std::string> names) {
  if (!is_cut(names)) return format::list(names);
  const std::size_t left = names.size() - most_named;
  names.resize(most_named);
  names.push_back(format::plural(left, "other"));
  return format::list(names);
}

std::string unswept_sentence(const FamilyResult& family) {
  std::string text;
  for (const NamedList& list : unswept_lists(family)) {
    if (!list.items.empty()) text += fmt::format("{}: {}. ", list.title, some_of(list.items));
  }
  return text.empty() ? text : text + "Other values may be faster.";
}

std::vector<NamedList> unswept_lists(const FamilyResult& family) {
  NamedList usual{"Not swept, so at their defaults", {}}, chosen{"Not swept, at one value alone", {}};
  for (const Unswept& one : unswept(family)) {
    std::vector<std::string> values;
    for (const auto& [name, value] : one.parameters) values.push_back(name + "=" + value);
    (one.at_defaults ? usual : chosen)
        .items.push_back(fmt::format("{} ({})", format::short_id(one.variant->info.id),
                                     format::one_line(fmt::format("{}", fmt::join(values, ", ")))));
  }
  return {usual, chosen};
}

std::string reference_words(const FamilyResult& family) {
  return family.has_own_reference ? "the reference that the family's own file gives"
                                  : "the double-precision reference";
}

std::string verification_sentence(const FamilyResult& family) {
  const VerificationSummary& sum = family.verified;
  const auto [programs, right_ones] = verified_programs(family);
  if (programs > 0) {
    const bool all = programs == right_ones;
    return all ? fmt::format("{} that the suite asks for passed.", all_of(programs, "verification"))
               : fmt::format("{} of {} that the suite asks for failed.", programs - right_ones,
                             format::plural(programs, "verification"));
  }
  if (sum.outputs == 0) return "No output was verified.";
  const std::string within = fmt::format("within tolerance of {}", reference_words(family));
  return (sum.all_passed() ? fmt::format("{} {} {}.", all_of(sum.outputs, "output"),
                                         sum.outputs == 1 ? "is" : "are", within)
                           : fmt::format("{} of {} {} not {}.", sum.outputs - sum.passed,
                                         format::plural(sum.outputs, "output"),
                                         sum.outputs - sum.passed == 1 ? "is" : "are", within)) +
         scrutiny_sentence(family);
}

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
      "From the CPU to the GPU, the best of each {}: {}. Op times on the GPU contain no copy; the time of "
      "the whole {} contains all copies.",
      family.words.at(*largest), fmt::join(parts, "; "), family.words.whole());
}

}  // namespace mprof
