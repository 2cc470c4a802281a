// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "model/case_file.hpp"
#include "model/derive/derive.hpp"
#include "model/rounds.hpp"
#include "report/analysis/judgement/compare.hpp"
#include "report/analysis/judgement/in_turns.hpp"
#include "report/analysis/judgement/pairing.hpp"
#include "report/analysis/judgement/unlike_formats.hpp"
#include "report/analysis/judgement/verification.hpp"
#include "report/analysis/machines/environment.hpp"
#include "report/text/format.hpp"
#include "system/error.hpp"

namespace mprof {
namespace {

TimeComparison time_of(const Case& a, const Case& b, std::string_view metric, const std::string& op) {
  return {.metric = std::string(metric),
          .op = op,
          .a = value_of(a, metric, op),
          .b = value_of(b, metric, op),
          .ratio = {},
          .speed_up = {}};
}

std::vector<TimeComparison> times_of(const Case& a, const Case& b) {
  std::vector<TimeComparison> times;
  for (const OpInfo& op : a.ops) {
    std::string_view metric = comparable_time(a, b, op.name);
    times.push_back(time_of(a, b, metric, op.name));
    if (!times.back().a && !times.back().b && metric == "op_time") {
      metric = "group_time";  // a range of a program has no other
      times.back() = time_of(a, b, metric, op.name);
    }
    if (metric == "group_time" || !(holds_copies(a, op.name) || holds_copies(b, op.name))) continue;
    times.push_back(time_of(a, b, "group_time", op.name));
    times.back().is_beside = true;
  }
  times.push_back(time_of(a, b, "total_time", ""));
  std::erase_if(times, [](const TimeComparison& time) { return !time.a && !time.b; });
  return times;
}

/// Where the steps of both were found, and are the same ones.
void add_step_time(std::vector<TimeComparison>& times, const Case& a, const Case& b) {
  const Measurement* const before = find_measurement(a, "step_time");
  const Measurement* const after = find_measurement(b, "step_time");
  if (before != nullptr && after != nullptr && have_like_steps(*before, *after))
    times.insert(times.begin(), time_of(a, b, "step_time", ""));
}

bool is_broken(Status status) {
  return status == Status::wrong || status == Status::suspect || status == Status::failed ||
         status == Status::crashed || status == Status::timeout;
}

/// Neither run measured it, for one reason.
bool was_skipped_alike(const CaseComparison& c) {
  return c.status_a == Status::skipped && c.status_b == Status::skipped && c.reason_a == c.reason_b;
}

/// Whether any of its times is known on both sides, and was compared.
bool is_timed(const CaseComparison& c) {
  return std::ranges::any_of(
      c.times, [](const TimeComparison& time) { return time.a && time.b && !time.is_incomparable; });
}

/// Done in A, and not reached in B.
bool was_lost(const CaseComparison& c) {
  return c.status_a == Status::ok && c.status_b != Status::ok && !is_broken(c.status_b);
}

/// Places at which `is` holds, as that kind.
template <class Rows, class Is>
void add_where(std::vector<Regression>& found, Worse kind, const Rows& rows, Is is) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (is(rows[i])) found.push_back({kind, i});
  }
}

std::vector<Regression> regressions_of(const CaseComparison& result) {
  std::vector<Regression> regressions;
  if (result.status_a == Status::ok && is_broken(result.status_b)) regressions.push_back({Worse::broken});
  add_where(regressions, Worse::quality, result.qualities,
            [](const QualityComparison& quality) { return quality.lost(); });
  add_where(regressions, Worse::slower, result.times,
            [](const TimeComparison& time) { return time.speed_up.verdict == Verdict::slower; });
  return regressions;
}

bool is_judged(const TimeComparison& time, Verdict verdict) {
  return time.speed_up.verdict == verdict && !time.is_incomparable;
}

bool has_verdict(const CaseComparison& c, Verdict verdict) {
  return std::ranges::any_of(c.times, [&](const TimeComparison& time) { return is_judged(time, verdict); });
}

Importance importance_of(const CaseComparison& c) {
  const auto is_lost = [](const Regression& regression) { return regression.kind != Worse::slower; };
  if (std::ranges::any_of(c.regressions, is_lost)) return Importance::worse;
  if (has_verdict(c, Verdict::slower)) return Importance::slower;
  const bool mended = is_broken(c.status_a) && c.status_b == Status::ok;
  if (mended || has_verdict(c, Verdict::faster)) return Importance::faster;
  const bool nothing_compared =
      !c.times.empty() && std::ranges::all_of(c.times, &TimeComparison::is_incomparable);
  return nothing_compared || has_verdict(c, Verdict::inconclusive) ? Importance::inconclusive
                                                                   : Importance::unchanged;
}

/// Whether the error is another one by more than what another order of sums makes.
bool has_changed(const Verification& a, const Verification& b) {
  constexpr double noticeable_ratio = 2;
  if (a.passed != b.passed || a.tolerance != b.tolerance) return true;
  if (!have_like_formats(a, b)) return true;
  return std::max(a.relative_l2, b.relative_l2) > noticeable_ratio * std::min(a.relative_l2, b.relative_l2);
}

std::vector<VerificationComparison> verifications_of(const Case& a, const Case& b) {
  std::vector<VerificationComparison> changed;
  for (const OpInfo& op : a.ops) {
    const Verification* before = find_verification(a, op.name);
    const Verification* after = find_verification(b, op.name);
    if (before != nullptr && after != nullptr && has_changed(*before, *after))
      changed.push_back({op.name, *before, *after});
  }
  return changed;
}

/// Marks the times of ops whose outputs are right in different number formats.
void mark_formats(std::vector<TimeComparison>& times, const Case& a, const Case& b) {
  for (TimeComparison& time : times) {
    const auto formats = unlike_formats_of(a, b, time.op);
    if (!formats) continue;
    time.has_like_formats = false;
    time.format_a = formats->a;
    time.format_b = formats->b;
  }
}

CaseComparison compared(const Case& a, const Case& b, const FamilyInfo* family) {
  CaseComparison result;
  result.id = a.id;
  result.id_b = b.id;
  result.key = a.key;
  result.status_a = case_status(a);
  result.status_b = case_status(b);
  result.reason_a = case_reason(a);
  result.reason_b = case_reason(b);
  if (result.status_a == Status::ok && result.status_b == Status::ok) {
    const bool by_traces = are_compared_by_traces(a, b);
    result.times = by_traces ? traced_times(a, b) : times_of(a, b);
    if (by_traces) result.figures = traced_figures(a, b);
    add_step_time(result.times, a, b);
    mark_formats(result.times, a, b);
  }
  result.verifications = verifications_of(a, b);
  if (family != nullptr) {
    for (const QualityInfo& info : family->qualities) {
      QualityComparison& quality = result.qualities.emplace_back(
          QualityComparison{info, value_of(a, info.metric), value_of(b, info.metric)});
      if (quality.a && quality.b) quality.change = quality.b->median - quality.a->median;
    }
  }
  return result;
}

/// Whether a time depends on what differs. `uses_gpu`: a variant of the pair may have done so.
bool is_touched(const TimeComparison& time, const std::string& family, bool uses_gpu, const Unlike& unlike) {
  switch (unlike.touched) {
    case Touched::host_times:
      return time.a->clock != ClockSource::device || time.b->clock != ClockSource::device;
    case Touched::gpu_variants:
      return uses_gpu;
    case Touched::family_times:
      return family == unlike.family;
    case Touched::all_times:
      break;
  }
  return true;
}

bool uses_gpu(const Run& run, const Case& c) {
  const VariantInfo* const variant = find_variant(run, c.key.variant);
  return variant == nullptr || variant->device != "cpu";
}

/// What of the differences in conditions each time depends on; of those that are touched by none, a quick
/// run's borrow what the full run beside it knows of the machine. Returns the differences that touch nothing.
std::vector<std::string> apply_conditions(Comparison& comparison, const std::vector<CasePair>& pairs,
                                          const Run& a, const Run& b, Apart apart) {
  std::vector<bool> touches(comparison.unlike.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    CaseComparison& c = comparison.cases[i];
    const bool on_gpu = uses_gpu(a, *pairs[i].a) || uses_gpu(b, *pairs[i].b);
    const auto reads_others = [&](const Unlike& unlike) {
      return unlike.touched == Touched::family_times && unlike.family == family_of(c.key.variant);
    };
    if (!comparison.allows_unlike && std::ranges::any_of(comparison.unlike, reads_others)) {
      for (QualityComparison& quality : c.qualities) quality.change.reset();
    }
    for (TimeComparison& time : c.times) {
      if (!time.a || !time.b) continue;
      std::vector<std::string> reasons;
      for (std::size_t k = 0; k < touches.size(); ++k) {
        if (!is_touched(time, family_of(c.key.variant), on_gpu, comparison.unlike[k])) continue;
        touches[k] = true;
        reasons.push_back(comparison.unlike[k].text);
      }
      if (reasons.empty() && apart == Apart::in_two_runs)
        borrow_variations(*time.a.estimate, *time.b.estimate);
      if (reasons.empty() || comparison.allows_unlike) continue;
      time.is_incomparable = true;
      time.speed_up = no_speed_up({Because::unlike_conditions, std::move(reasons)});
    }
  }
  std::vector<Unlike> left;
  std::vector<std::string> untouching;
  for (std::size_t k = 0; k < touches.size(); ++k) {
    if (touches[k])
      left.push_back(comparison.unlike[k]);
    else
      untouching.push_back(comparison.unlike[k].text);
  }
  comparison.unlike = std::move(left);
  return untouching;
}

bool is_of_one_execution(const TimeComparison& time) {
  const bool is_step = time.metric == "step_time" && time.a && time.b;
  return is_traced(time) || (is_step && time.a->rounds == 1 && time.b->rounds == 1);
}

/// Of the pairs whose sides were measured in turns; `of_cases`: of the cases.
void add_differences(std::vector<TimePair>& pairs, const std::vector<CaseComparison>& cases,
                     const std::vector<CasePair>& of_cases) {
  std::vector<TimeDifference> differences;
  std::vector<std::size_t> places;  // of their pairs
  std::size_t next = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (const TimeComparison& time : cases[i].times) {
      if (time.is_incomparable) continue;
      const std::size_t place = next++;
      if (!time.a || !time.b || time.metric == "step_time" || is_traced(time)) continue;
      const auto difference = difference_in_turns(*of_cases[i].a, *of_cases[i].b, time.metric, time.op);
      if (!difference) continue;
      differences.push_back({time.metric, time.op, time.a->clock == ClockSource::device, *difference});
      places.push_back(place);
    }
  }
  moderate(differences);
  for (std::size_t i = 0; i < places.size(); ++i) pairs[places[i]].in_turns = differences[i].difference;
}

/// All times of all cases, together, but for those that are incomparable. Whether pairs of samples decided.
bool judge_times(std::vector<CaseComparison>& cases, const std::vector<CasePair>& of_cases,
                 const Thresholds& thresholds, Apart apart, bool in_turns) {
  std::size_t times = 0;
  for (const CaseComparison& c : cases) times += c.times.size();
  std::vector<TimePair> pairs;
  pairs.reserve(times);
  for (const CaseComparison& c : cases) {
    for (const TimeComparison& time : c.times) {
      if (!time.is_incomparable) pairs.push_back({time.a, time.b, std::nullopt});
    }
  }
  if (in_turns) add_differences(pairs, cases, of_cases);
  std::vector<SpeedUp> judged = judge_together(pairs, thresholds, apart);
  std::size_t next = 0;
  for (CaseComparison& c : cases) {
    for (TimeComparison& time : c.times) {
      if (time.is_incomparable) continue;
      const bool was_in_turns = pairs[next].in_turns.has_value();
      time.speed_up = std::move(judged[next++]);
      if (!time.a || !time.b)
        time.speed_up.reason = {time.a ? Because::no_time_in_second : Because::no_time_in_first,
                                {},
                                {},
                                {time.a ? time.b.absent : time.a.absent}};
      if (time.speed_up)
        time.ratio = was_in_turns ? 1 / *time.speed_up.factor : time.b->median / time.a->median;
      if (is_of_one_execution(time) && time.speed_up && time.speed_up.verdict == Verdict::inconclusive) {
        time.speed_up.more_rounds.reset();  // a trace has none
        time.speed_up.reason = Because::one_execution_each;
      }
    }
  }
  return std::ranges::any_of(pairs, [](const TimePair& pair) { return pair.in_turns.has_value(); });
}

std::map<std::string, Words> words_of(const Run& run) {
  std::map<std::string, std::set<Problem>> problems;
  for (const Case& c : run.cases) problems[family_of(c.key.variant)].insert(c.key.problem);
  std::map<std::string, Words> words;
  for (const auto& [id, of_family] : problems) {
    const FamilyInfo* info = find_family(run, id);
    words.emplace(id, Words(info == nullptr ? FamilyInfo{} : *info, {of_family.begin(), of_family.end()}));
  }
  return words;
}

/// The families of a run as the rules of explanations ask for them, made when they are asked for.
class Outlines {
 public:
  explicit Outlines(const Run& run) : run_(run) {}

  const FamilyResult& of(const CaseKey& key) {
    const std::string family = family_of(key.variant);
    const auto known = made_.find(family);
    return known != made_.end() ? known->second
                                : made_.emplace(family, outline_of(run_, family)).first->second;
  }

 private:
  const Run& run_;
  std::map<std::string, FamilyResult> made_;
};

/// Why the times of the cases changed; `pairs` are the same cases in the same order.
void explain_changes(std::vector<CaseComparison>& cases, const std::vector<CasePair>& pairs, const Run& a,
                     const Run& b) {
  Outlines in_a(a), in_b(b);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    std::vector<ChangedTime> times;
    bool any = false;
    for (const TimeComparison& time : cases[i].times) {
      if (!is_change(time.speed_up.verdict) || is_traced(time)) continue;
      any = true;
      if (!time.op.empty()) times.push_back({time.op, time.metric, time.speed_up});
    }
    if (!any) continue;
    const CaseResult before = result_of(a, *pairs[i].a), after = result_of(b, *pairs[i].b);
    cases[i].ops = op_changes({&in_a.of(before.key), &before}, {&in_b.of(after.key), &after}, times);
  }
}

template <class IsWanted>
MeanRatio mean_ratio(const std::vector<CaseComparison>& cases, const IsWanted& is_wanted) {
  MeanRatio mean;
  double sum = 0;
  for (const CaseComparison& c : cases) {
    for (const TimeComparison& time : c.times) {
      if (!time.ratio || !(*time.ratio > 0) || !is_wanted(time)) continue;
      if (!time.speed_up.disturbed.empty()) {
        ++mean.left_out;
        continue;
      }
      sum += std::log(*time.ratio);
      ++mean.count;
    }
  }
  if (mean.count > 0) mean.ratio = std::exp(sum / static_cast<double>(mean.count));
  return mean;
}

/// |ln(ratio)| of the time that changed the most in the direction that the case stands for.
double size_of_change(const CaseComparison& c) {
  double most = 0;
  for (const TimeComparison& time : c.times) {
    const bool counts = is_change(time.speed_up.verdict) &&
                        (c.importance != Importance::slower || time.speed_up.verdict == Verdict::slower);
    if (counts) most = std::max(most, std::abs(std::log(*time.ratio)));
  }
  return most;
}

[[noreturn]] void refuse(const std::vector<std::string>& reasons, const CompareOptions& options,
                         std::string_view next_step) {
  throw Error(ExitCode::incomparable, fmt::format("{} and {} cannot be compared: {}. {}", options.name_a,
                                                  options.name_b, fmt::join(reasons, "; "), next_step));
}

/// A result that is no longer right is news under whatever conditions.
void require_a_comparable_time(const Comparison& comparison, const CompareOptions& options) {
  if (comparison.incomparable() == 0 || comparison.timed() > 0 || comparison.regression()) return;
  std::vector<std::string> reasons{"all of their times depend on conditions that differ"};
  std::ranges::move(texts_of(comparison.unlike), std::back_inserter(reasons));
  refuse(reasons, options,
         "Record both under the same conditions, or give --allow-different-machines to see the changes of "
         "these times.");
}

[[noreturn]] void refuse_undone(const std::vector<CaseComparison>& cases, const CompareOptions& options) {
  const auto skipped = static_cast<std::size_t>(std::ranges::count_if(cases, was_skipped_alike));
  const std::size_t others = cases.size() - skipped;
  if (others == 0) {
    refuse({fmt::format("none of their {} was run in either ({}: {})", format::plural(skipped, "common case"),
                        cases.front().id, format::one_line(cases.front().reason_a))},
           options, "Record both where these can run, or run others.");
  }
  refuse({fmt::format("none of their {} is done in both{}", format::plural(others, "common case"),
                      skipped == 0 ? "" : fmt::format(" (beside {} skipped in both)", skipped))},
         options, "`mprof run --resume --out DIR` goes on with one that was interrupted.");
}

void require_something_to_compare(const Comparison& comparison, bool by_traces,
                                  const CompareOptions& options) {
  if (comparison.cases.empty()) {
    refuse({"they have no case in common"}, options,
           "Run the same variants and problems in both, or say with --map which variant is which.");
  }
  const auto has_ended = [](Status status) { return status == Status::ok || is_broken(status); };
  const bool any = std::ranges::any_of(comparison.cases, [&](const CaseComparison& c) {
    return has_ended(c.status_a) && has_ended(c.status_b);
  });
  if (!any) refuse_undone(comparison.cases, options);
  const bool any_figure = std::ranges::any_of(comparison.cases, [&](const CaseComparison& c) {
    return is_timed(c) || !c.figures.empty() || c.status_a != Status::ok || c.status_b != Status::ok;
  });
  if (!any_figure && by_traces)
    refuse({"one has no time without a profiler, and they have no traced time, count or counter in common"},
           options, "Import or trace both with the same tool.");
}

/// Two programs that were imported under the names of their files are one program before and after.
Pairing with_only_import(const Run& a, const Run& b, Pairing pairing) {
  const bool is_free = pairing.renamed.empty() && pairing.of.empty() && pairing.with.empty();
  if (!is_free || a.variants.size() != 1 || b.variants.size() != 1) return pairing;
  const VariantInfo &before = a.variants.front(), &after = b.variants.front();
  if (before.id != after.id && before.family == after.family && (before.is_imported() || after.is_imported()))
    pairing.renamed.emplace(before.id, after.id);
  return pairing;
}

constexpr const char* note_on_turns =
    "Both sides were measured in turns, one sample each. A change is the median over such pairs of samples, "
    "so it need not be the ratio of the two times";

constexpr const char* note_on_few_rounds =
    "Both sides were measured in turns, in fewer than five rounds: samples are compared in pairs from five "
    "on";

std::string note_on_traces() {
  return fmt::format(
      "What was not timed without a profiler is compared by one traced execution on each side. GPU times of "
      "two such executions are assumed to vary by {} (standard deviation) with nothing changed",
      format::percent(assumed_between_profiles));
}

/// Another way to compute (an engine of a library, say) is reason enough for other times.
void note_choices(std::vector<std::string>& notes, const CasePair& pair) {
  const Choices of_b = choices_of(*pair.b);
  for (const auto& [problem, of_a] : choices_of(*pair.a)) {
    const auto other = of_b.find(problem);
    if (other == of_b.end() || other->second == of_a) continue;
    notes.push_back(fmt::format("{} chose for {}: {} in A, {} in B", pair.a->id, format::one_line(problem),
                                format::one_line(of_a), format::one_line(other->second)));
  }
}

/// "map/tiled: default of tile_width: 8 in A, 16 in B", once a variant and parameter.
void note_defaults(std::vector<std::string>& notes, const CasePair& pair) {
  if (!pair.is_by_id) return;
  const auto value_in = [](const Case& c, const std::string& name) {
    const auto found = c.key.parameters.find(name);
    return found == c.key.parameters.end() ? std::string("none") : format::one_line(found->second);
  };
  Parameters all = pair.a->key.parameters;
  all.insert(pair.b->key.parameters.begin(), pair.b->key.parameters.end());
  for (const auto& [name, value] : all) {
    const std::string before = value_in(*pair.a, name), after = value_in(*pair.b, name);
    const std::string note = fmt::format("{}: default of {}: {} in A, {} in B", pair.a->key.variant,
                                         format::one_line(name), before, after);
    if (before != after && std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
  }
}

/// "program/train: steps are found by forward and backward in A, by epoch in B, so that their times are not
/// compared"
void note_other_steps(std::vector<std::string>& notes, const CasePair& pair) {
  const Measurement* const before = find_measurement(*pair.a, "step_time");
  const Measurement* const after = find_measurement(*pair.b, "step_time");
  if (before == nullptr || after == nullptr || have_like_steps(*before, *after)) return;
  const auto text = [](const Measurement& steps) {
    std::vector<std::string> names;
    for (const std::string& name : steps.derived->step) names.push_back(format::short_id(name));
    return format::list(names);
  };
  notes.push_back(
      fmt::format("{}: steps are found by {} in A, by {} in B, so that their times are not compared",
                  format::one_line(pair.a->id), text(*before), text(*after)));
}

/// A program that was given other arguments does other work.
void note_commands(std::vector<std::string>& notes, const CasePair& pair, const Run& a, const Run& b) {
  const VariantInfo* const before = find_variant(a, pair.a->key.variant);
  const VariantInfo* const after = find_variant(b, pair.b->key.variant);
  if (before == nullptr || after == nullptr || before->command == after->command) return;
  if (before->command.empty() || after->command.empty()) return;
  const auto text = [](const VariantInfo& info) {
    return format::one_line(fmt::format("{}", fmt::join(info.command, " ")));
  };
  std::string note = fmt::format("{}: the command differs: {} in A, {} in B",
                                 format::one_line(pair.a->key.variant), text(*before), text(*after));
  if (std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
}

std::vector<std::string> ids_of(const std::vector<const Case*>& cases) {
  std::vector<std::string> ids;
  for (const Case* c : cases) ids.push_back(c->id);
  return ids;
}

}  // namespace

RunSummary summary_of(const Run& run, const std::string& name) {
  return {name, run.started, run.tool.version, run.tool.revision, machine_name(run), run.state};
}

std::string_view to_string(Importance importance) {
  switch (importance) {
    case Importance::worse:
      return "worse";
    case Importance::slower:
      return "slower";
    case Importance::faster:
      return "faster";
    case Importance::inconclusive:
      return "inconclusive";
    case Importance::unchanged:
      break;
  }
  return "unchanged";
}

MeanRatio Comparison::mean_of_ops() const {
  return mean_ratio(cases, [](const TimeComparison& time) { return time.metric == "op_time"; });
}

MeanRatio Comparison::mean_of_totals() const {
  return mean_ratio(cases, [](const TimeComparison& time) { return time.metric == "total_time"; });
}

std::vector<const CaseComparison*> Comparison::by_importance() const {
  std::vector<std::pair<double, const CaseComparison*>> sized;
  for (const CaseComparison& c : cases) sized.emplace_back(size_of_change(c), &c);
  std::ranges::stable_sort(sized, [](const auto& one, const auto& other) {
    if (one.second->importance != other.second->importance)
      return one.second->importance < other.second->importance;
    return one.first > other.first;
  });
  std::vector<const CaseComparison*> ordered;
  for (const auto& [size, c] : sized) ordered.push_back(c);
  return ordered;
}

bool Comparison::regression() const {
  return std::any_of(cases.begin(), cases.end(),
                     [](const CaseComparison& c) { return !c.regressions.empty(); });
}

std::vector<Regression> Comparison::failures_of(const CaseComparison& c) const {
  std::vector<Regression> failures;
  for (const Regression& regression : c.regressions) {
    if (regression.kind != Worse::slower || fail_on.slower) failures.push_back(regression);
  }
  if (fail_on.missing && was_lost(c)) failures.push_back({Worse::lost});
  if (fail_on.inconclusive)
    add_where(failures, Worse::inconclusive, c.times,
              [](const TimeComparison& time) { return time.speed_up.verdict == Verdict::inconclusive; });
  return failures;
}

bool Comparison::failed() const {
  return (fail_on.missing && !only_in_a.empty()) ||
         std::ranges::any_of(cases, [&](const CaseComparison& c) { return !failures_of(c).empty(); });
}

std::size_t Comparison::missing() const {
  return only_in_a.size() + static_cast<std::size_t>(std::ranges::count_if(cases, was_lost));
}

std::size_t Comparison::count(Verdict verdict) const {
  std::size_t number = 0;
  for (const CaseComparison& c : cases) {
    number += static_cast<std::size_t>(
        std::ranges::count_if(c.times, [&](const TimeComparison& time) { return is_judged(time, verdict); }));
  }
  return number;
}

std::size_t Comparison::incomparable() const {
  std::size_t number = 0;
  for (const CaseComparison& c : cases)
    number += static_cast<std::size_t>(std::ranges::count_if(c.times, &TimeComparison::is_incomparable));
  return number;
}

bool Comparison::is_beyond_threshold(const TimeComparison& time) const {
  return time.ratio && is_judged(time, Verdict::inconclusive) &&
         std::max(*time.ratio, 1 / *time.ratio) - 1 > thresholds.of(*time.a, *time.b);
}

std::vector<Undecided> Comparison::undecided() const {
  std::vector<Undecided> all;
  for (const CaseComparison& c : cases) {
    for (const TimeComparison& time : c.times) {
      if (is_judged(time, Verdict::inconclusive)) all.push_back({&c, &time});
    }
  }
  std::ranges::stable_sort(all, std::greater{}, [](const Undecided& one) {
    return one.time->ratio ? std::abs(std::log(*one.time->ratio)) : -1;
  });
  return all;
}

std::size_t Comparison::timed() const {
  return static_cast<std::size_t>(std::ranges::count_if(cases, is_timed));
}

std::size_t Comparison::judged() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      cases, [](const CaseComparison& c) { return is_timed(c) || !c.regressions.empty(); }));
}

const Words& words_of(const Comparison& comparison, const CaseComparison& c) {
  return comparison.words.at(family_of(c.key.variant));
}

Comparison compare(const Run& a, const Run& b, const CompareOptions& options) {
  Differences differences = differences_between(a, b);
  Comparison comparison{.a = summary_of(a, options.name_a),
                        .b = summary_of(b, options.name_b),
                        .thresholds = options.thresholds,
                        .fail_on = options.fail_on,
                        .cases = {},
                        .words = words_of(a),
                        .only_in_a = {},
                        .only_in_b = {},
                        .unlike = std::move(differences.unlike),
                        .allows_unlike = options.allow_different_machines,
                        .notes = std::move(differences.build)};
  std::ranges::move(differences.named, std::back_inserter(comparison.notes));
  const PairedCases paired = pair_cases(a, b, with_only_import(a, b, options.pairing));
  bool by_traces = false;
  for (const CasePair& pair : paired.pairs) {
    by_traces = by_traces || are_compared_by_traces(*pair.a, *pair.b);
    comparison.cases.push_back(compared(*pair.a, *pair.b, find_family(a, family_of(pair.a->key.variant))));
    note_choices(comparison.notes, pair);
    note_other_steps(comparison.notes, pair);
    note_defaults(comparison.notes, pair);
    note_commands(comparison.notes, pair, a, b);
  }
  if (by_traces) comparison.notes.push_back(note_on_traces());
  require_something_to_compare(comparison, by_traces, options);
  comparison.only_in_a = ids_of(paired.only_in_a);
  comparison.only_in_b = ids_of(paired.only_in_b);
  const Apart apart = run_stamp(a) == run_stamp(b) ? Apart::in_one_run : Apart::in_two_runs;
  std::ranges::move(apply_conditions(comparison, paired.pairs, a, b, apart),
                    std::back_inserter(comparison.notes));
  const bool in_turns = apart == Apart::in_one_run && a.in_turns && b.in_turns;
  const bool by_pairs = judge_times(comparison.cases, paired.pairs, options.thresholds, apart, in_turns);
  if (in_turns) comparison.notes.emplace_back(by_pairs ? note_on_turns : note_on_few_rounds);
  for (CaseComparison& c : comparison.cases) {
    c.regressions = regressions_of(c);
    c.importance = importance_of(c);
  }
  require_a_comparable_time(comparison, options);
  explain_changes(comparison.cases, paired.pairs, a, b);
  comparison.evidence = compared_evidence(comparison.cases, paired.pairs);
  return comparison;
}

}  // namespace mprof
