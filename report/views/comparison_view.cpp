// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "report/analysis/machines/environment.hpp"
#include "report/text/format.hpp"
#include "report/views/cells.hpp"
#include "report/views/json_parts.hpp"
#include "report/views/table.hpp"
#include "report/views/views.hpp"
#include "report/wording/comparison.hpp"
#include "report/wording/judgement.hpp"
#include "report/wording/precision.hpp"
#include "report/wording/why.hpp"

namespace mprof {
namespace {

using nlohmann::json;

std::string time_name(const Comparison& comparison, const CaseComparison& c, const TimeComparison& time) {
  return compared_time(words_of(comparison, c), time);
}

Cell verdict_cell(const TimeComparison& time) {
  const SpeedUp& speed_up = time.speed_up;
  if (time.is_incomparable)
    return Cell::words("incomparable", Tone::quiet).noted(say(speed_up.reason, of_runs));
  const std::string despite = despite_text(speed_up);
  // By the bound, and the rounds that are missing.
  const bool is_told = speed_up.more_rounds || speed_up.reason.because == Because::processes_vary;
  return Cell::words(verdict_text(speed_up) + unlike_formats(time), tone_of(speed_up.verdict))
      .noted(is_told            ? std::string()
             : !despite.empty() ? despite
                                : say(speed_up.reason, of_runs));
}

Cell compared_value(const TimeComparison& time, const Value& value) {
  Cell cell = Cell::value(value);
  if (time.metric == "step_time" && value && value->rounds == 1 && value->disturbed.empty())
    cell.note = one_traced_execution();
  return cell;
}

Cell more_rounds_cell(const SpeedUp& speed_up) {
  if (!speed_up.more_rounds) return Cell::dash();
  return Cell::figure(fmt::format("+{}", *speed_up.more_rounds)).valued(*speed_up.more_rounds);
}

using Cases = std::vector<const CaseComparison*>;

/// Whether the launches of a kernel hardly differ: a profile has hundreds of kernels.
bool is_about_alike(const Comparison& comparison, const TimeComparison& time) {
  return !time.kernel.empty() && is_traced(time) && time.ratio && !is_change(time.speed_up.verdict) &&
         std::max(*time.ratio, 1 / *time.ratio) - 1 < comparison.thresholds.of(*time.a, *time.b);
}

/// `all`: also the times of traces that hardly differ.
Table times_table(const Comparison& comparison, const Cases& cases, bool all) {
  Table table("times", "Times, A to B");
  table.text("Case").text("Time").numbers("A", Unit::second).numbers("B", Unit::second).numbers("Change");
  table.numbers("Speed-up").spare().text("Verdict");  // the change says it as well
  const bool wants_rounds = std::ranges::any_of(cases, [](const CaseComparison* c) {
    return std::ranges::any_of(
        c->times, [](const TimeComparison& time) { return time.speed_up.more_rounds.has_value(); });
  });
  if (wants_rounds) table.numbers("More rounds").spare();
  for (const CaseComparison* c : cases) {
    for (const TimeComparison& time : c->times) {
      if (!all && is_about_alike(comparison, time)) continue;
      const Cell change = time.ratio ? Cell::figure(format::signed_percent(*time.ratio - 1))
                                           .with(tone_of(time.speed_up.verdict))
                                           .valued(*time.ratio)
                                     : Cell::missing(say(time.speed_up.reason, of_runs));
      const Cell factor =
          time.speed_up ? Cell::figure(format::times(*time.speed_up.factor)).valued(*time.speed_up.factor)
                        : Cell::missing(time.speed_up.absent);
      std::vector<Cell> cells{Cell::words(compared_name(*c)),
                              Cell::words(time_name(comparison, *c, time)),
                              compared_value(time, time.a),
                              compared_value(time, time.b),
                              change,
                              factor,
                              verdict_cell(time)};
      if (wants_rounds) cells.push_back(more_rounds_cell(time.speed_up));
      table.row(std::move(cells));
    }
  }
  return table;
}

Cell status_cell(Status status, const std::string& reason) {
  Cell cell = Cell::words(to_string(status), status == Status::ok ? Tone::plain : Tone::bad);
  if (status != Status::ok) cell.note = format::one_line(reason);
  return cell;
}

/// Cases without times, for they were not ok on both sides.
bool is_ok_in_both(const CaseComparison& c) {
  return c.status_a == Status::ok && c.status_b == Status::ok;
}

Table status_table(const Comparison& comparison) {
  Table table("status", "Cases that were not ok in both runs");
  table.text("Case").text("A").text("B");
  for (const CaseComparison* c : comparison.by_importance()) {
    if (is_ok_in_both(*c)) continue;
    table.row({Cell::words(compared_name(*c)), status_cell(c->status_a, c->reason_a),
               status_cell(c->status_b, c->reason_b)});
  }
  return table;
}

/// The qualities that changed somewhere, by label, each with its cases; in the order of appearance.
std::vector<std::pair<std::string, Table>> quality_tables(const Comparison& comparison) {
  std::vector<std::pair<std::string, Table>> tables;
  for (const CaseComparison* c : comparison.by_importance()) {
    for (const QualityComparison& quality : c->qualities) {
      if (!quality.change || *quality.change == 0) continue;
      const std::string label = format::one_line(quality.info.label);
      auto known = std::ranges::find(tables, label, &std::pair<std::string, Table>::first);
      if (known == tables.end()) {
        tables.emplace_back(label, Table(format::slug(label), label + " that changed"));
        known = tables.end() - 1;
        known->second.text("Case").numbers("A").numbers("B").numbers("Change");
      }
      const Unit unit = quality.info.unit;
      known->second.row({Cell::words(compared_name(*c)), Cell::quality(quality.a, unit),
                         Cell::quality(quality.b, unit),
                         Cell::figure(format::signed_quality(*quality.change, unit))
                             .with(quality.lost() ? Tone::bad : Tone::plain)
                             .valued(*quality.change)});
    }
  }
  return tables;
}

Cell error_cell(const Verification& verification) {
  return Cell::figure(format::scientific(verification.relative_l2))
      .with(verification.passed ? Tone::plain : Tone::bad)
      .valued(verification.relative_l2);
}

/// "2.0e-3"; "1.0e-5 → 2.0e-3, right in FP16 or TF32" where the two runs were not verified alike.
Cell tolerance_cell(const Verification& a, const Verification& b) {
  std::string text = format::scientific(b.tolerance);
  if (a.tolerance != b.tolerance) text = fmt::format("{} → {}", format::scientific(a.tolerance), text);
  if (const std::string right = right_in(b); !right.empty() && right != right_in(a)) text += ", " + right;
  return Cell::figure(text).valued(b.tolerance);
}

Table verification_table(const Comparison& comparison) {
  Table table("verification", "Errors against the reference that changed");
  table.text("Case").text("Op").numbers("A").numbers("B").numbers("Tolerance");
  for (const CaseComparison* c : comparison.by_importance()) {
    for (const VerificationComparison& changed : c->verifications) {
      table.row({Cell::words(compared_name(*c)), Cell::words(changed.op), error_cell(changed.a),
                 error_cell(changed.b).noted(format::one_line(changed.b.finding)),
                 tolerance_cell(changed.a, changed.b)});
    }
  }
  return table;
}

/// The differences in conditions, and what that means for the times: empty where there are none.
std::string conditions_sentence(const Comparison& comparison) {
  if (comparison.unlike.empty()) return {};
  if (comparison.allows_unlike)
    return "Different conditions: a verdict on a time that depends on them says nothing of the code alone.";
  const std::size_t times = comparison.incomparable();
  return fmt::format("Different conditions: {} that {} on them {} not compared.",
                     format::plural(times, "time"), times == 1 ? "depends" : "depend",
                     times == 1 ? "is" : "are");
}

json conditions(const std::vector<Unlike>& unlike) {
  json list = json::array();
  for (const Unlike& one : unlike) list.push_back(format::one_line(unlike_text(one)));
  return list;
}

Cell figure_cell(const Metric* metric, double value) {
  return Cell::figure(metric == nullptr ? format::significant(value) : format::quantity(value, metric->unit))
      .valued(value);
}

/// Of cases that are compared by traces: counts, bytes and counters that differ.
Table figures_table(const Comparison& comparison, const Cases& cases) {
  constexpr std::size_t most = 100;
  Table table("figures", "What else the traces and counters of both know, where it differs by more than 1 %");
  table.text("Case").text("Op").text("Kernel").text("Figure").numbers("A").numbers("B").numbers("Change");
  std::size_t rows = 0;
  for (const CaseComparison* c : cases) {
    const FamilyInfo family;
    for (const TracedFigure& figure : c->figures) {
      if (!figure.differs() || ++rows > most) continue;
      const Metric* const metric = find_metric(figure.metric);
      table.row(
          {Cell::words(compared_name(*c)), Cell::words(format::one_line(figure.op)),
           Cell::words(format::short_id(figure.kernel)),
           Cell::words(metric_label(family, words_of(comparison, *c), figure.metric)),
           figure_cell(metric, figure.a), figure_cell(metric, figure.b),
           figure.a == 0
               ? Cell::missing("nothing is a percentage of 0")
               : Cell::figure(format::signed_percent(figure.b / figure.a - 1)).valued(figure.b / figure.a)});
    }
  }
  return table;
}

json strings(const std::vector<std::string>& texts) {
  json list = json::array();
  for (const std::string& text : texts) list.push_back(format::one_line(text));
  return list;
}

json summary_view(const RunSummary& run, std::string_view letter) {
  return {{"letter", letter},
          {"name", format::one_line(run.name)},
          {"started", moment(run.started)},
          {"tool", format::one_line(fmt::format("mprof {} ({})", run.version, run.revision))},
          {"machine", run.machine}};
}

std::string verdict_sentence(const Comparison& comparison) {
  const std::size_t timed = comparison.timed();
  if (timed == 0) return "No common case has a time on both sides.";
  std::vector<std::string> parts;
  for (const Verdict verdict : {Verdict::faster, Verdict::slower, Verdict::same, Verdict::inconclusive}) {
    parts.push_back(fmt::format("{} {}", comparison.count(verdict), to_string(verdict)));
  }
  const bool is_bounded = std::ranges::any_of(comparison.cases, [](const CaseComparison& c) {
    return std::ranges::any_of(
        c.times, [](const TimeComparison& time) { return time.speed_up.no_change_above.has_value(); });
  });
  std::size_t unlike = 0;
  for (const CaseComparison& c : comparison.cases) {
    unlike += static_cast<std::size_t>(std::ranges::count_if(c.times, [](const TimeComparison& time) {
      return !time.has_like_formats && !time.is_incomparable && is_change(time.speed_up.verdict);
    }));
  }
  const std::string formats =
      unlike == 0 ? std::string()
                  : fmt::format(" {} of the faster and slower times {} A and B in different number formats.",
                                format::count(unlike), unlike == 1 ? "compares" : "compare");
  return fmt::format("Of the times in {}, B against A: {}{}.{}", format::plural(timed, "common case"),
                     format::list(parts), is_bounded ? " (≤: the data exclude a larger change)" : "",
                     formats);
}

/// "4 of 8 times are undecided, the largest by +268.5 % (map/mine@1000, map: other processes used the CPUs)";
/// empty where none is.
std::string undecided_sentence(const Comparison& comparison) {
  const std::vector<Undecided> undecided = comparison.undecided();
  if (undecided.empty()) return {};
  std::size_t times = 0;
  for (const CaseComparison& c : comparison.cases) times += c.times.size();
  std::string text = fmt::format("{} of {} {} undecided", format::count(undecided.size()),
                                 format::plural(times, "time"), undecided.size() == 1 ? "is" : "are");
  const auto& [of_case, time] = undecided.front();
  if (!time->ratio) return text;
  return fmt::format("{}, {}by {} ({}, {}: {})", text, undecided.size() == 1 ? "" : "the largest ",
                     format::signed_percent(*time->ratio - 1), compared_name(*of_case),
                     named_time(words_of(comparison, *of_case), *time), say(time->speed_up.reason, of_runs));
}

/// What fails it beside regressions, or why they do not.
std::string gate_sentence(const Comparison& comparison) {
  const FailOn& fail_on = comparison.fail_on;
  if (comparison.regression() && !comparison.failed()) return " Slower alone is no failure here (--fail-on).";
  std::vector<std::string> parts;
  const auto inconclusive =
      static_cast<std::size_t>(std::ranges::count_if(comparison.cases, [](const CaseComparison& c) {
        return std::ranges::any_of(c.times, [](const TimeComparison& time) {
          return time.speed_up.verdict == Verdict::inconclusive;
        });
      }));
  if (fail_on.inconclusive && inconclusive > 0)
    parts.push_back(fmt::format("{} with an inconclusive time", format::plural(inconclusive, "case")));
  if (fail_on.missing && comparison.missing() > 0)
    parts.push_back(fmt::format("{} missing in B", format::plural(comparison.missing(), "case")));
  return parts.empty() ? std::string() : fmt::format(" Failed (--fail-on): {}.", format::list(parts));
}

std::string headline(const Comparison& comparison) {
  std::size_t worse = 0;
  for (const CaseComparison& c : comparison.cases) worse += c.regressions.empty() ? 0 : 1;
  const std::string undecided = undecided_sentence(comparison);
  std::string text;
  if (worse > 0) {
    text = fmt::format("Regression in {} of {}.", worse, format::plural(comparison.judged(), "common case"));
    if (!undecided.empty()) text += fmt::format(" {}.", undecided);
  } else if (!undecided.empty()) {
    text = fmt::format("No regression found; {}.", undecided);
  } else {
    text = comparison.timed() == 0 ? "No regression found." : "No regression.";
  }
  return text + gate_sentence(comparison);
}

std::string mean_text(const MeanRatio& mean, std::string_view what) {
  if (mean.count + mean.left_out == 0) return {};
  const std::string left_out =
      mean.left_out == 0 ? "" : fmt::format(" ({} left out: disturbed)", format::count(mean.left_out));
  if (mean.count == 0) return fmt::format("none of {}s{}", what, left_out);
  return fmt::format("{} of {}{}", format::signed_percent(mean.ratio - 1), format::plural(mean.count, what),
                     left_out);
}

/// Empty where no time is known on both sides.
std::string means_sentence(const Comparison& comparison) {
  std::vector<std::string> parts;
  for (const std::string& part : {mean_text(comparison.mean_of_ops(), "op time"),
                                  mean_text(comparison.mean_of_totals(), "total time")}) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts.empty() ? std::string()
                       : fmt::format("Geometric mean of the changes: {}.", format::list(parts));
}

/// What was measured to change by more than its threshold, without a verdict: the largest ones.
json undecided_view(const Comparison& comparison, std::size_t most) {
  constexpr std::size_t shown = 20;
  json items = json::array();
  std::size_t more = 0;
  for (const auto& [of_case, time] : comparison.undecided()) {
    if (!comparison.is_beyond_threshold(*time)) continue;
    if (items.size() >= std::min(shown, most)) {
      ++more;
      continue;
    }
    items.push_back(
        {{"id", compared_name(*of_case)}, {"what", undecided_text(words_of(comparison, *of_case), *time)}});
  }
  const bool any = !items.empty() || more > 0;
  return {{"any", any}, {"items", items}, {"more", more == 0 ? "" : fmt::format("and {} more", more)}};
}

json regressions_view(const Comparison& comparison, std::size_t most) {
  json list = json::array();
  for (const CaseComparison* c : comparison.by_importance()) {
    if (list.size() == most) break;
    if (c->regressions.empty()) continue;
    std::vector<std::string> texts;
    for (const Regression& regression : c->regressions)
      texts.push_back(regression_text(words_of(comparison, *c), *c, regression));
    list.push_back({{"id", compared_name(*c)}, {"what", format::list(texts)}});
  }
  return list;
}

/// Tables in the order of the page, without the empty ones: what is wrong first.
json tables_view(const Comparison& comparison, const Cases& cases, bool all_times) {
  std::vector<Table> all{status_table(comparison), times_table(comparison, cases, all_times)};
  for (auto& [label, table] : quality_tables(comparison)) all.push_back(std::move(table));
  all.push_back(verification_table(comparison));
  all.push_back(figures_table(comparison, cases));
  json tables = json::array();
  for (const Table& table : all) {
    if (!table.empty()) tables.push_back(table.view());
  }
  return tables;
}

/// Of the times of traces that the table lacks.
std::string alike_sentence(const Comparison& comparison, const Cases& cases) {
  std::size_t alike = 0;
  for (const CaseComparison* c : cases) {
    alike += static_cast<std::size_t>(std::ranges::count_if(
        c->times, [&](const TimeComparison& time) { return is_about_alike(comparison, time); }));
  }
  if (alike == 0) return {};
  return fmt::format("{} of traces changed by less than {}, and {} left out: --all shows {}.",
                     format::plural(alike, "time"), threshold_text(comparison.thresholds.device),
                     alike == 1 ? "is" : "are", alike == 1 ? "it" : "them");
}

std::string left_out_sentence(std::size_t left_out, Importance least) {
  if (left_out == 0) return {};
  const bool one = left_out == 1;
  return fmt::format("{} without a {}change {} left out{}.", format::plural(left_out, "case"),
                     least < Importance::inconclusive ? "certain " : "", one ? "is" : "are",
                     least < Importance::inconclusive ? ""
                     : one                            ? ": --all shows it"
                                                      : ": --all shows them");
}

std::string more_sentence(std::size_t more) {
  return more == 0 ? std::string() : fmt::format("{} more changed.", format::plural(more, "case"));
}

std::string untold_sentence(std::size_t told, std::size_t changed) {
  if (told >= changed) return {};
  return fmt::format("The first {} of {} changed cases; --all tells of all.", told, changed);
}

}  // namespace

std::string compared_name(const CaseComparison& c) {
  const std::string a = format::short_id(c.id);
  return c.id == c.id_b ? a : fmt::format("{} → {}", a, format::short_id(c.id_b));
}

json comparison_view(const Comparison& comparison, const ComparisonScope& scope) {
  Cases shown = comparison.by_importance();
  const auto is_left_out = [&](const CaseComparison* c) { return c->importance > scope.least; };
  const std::ptrdiff_t left_out = std::ranges::count_if(shown, [&](const CaseComparison* c) {
    return is_left_out(c) && is_ok_in_both(*c);  // the others are in the table of what was not ok
  });
  std::erase_if(shown, is_left_out);
  const std::size_t wanted = shown.size();
  if (shown.size() > scope.most_cases) shown.resize(scope.most_cases);
  const auto changed = static_cast<std::size_t>(
      std::ranges::count_if(shown, [](const CaseComparison* c) { return !c->ops.empty(); }));
  const json changes = changes_view(comparison, std::min(changed, scope.most_told));
  const bool all = scope.least == Importance::unchanged;
  std::string missing = left_out_sentence(static_cast<std::size_t>(left_out), scope.least);
  if (const std::string alike = all ? "" : alike_sentence(comparison, shown); !alike.empty())
    missing += (missing.empty() ? "" : " ") + alike;
  const json programs = program_changes_view(comparison, all);
  return {
      {"title", fmt::format("{} against {}", format::one_line(comparison.b.name),
                            format::one_line(comparison.a.name))},
      {"headline", headline(comparison)},
      {"regression", comparison.regression()},
      {"unlike", conditions(comparison.unlike)},
      {"is_unlike", conditions_sentence(comparison)},
      {"verdicts", verdict_sentence(comparison)},
      {"means", means_sentence(comparison)},
      {"rule",
       fmt::format(
           "Faster, slower: a t-test on the logarithms of the rounds' medians has p of at most {} %, and the "
           "change exceeds {}. The variance of each time is moderated by all times of its clock, and p is "
           "adjusted by Holm's method for all times compared. Same: the 95 % interval of the change lies "
           "within that. Inconclusive: neither. ≤: the data exclude a larger change of this time. Of a time "
           "that was disturbed, only the part of the change that the disturbance cannot explain counts.",
           100 * significance, thresholds_text(comparison.thresholds))},
      {"runs", {summary_view(comparison.a, "A"), summary_view(comparison.b, "B")}},
      {"regressions", regressions_view(comparison, scope.most_cases)},
      {"has_regressions", comparison.regression()},
      {"undecided", undecided_view(comparison, scope.most_cases)},
      {"tables", tables_view(comparison, shown, all)},
      {"left_out", std::move(missing)},
      {"more", more_sentence(wanted - shown.size())},
      {"changes", changes},
      {"has_changes", !changes.empty()},
      {"programs", programs},
      {"has_programs", !programs.empty()},
      {"untold", untold_sentence(changes.size(), changed)},
      {"only_in_a", strings(comparison.only_in_a)},
      {"only_in_b", strings(comparison.only_in_b)},
      {"has_only_in_a", !comparison.only_in_a.empty()},
      {"has_only_in_b", !comparison.only_in_b.empty()},
      {"notes", strings(comparison.notes)},
      {"has_notes", !comparison.notes.empty()}};
}

}  // namespace mprof
