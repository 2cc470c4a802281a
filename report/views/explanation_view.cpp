// SPDX-License-Identifier: MIT
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/analysis/reasons/explanations.hpp"
#include "report/text/format.hpp"
#include "report/views/cells.hpp"
#include "report/views/views.hpp"
#include "report/wording/judgement.hpp"
#include "report/wording/reasons.hpp"
#include "report/wording/why.hpp"

/// Why a variant is faster or slower than its baseline, in words.
namespace mprof {
namespace {

using nlohmann::json;

constexpr std::size_t shown_reasons = 5;
constexpr std::size_t shown_against = 3;
constexpr std::size_t shown_context = 2;

/// Weaker ones are counted, not shown: a twentieth of the whole change is no reason for it.
constexpr double worth_showing = 0.05;

/// "3 smaller ones": what is folded away on a page.
std::string smaller_text(std::size_t left) {
  return left == 0 ? "" : fmt::format("{} smaller {}", left, left == 1 ? "one" : "ones");
}

std::string more_text(std::size_t left) {
  return left == 0 ? "" : fmt::format("{} {} not shown", smaller_text(left), left == 1 ? "is" : "are");
}

/// One list under a head: { head, reasons: [{text, of_longest, rule}], more, smaller, rest: [as reasons] }.
json list_view(const Words& words, std::string_view head, const std::vector<Reason>& reasons,
               std::size_t most, double floor, bool several_kernels) {
  json list = json::array(), rest = json::array();
  for (const Reason& reason : reasons) {
    const bool left_out = !rest.empty() || list.size() == most || (!list.empty() && reason.strength < floor);
    (left_out ? rest : list)
        .push_back({{"text", reason_text(reason, words)},
                    {"of_longest", several_kernels && reason.of_longest_kernel},
                    {"rule", std::string(reason.rule->id)}});
  }
  return {{"head", head},
          {"reasons", list},
          {"more", more_text(rest.size())},
          {"smaller", smaller_text(rest.size())},
          {"rest", rest}};
}

/// What was timed too seldom has no interval, however large the difference.
bool lacks_interval(const Explanation& explanation) {
  return explanation.speed_up && !explanation.speed_up.interval;
}

std::string word(const Explanation& explanation) {
  if (!explanation.before && !explanation.after) return "no verdict";
  switch (explanation.speed_up.verdict) {
    case Verdict::faster:
      return "faster";
    case Verdict::slower:
      return "slower";
    case Verdict::same:
      return fmt::format("the same ({})", no_change_text(explanation.speed_up));
    case Verdict::inconclusive:
      break;
  }
  std::vector<std::string> details;
  if (explanation.speed_up.is_open_by_disturbance()) details.emplace_back("a time was disturbed");
  if (explanation.speed_up.no_change_above) details.push_back(no_change_text(explanation.speed_up));
  return details.empty() ? "inconclusive" : fmt::format("inconclusive ({})", fmt::join(details, "; "));
}

std::string times_text(const Words& words, const Explanation& explanation) {
  if (!explanation.speed_up) return say(explanation.speed_up.absent);
  std::string text = fmt::format("{} {} → {}, {}", words.time(explanation.time),
                                 format::quantity(explanation.before->median, Unit::second),
                                 format::quantity(explanation.after->median, Unit::second),
                                 format::times(*explanation.speed_up.factor));
  if (explanation.speed_up.interval) {
    text += fmt::format(
        " ({})", format::times(explanation.speed_up.interval->low, explanation.speed_up.interval->high));
  }
  return text;
}

std::string not_measured_text(const Explanation& explanation) {
  if (explanation.missing.empty()) return {};
  std::vector<std::string> kinds;
  for (const MissingEvidence& missing : explanation.missing) kinds.push_back(missing_text(missing));
  return fmt::format("Not measured: {}.", fmt::join(kinds, "; "));
}

/// What to say when no rule speaks for the change.
std::string silence(const Explanation& explanation) {
  if (!explanation.speed_up || !explanation.reasons.empty()) return {};
  if (lacks_interval(explanation)) return "There is no verdict to explain, and no rule found a change.";
  if (explanation.change() == Verdict::same) return "No rule found a change worth a line either.";
  if (explanation.change() == Verdict::inconclusive)
    return "The difference in time is inconclusive, and no rule found a change worth a line.";
  if (!explanation.missing.empty()) return "No rule that can be asked explains it.";
  return "No rule explains it: each asks for a larger change than was measured of anything in that "
         "direction.";
}

std::string_view head_of_reasons(const Explanation& explanation) {
  if (lacks_interval(explanation)) return "What changed; there are too few samples for a verdict on the time";
  if (explanation.change() == Verdict::same) return "What changed, though the time hardly did";
  return explanation.change() == Verdict::inconclusive
             ? "What changed, though the difference in time is inconclusive"
             : "Because";
}

}  // namespace

json explained_view(const Words& words, const Explanation& explanation) {
  const bool open = !is_change(explanation.change());
  const double change = explanation.speed_up ? std::abs(std::log(*explanation.speed_up.factor)) : 0;
  json lists = json::array();
  const auto add = [&](std::string_view head, const std::vector<Reason>& reasons, std::size_t most,
                       double floor) {
    if (!reasons.empty())
      lists.push_back(list_view(words, head, reasons, most, floor, explanation.several_kernels));
  };
  add(head_of_reasons(explanation), explanation.reasons, shown_reasons, open ? 0 : worth_showing * change);
  add("Also differs, but explains little", explanation.little, shown_against, 0);
  add("Despite", explanation.against, shown_against, 0);
  add("Worth knowing", explanation.context, shown_context, 0);
  return {{"op", format::one_line(explanation.op)},
          {"at", words.at(explanation.problem)},
          {"verdict", word(explanation)},
          {"times", times_text(words, explanation)},
          {"kernels", kernels_text(explanation)},
          {"silence", silence(explanation)},
          {"lists", lists},
          {"missing", not_measured_text(explanation)}};
}

/// "Because A. B. Despite: C.": the strongest ones, on one line.
std::string line_of(const Words& words, const Explanation& explanation) {
  constexpr std::size_t most_reasons = 2;
  const auto sentences = [&](const std::vector<Reason>& reasons, std::size_t most) {
    std::vector<std::string> texts;
    for (const Reason& reason : reasons) {
      if (texts.size() < most) texts.push_back(reason_text(reason, words));
    }
    return fmt::format("{}", fmt::join(texts, " "));
  };
  std::string text = fmt::format("{}: {}, {}.", format::one_line(explanation.op), word(explanation),
                                 times_text(words, explanation));
  if (!is_change(explanation.change())) return text;
  if (explanation.reasons.empty())
    return format::one_line(fmt::format("{} {}{}{}", text, silence(explanation),
                                        explanation.missing.empty() ? "" : " ",
                                        not_measured_text(explanation)));
  text += " " + sentences(explanation.reasons, most_reasons);
  if (!explanation.against.empty()) text += " Despite: " + sentences(explanation.against, 1);
  return text;
}

json explanation_view(const FamilyResult& family, const VariantResult& variant, Anchors& anchors) {
  const Explanations explanations = explain(family, variant);
  json items = json::array();
  json lines = json::array();
  for (const Explanation& explanation : explanations.of_ops) {
    items.push_back(explained_view(family.words, explanation));
    if (explanation.problem == explanations.of_ops.front().problem)
      lines.push_back(line_of(family.words, explanation));
  }
  const bool is_baseline = variant.info.baseline.empty();
  return {{"anchor", anchors.make(variant.info.id + " why")},
          {"shown", !is_baseline},
          {"baseline", format::short_id(variant.info.baseline)},
          {"absent", is_baseline ? "" : say(explanations.absent)},
          {"items", items},
          {"lines", lines}};
}

}  // namespace mprof
