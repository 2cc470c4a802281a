// SPDX-License-Identifier: MIT
#include "report/wording/findings.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "model/rounds.hpp"
#include "model/statistics/median.hpp"
#include "report/analysis/analysis.hpp"
#include "report/text/format.hpp"
#include "report/wording/sanitizer.hpp"
#include "report/wording/why.hpp"

namespace mprof {
namespace {

using namespace finding;  // NOLINT(google-build-using-namespace)

std::string sentence(std::string_view text) {
  std::string line = format::one_line(text);
  std::erase(line, '`');  // a page marks code in its own way
  if (!line.empty() && line.back() != '.' && line.back() != '!' && line.back() != '?') line += '.';
  return line;
}

std::vector<std::string> short_ids(const std::vector<std::string>& ids) {
  std::vector<std::string> names;
  for (const std::string& id : ids) names.push_back(format::short_id(id));
  return names;
}

/// "at sizes 100 and 1000".
std::string at(const Where& where) {
  return where.family->words.at(where.problems);
}

std::string times_word(std::uint32_t times) {
  return times == 1 ? "once" : times == 2 ? "twice" : fmt::format("{} times", times);
}

// --- Outputs and cases

std::string text_of(const WrongOutput& wrong, const Where& where) {
  std::string why;
  for (const auto& [op, finding] : wrong.ops)
    why += fmt::format(" {}: {}", format::short_id(op), sentence(finding));
  if (why.empty() && !wrong.reason.empty()) why = " " + sentence(wrong.reason);
  const std::string right =
      wrong.right_at.empty() ? "" : fmt::format("right {} and ", where.family->words.at(wrong.right_at));
  return fmt::format("The output of {} is {}wrong {}, so none of its times there counts as a speed-up.{}",
                     format::short_id(wrong.configuration), right, at(where), why);
}

std::string text_of(const SuspectTimes& suspect, const Where& where) {
  return fmt::format("The times of {} are suspect {}, so none of them counts as a speed-up: {}",
                     format::short_id(suspect.configuration), at(where), sentence(suspect.reason));
}

std::string_view what_happened(Status status) {
  switch (status) {
    case Status::skipped:
      return "was skipped";
    case Status::failed:
      return "failed";
    case Status::crashed:
      return "crashed";
    case Status::timeout:
      return "ran out of time";
    case Status::interrupted:
      return "was interrupted";
    case Status::pending:
      return "was not reached";
    case Status::ok:
    case Status::wrong:
    case Status::suspect:
      break;
  }
  return "";
}

constexpr std::size_t longest_line = 160;

std::string text_of(const MissingCase& missing, const Where& where) {
  return fmt::format("{} {} {}{}", format::short_id(missing.configuration), what_happened(missing.status),
                     at(where), missing.reason.empty() ? "." : ": " + sentence(missing.reason)) +
         (missing.last_line.empty()
              ? ""
              : fmt::format(" Its last line: “{}”.",
                            format::elide(format::one_line(missing.last_line), longest_line)));
}

std::string text_of(const SkippedAlike& skipped, const Where&) {
  return fmt::format("{} and {} were skipped: {}", format::short_id(skipped.first),
                     format::plural(skipped.others, skipped.of_one_variant ? "other point" : "other variant"),
                     sentence(skipped.reason));
}

std::string text_of(const LostQuality& lost, const Where&) {
  return fmt::format("The {} of {} is {}, {} against its baseline {}.", quality_word(*lost.info),
                     format::short_id(lost.result->id), format::quality(lost.value, lost.info->unit),
                     format::signed_quality(lost.change, lost.info->unit),
                     format::short_id(lost.result->baseline));
}

// --- The run

std::string text_of(const EmptyRun&, const Where&) {
  return "The run holds no case.";
}

std::string text_of(const UnfinishedRun& run, const Where&) {
  if (run.open == 0) return "The run ended before it could say that it was done. No case is still to do.";
  return fmt::format("{}: {} of {} still to do. mprof run --resume does them.",
                     run.state == RunState::interrupted
                         ? "The run was interrupted"
                         : "The run has not finished, or was ended before it could say so",
                     run.open, format::plural(run.cases, "case"));
}

std::string text_of(const WithoutTiming& without, const Where&) {
  return without.imported
             ? "The run was made of files of other tools: no time without a profiler is known, and no other "
               "execution to compare with (there are no rounds)."
             : "The plan had no timing pass: the run holds no times of undisturbed execution.";
}

std::string text_of(const UnverifiedPrograms& unverified, const Where&) {
  return fmt::format("{}: mprof knows how it ended, and what it took until then.",
                     unverified.all ? "No output of a program was verified"
                                    : fmt::format("Not all outputs of {} were verified",
                                                  format::list(short_ids(unverified.programs))));
}

std::string text_of(const PrintedNumbers& printed, const Where&) {
  std::vector<std::string> labels;
  for (const std::string& label : printed.labels) labels.push_back(format::one_line(label));
  return fmt::format(
      "{} of {} {} what its programs print of themselves: mprof read the lines, and knows neither by which "
      "clock the programs took them nor what they hold.",
      format::list(labels), format::short_id(printed.family), labels.size() == 1 ? "is" : "are");
}

std::string text_of(const SlowFirst& slow, const Where&) {
  return fmt::format(
      "The first execution of {} took {}, the others {} (median). The first may have had to make something "
      "that the others found, such as a cache or compiled code. The mean and the maximum include it.",
      slow.case_id, format::quantity(slow.first, Unit::second), format::quantity(slow.others, Unit::second));
}

std::string text_of(const ProgramNote& note, const Where&) {
  return fmt::format("{}, {} pass: {}", format::list(note.cases), to_string(note.pass), note.note);
}

std::string text_of(const MissingCeiling& missing, const Where&) {
  return fmt::format("The {} of the {} was not measured, so throughput in percent of it is missing: {}",
                     format::words(missing.ceiling->id), format::words(missing.ceiling->device),
                     sentence(missing.ceiling->absent));
}

std::string text_of(const SeveralGpuModels& several, const Where&) {
  return fmt::format(
      "The run was measured on {} GPU models: {}. Each case is compared with the peaks of the model that "
      "measured it. Times and speed-ups between models say nothing about the code. Percentages of the "
      "possible remain comparable.",
      several.models.size(), format::list(several.models));
}

std::string text_of(const PooledGpus& pooled, const Where&) {
  return fmt::format(
      "The rounds of {} GPUs were pooled, so the spread of a time includes the differences between GPUs. "
      "mprof fleet, given the runs that were merged, shows whether one of them is slow.",
      format::count(pooled.gpus));
}

std::string text_of(const DividedCases& divided, const Where&) {
  const std::string gpus = format::count(divided.gpus);
  return fmt::format(
      "{} Healthy GPUs of one model may differ by several percent{}.",
      divided.within_a_problem
          ? fmt::format("Variants of one problem were measured on several of {} GPUs.", gpus)
          : fmt::format(
                "The problems were divided among {} GPUs, all variants of one problem on the same GPU.",
                gpus),
      divided.within_a_problem ? ", so between two GPUs no change of up to 8\u00a0% has a verdict"
                               : ", and times of different problems differ by that too");
}

std::string text_of(const LeftOut& left_out, const Where&) {
  const FamilyResult& family = *left_out.family;
  return fmt::format(
      "The report was asked to show {} of the {} measured variants of {}: fastest and best mean among these "
      "alone.",
      family.variants.size(), family.measured, format::short_id(family.id));
}

std::string text_of(const SearchPoints&, const Where&) {
  return "These are the points of a search. The lowest time among many is partly luck, so `mprof tune` "
         "measures the best points again at the end and decides by that. Their record is then in finals, "
         "next to this one.";
}

std::string text_of(const UncommittedChanges&, const Where&) {
  return "mprof was built from a tree with uncommitted changes: its revision does not say exactly what ran.";
}

// --- Times

std::string text_of(const OneRound& round, const Where&) {
  return fmt::format(
      "Each case was timed in one process (one round), which does not show how processes differ. The "
      "intervals assume {:g} % for host times{}. --rounds 5 measures it.",
      100 * round.of_host_times,
      round.beside_gpu ? fmt::format(" and {:g} % for device times, as seen on H200 in virtual machines",
                                     100 * assumed_deviation(ClockSource::device, true))
                       : "");
}

std::string text_of(const ImpreciseMedians& imprecise, const Where&) {
  return fmt::format(
      "{} of {} did not reach the requested precision of {} (worst: {}, {}). The ± of tables also covers the "
      "variation between runs, and is larger.",
      imprecise.cases, format::plural(imprecise.measured, "case"), format::plus_minus(imprecise.target),
      format::plus_minus(imprecise.widest), format::short_id(imprecise.widest_case));
}

std::string text_of(const NoiseBetweenRuns& noise, const Where&) {
  std::vector<std::string> typical, widest;
  const auto add = [&](const ClockNoise& of_clock, std::string_view name) {
    if (of_clock.widths.empty()) return;
    typical.push_back(fmt::format("{} in {}", format::plus_minus(median(of_clock.widths)), name));
    widest.push_back(
        fmt::format("{} ({})", format::plus_minus(of_clock.widest), format::short_id(of_clock.widest_case)));
  };
  add(noise.device, "device times");
  add(noise.host, "host times");
  return fmt::format(
      "A repeated run would typically differ by {} (95\u00a0%). Largest: {}. Ignore smaller differences "
      "between runs.",
      format::list(typical), format::list(widest));
}

std::string text_of(const DisturbedCase& disturbed, const Where& where) {
  const std::string id = format::short_id(disturbed.configuration);
  if (disturbed.part == DisturbedPart::no_more)
    return fmt::format("The samples of {} {} were disturbed and taken again {}; those kept were not.", id,
                       at(where), times_word(disturbed.retries));
  const bool by_host_alone = disturbed.part == DisturbedPart::host_alone;
  const std::string again =
      disturbed.retries > 0 ? fmt::format(" though they were taken again {}", times_word(disturbed.retries))
                            : "";
  return fmt::format("The {} of {} {} were disturbed{}: {} Verdicts count only what this cannot explain.",
                     by_host_alone ? "host times" : "samples", id, at(where), again,
                     sentence(to_text(disturbed.by)));
}

std::string text_of(const DisturbedCases& disturbed, const Where&) {
  const std::string of_all =
      fmt::format("{} of {}", disturbed.cases, format::plural(disturbed.timed, "case"));
  if (disturbed.part == DisturbedPart::no_more)
    return fmt::format("The samples of {} were disturbed and taken again; those kept were not.", of_all);
  std::vector<std::string> causes;
  for (const auto& [cause, cases] : disturbed.causes)
    causes.push_back(cases == disturbed.cases ? cause : fmt::format("{} ({} of them)", cause, cases));
  return fmt::format("The {} of {} were disturbed: {}. Verdicts count only what this cannot explain.",
                     disturbed.part == DisturbedPart::all ? "times" : "host times", of_all,
                     format::list(causes));
}

std::string text_of(const BusyTraces& traces, const Where&) {
  return fmt::format(
      "{} of {} were traced while other devices of the host were busy. That may lengthen copies, calls and "
      "waits in these traces, and changes where the report sees time go and gains to be had. It does not "
      "concern op times and counters.",
      traces.busy, format::plural(traces.traced, "case"));
}

std::string text_of(const SlowerThanBaseline& slower, const Where&) {
  const Words& words = slower.family->words;
  std::vector<std::string> slow;
  for (const auto& [id, problems] : slower.variants) {
    const bool always = problems.size() > 1 && problems.size() == slower.family->problems.size();
    slow.push_back(
        fmt::format("{} ({})", format::short_id(id), always ? "at " + words.every() : words.at(problems)));
  }
  return fmt::format("Slower than its own baseline in {}: {}.", format::short_id(slower.op),
                     format::list(slow));
}

std::string text_of(const FlawedOpTimes& flawed, const Where&) {
  const std::vector<std::string> names = short_ids(flawed.variants);
  const std::string flaw = say(why_of(flawed.flaw)), group_time = flawed.family->words.time("group_time");
  const std::string compared_by =
      flawed.flaw == OpTimeFlaw::prints_too_little ? group_time + ", where there is one" : group_time;
  return names.size() == 1
             ? fmt::format("{} {}, so its op time says little. It is compared by {}.", names.front(), flaw,
                           compared_by)
             : fmt::format("{}: each {}, so their op times say little. They are compared by {}.",
                           format::list(names), flaw, compared_by);
}

std::string text_of(const ChanceVerdicts& chance, const Where&) {
  return fmt::format(
      "{} host times are compared, each at 95 %, and {} of them are faster or slower. If none differed, "
      "about {} would still be, by chance.",
      chance.comparisons, chance.told, chance.by_chance);
}

// --- The samples of a round

/// "map/tiled@1000 op time of map", "map/tiled@1000 total time".
std::string name_of(const SampledTime& time) {
  const std::string of = time.row->op.empty() ? "" : " of " + format::one_line(time.row->op);
  return fmt::format("{} {}{}", format::short_id(time.result->id), time.family->words.time(time.row->metric),
                     of);
}

/// "14 of 312 times with enough samples"
std::string of_able(const UnlikeSamples& found) {
  return fmt::format("{} of {} with enough samples", found.count, format::plural(found.able, "time"));
}

/// "176.0 ms for 25 samples, then 197.0 ms (round 2)"
std::string step_text(const Measurement& row) {
  const auto& steps = row.derived->series.steps;
  const auto size_of = [](const SeriesStep& step) { return std::abs(std::log(step.after / step.before)); };
  const auto step = std::ranges::max_element(steps, {}, size_of);
  const bool follows = step != steps.begin() && (step - 1)->round == step->round;
  const std::size_t since = step->at - (follows ? (step - 1)->at : 0);
  return fmt::format("{} for {}, then {}{}", format::quantity(step->before, Unit::second),
                     format::plural(since, "sample"), format::quantity(step->after, Unit::second),
                     row.rounds.empty() ? "" : fmt::format(" (round {})", step->round + 1));
}

/// "14 of 312 times have a step"
std::string in_short(const UnlikeSamples& found) {
  const bool one = found.count == 1;
  const std::string_view has = one ? "has" : "have";
  switch (found.trait) {
    case Trait::step:
      return fmt::format("{} of {} {} a step", found.count, format::plural(found.able, "time"), has);
    case Trait::likeness:
      return fmt::format("{} of {} {}", found.count, found.able, one ? "drifts or swings" : "drift or swing");
    case Trait::far_out:
      break;
  }
  return fmt::format("{} of {} {} more than {} of the samples far out", found.count, found.able, has,
                     format::whole_percent(100 * many_far_out));
}

std::string text_of(const UnlikeSamples& found, const Where&) {
  switch (found.trait) {
    case Trait::step:
      return fmt::format("{}{} {}. Such a median depends on when the step came.",
                         found.count == 1
                             ? "A step within a round: "
                             : fmt::format("{} have a step within a round, the largest: ", of_able(found)),
                         name_of(found.where), step_text(*found.where.row));
    case Trait::likeness:
      return fmt::format(
          "In {} a sample is much like the one before (the most: {}, correlation {}): something drifts or "
          "swings, and more samples do not average it out.",
          of_able(found), name_of(found.where), format::fixed(found.most, 2));
    case Trait::far_out:
      break;
  }
  return fmt::format(
      "In {} more than {} of the samples lie beyond Tukey's outer fences (the most: {}, {}). None was "
      "dropped.",
      of_able(found), format::whole_percent(100 * many_far_out), name_of(found.where),
      format::whole_percent(100 * found.most));
}

std::string text_of(const UnlikeSamplesOfAll& all, const Where&) {
  std::vector<std::string> traits;
  for (const UnlikeSamples& trait : all.traits) traits.push_back(in_short(trait));
  return fmt::format("Samples of a round are not always alike (none was dropped): {}.", format::list(traits));
}

std::string text_of(const ShortRounds& rounds, const Where&) {
  return fmt::format(
      "{} of {} have rounds of fewer than {} samples: the median of such a round is their mean.", rounds.few,
      format::plural(rounds.in_rounds, "time"), fewest_for_a_median);
}

// --- compute-sanitizer

std::string text_of(const Sanitized& sanitized, const Where&) {
  return mprof::text_of(sanitized);
}

std::string text_of(const SanitizerCameToNothing& nothing, const Where&) {
  return mprof::text_of(nothing);
}

}  // namespace

std::string text_of(const Finding& finding) {
  return std::visit([&](const auto& what) { return text_of(what, finding.where); }, finding.what);
}

}  // namespace mprof
