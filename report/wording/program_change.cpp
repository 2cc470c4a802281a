// SPDX-License-Identifier: MIT
#include "report/wording/program_change.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "report/text/format.hpp"
#include "report/wording/judgement.hpp"
#include "report/wording/launch_lines.hpp"
#include "report/wording/time_budget.hpp"
#include "report/wording/why.hpp"

namespace mprof {
namespace {

constexpr std::size_t longest_kernel = 48;

std::string times_text(double before, double after) {
  return format::from_to(before, after, Unit::second);
}

/// "51.93 to 51.98 ms"
std::string interval_of(const Interval& interval) {
  return fmt::format("{} to {}", format::quantity(interval.low, Unit::second),
                     format::quantity(interval.high, Unit::second));
}

std::string over_steps(const ProgramChange& change) {
  const std::string counted =
      change.before.steps == change.after.steps
          ? fmt::format("medians of {} each", format::plural(change.after.steps, "steady step"))
          : fmt::format("medians of {} and {} steady steps", change.before.steps, change.after.steps);
  if (!change.before.interval || !change.after.interval) return counted;
  return fmt::format("{}; over the steps of these two executions, 95\u00a0%: {}, and {}", counted,
                     interval_of(*change.before.interval), interval_of(*change.after.interval));
}

/// What became of a step, or of the whole where there are none, without a verdict. `percentage`: empty
/// where it is not said.
LedText traced_step_line(const ProgramChange& change, const std::string& percentage) {
  if (!change.is_by_step())
    return {"From the first CUDA call to the end",
            fmt::format("{} while traced{}. No steps were found on either side.",
                        times_text(change.before.median, change.after.median),
                        percentage.empty() ? "" : fmt::format(" ({})", percentage))};
  return {"A step",
          fmt::format("{} ({}).{}", times_text(change.before.median, change.after.median), over_steps(change),
                      percentage.empty() ? "" : fmt::format(" {}.", percentage))};
}

LedText step_line(const CaseComparison& c) {
  const ProgramChange& change = *c.program;
  auto [lead, text] = traced_step_line(change, "");
  if (!change.is_by_step()) return {lead, text};
  const auto time = std::ranges::find(c.times, "step_time", &TimeComparison::metric);
  if (time == c.times.end()) return {lead, text};
  if (time->ratio) text += fmt::format(" {}", format::signed_percent(*time->ratio - 1));
  text += fmt::format("{} {}", time->ratio ? ":" : " Verdict:", verdict_text(time->speed_up));
  if (const std::string reason = say(time->speed_up.reason, of_runs); !reason.empty())
    text += fmt::format(" ({})", reason);
  return {lead, text + "."};
}

/// "flash_bprop", "softmax_warp_forward, softmax_warp_backward and 4 more".
std::string kernels_text(const ProgramChange& change, const std::vector<std::size_t>& places) {
  constexpr std::size_t most = 2;
  std::vector<std::string> names;
  for (const std::size_t place : places) {
    if (names.size() < most)
      names.push_back(format::elide(format::one_line(change.functions.at(place).name), longest_kernel));
  }
  if (places.size() > most) names.push_back(fmt::format("{} more", places.size() - most));
  return format::list(names);
}

double time_in(const std::optional<StepShare>& share) {
  return share ? share->time : 0;
}

/// "attention 4.20 → 1.10 ms (new: flash_bprop; gone: softmax_warp_forward and 5 more)"
std::string kind_text(const ProgramChange& change, const KindChange& kind) {
  std::vector<std::string> fates;
  if (!kind.added.empty()) fates.push_back("new: " + kernels_text(change, kind.added));
  if (!kind.removed.empty()) fates.push_back("gone: " + kernels_text(change, kind.removed));
  const std::string fate = fates.empty() ? "" : fmt::format(" ({})", fmt::join(fates, "; "));
  return fmt::format("{} {}{}",
                     kind.kind == KernelKind::other ? "kernels of no known kind" : kind_name(kind.kind),
                     times_text(time_in(kind.before), time_in(kind.after)), fate);
}

bool is_of_kernels(BudgetPart part) {
  return part == BudgetPart::kernels || part == BudgetPart::kernels_and_copies;
}

/// Kinds of kernels and all else that differs noticeably, the largest difference first.
LedText parts_line(const ProgramChange& change) {
  constexpr std::size_t most = 5;
  std::vector<std::pair<double, std::string>> parts;
  for (const KindChange& kind : change.kinds) {
    if (change.is_noticeable(kind.difference()))
      parts.emplace_back(std::abs(kind.difference()), kind_text(change, kind));
  }
  for (const BudgetChange& part : change.budget) {
    if (change.is_noticeable(part.difference()) && !is_of_kernels(part.part))
      parts.emplace_back(std::abs(part.difference()),
                         fmt::format("{} {}", part_phrase(part.part), times_text(part.before, part.after)));
  }
  const std::string lead = change.is_by_step() ? "Where a step changed" : "Where it changed";
  if (parts.empty()) return {lead, "No kind of kernel, copy or idle time differs by 1\u00a0% of it."};
  std::ranges::stable_sort(parts, std::greater{}, &std::pair<double, std::string>::first);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(most, parts.size()); ++i) texts.push_back(parts[i].second);
  if (parts.size() > most) texts.push_back(fmt::format("{} more", parts.size() - most));
  return {lead, format::sentence_case(fmt::format("{}.", fmt::join(texts, "; ")))};
}

std::string launches_text(double launches) {
  constexpr double whole = 0.05;
  return std::abs(launches - std::round(launches)) < whole
             ? format::count(static_cast<std::uint64_t>(std::llround(launches)))
             : format::fixed(launches, 1);
}

void add_launches(std::vector<LedText>& lines, const ProgramChange& change) {
  const std::string before = launches_text(change.before.launches);
  const std::string after = launches_text(change.after.launches);
  if (before == after) return;
  lines.push_back(
      {"Launches", fmt::format("{} → {} kernels{}.", before, after, change.is_by_step() ? " a step" : "")});
}

void add_ranges(std::vector<LedText>& lines, const ProgramChange& change) {
  constexpr std::size_t most = 4;
  std::vector<std::string> texts;
  for (const RangeChange& range : change.ranges) {
    if (change.is_noticeable(range.difference()) && texts.size() < most)
      texts.push_back(
          fmt::format("{} {}", range_text(range), times_text(time_in(range.before), time_in(range.after))));
  }
  if (!texts.empty())
    lines.push_back({"Kernels by the range that launched them", fmt::format("{}.", fmt::join(texts, "; "))});
}

void add_launchers(std::vector<LedText>& lines, const ProgramChange& change) {
  constexpr std::size_t most = 4;
  std::vector<std::string> texts;
  for (const LauncherChange& launcher : change.launchers) {
    if (change.is_noticeable(launcher.difference()) && texts.size() < most)
      texts.push_back(fmt::format("{} in {} {}", place_text(launcher.place), around_place(launcher.place),
                                  times_text(time_in(launcher.before), time_in(launcher.after))));
  }
  if (!texts.empty())
    lines.push_back(
        {"Kernels by the function that launched them", fmt::format("{}.", fmt::join(texts, "; "))});
}

/// "At least 2 MiB"
std::string peak_text(const ComparedProgram& side) {
  return (side.held_more ? "at least " : "") + format::about(*side.peak_memory, Unit::byte);
}

/// "GPU memory at its peak: 11.5 → 14.0 GiB (+21.7 %)."
void add_peak_memory(std::vector<LedText>& lines, const ProgramChange& change) {
  const std::optional<double>&before = change.before.peak_memory, &after = change.after.peak_memory;
  if (!before || !after || !(*before > 0)) return;
  if (change.before.held_more || change.after.held_more) {
    lines.push_back({"GPU memory at its peak",
                     format::sentence_case(fmt::format(
                         "{} → {}. How it changed is not known: no record tells of memory of cuMemCreate.",
                         peak_text(change.before), peak_text(change.after)))});
    return;
  }
  lines.push_back({"GPU memory at its peak",
                   *before == *after ? fmt::format("{} on both sides.", format::about(*after, Unit::byte))
                                     : fmt::format("{} ({}).", format::from_to(*before, *after, Unit::byte),
                                                   format::signed_percent(*after / *before - 1))});
}

std::string bound_text(const ComparedProgram& side) {
  const std::string gain =
      side.gain ? fmt::format(" (at most {} as fast without it)", format::times(*side.gain)) : "";
  return std::string(bound_name(side.bound)) + gain;
}

/// Where it changed, its launches, and what bounds it on either side.
void add_parts(std::vector<LedText>& lines, const ProgramChange& change) {
  lines.push_back(parts_line(change));
  add_launches(lines, change);
  add_ranges(lines, change);
  add_launchers(lines, change);
  if (change.before.bound == change.after.bound)
    lines.push_back({"What bounds it", format::sentence_case(fmt::format("{} on both sides.",
                                                                         bound_name(change.after.bound)))});
  else
    lines.push_back(
        {"What bounds it", format::sentence_case(fmt::format("{} → {}.", bound_text(change.before),
                                                             bound_text(change.after)))});
  add_peak_memory(lines, change);
}

}  // namespace

std::string range_text(const RangeChange& range) {
  return range.range.empty() ? "in no range" : format::short_id(range.range);
}

std::vector<LedText> program_change_lines(const CaseComparison& c) {
  std::vector<LedText> lines{step_line(c)};
  add_parts(lines, *c.program);
  return lines;
}

std::vector<LedText> traced_change_lines(const ProgramChange& change) {
  const bool is_known = change.before.median > 0;
  LedText step = traced_step_line(
      change, is_known ? format::signed_percent(change.after.median / change.before.median - 1) : "");
  if (is_known) step.text += " Each was traced once, so this is no verdict.";
  std::vector<LedText> lines{std::move(step)};
  add_parts(lines, change);
  return lines;
}

}  // namespace mprof
