// SPDX-License-Identifier: MIT
#include "report/page/fleet_text.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "report/text/format.hpp"
#include "report/views/views.hpp"
#include "report/wording/fleet.hpp"

namespace mprof {
namespace {

/// Of what is bad, the slowest times of a GPU that text shows.
constexpr std::size_t shown_times = 3;

/// As it stands behind a verdict.
std::string machine_text(const FleetMember& member) {
  const std::string& which = member.gpu.empty() ? member.part : member.gpu;
  return format::one_line(which.empty() ? member.name : fmt::format("{} ({})", member.name, which));
}

std::string deviations_text(double deviations) {
  return std::isfinite(deviations) ? fmt::format("{:.1f}", deviations) : "–";
}

void add_failures(std::string& out, const FleetMember& member) {
  for (const std::string& failure : member.failures)
    out += fmt::format("    {}\n", format::one_line(failure));
}

void add_details(std::string& out, const FleetOfModel& model, const FleetVerdict& verdict) {
  const std::string facts = fleet_facts_text(model, *verdict.member);
  if (const std::string cause = slow_gpu_cause(model, verdict); !cause.empty())
    out += fmt::format("    cause: {}\n", format::one_line(cause));
  if (verdict.slow && !facts.empty()) out += fmt::format("    {}\n", facts);
  for (std::size_t i = 0; i < std::min(shown_times, verdict.slow_times.size()); ++i) {
    const SlowTime& slow = verdict.slow_times[i];
    out += fmt::format("    {}: {} of the fleet, {} deviations\n", format::one_line(slow.time),
                       format::percent(slow.performance), deviations_text(slow.deviations));
  }
  if (verdict.slow_times.size() > shown_times)
    out += fmt::format("    and {} more slow times\n", verdict.slow_times.size() - shown_times);
  for (const std::string& output : verdict.other_outputs)
    out += fmt::format("    {}: its output has other bits than the fleet's\n", format::one_line(output));
  add_failures(out, *verdict.member);
  if (verdict.once) out += fmt::format("    {}\n", what_tells(verdict));
}

void add_histories(std::string& out, const Fleet& fleet, bool all) {
  std::size_t as_before = 0;
  for (const FleetHistory& history : fleet.histories) {
    if (!all && !history.declined && history.absent.empty()) {
      ++as_before;
      continue;
    }
    out += fmt::format("{} ({}), {} runs: ", format::one_line(history.name), format::one_line(history.gpu),
                       history.runs);
    if (!history.absent.empty())
      out += fmt::format("{}\n", format::one_line(history.absent));
    else if (history.declined)
      out += fmt::format("SLOWER THAN IT WAS in {} of {} times, at {} of before\n",
                         history.declined_times.size(), history.times, format::percent(history.performance));
    else
      out += fmt::format("as before\n");
    const auto& times = history.declined_times;
    for (std::size_t i = 0; i < std::min(shown_times, times.size()); ++i)
      out += fmt::format("    {}: {} of before, since {}\n", format::one_line(times[i].time),
                         format::percent(times[i].performance), moment(times[i].since));
  }
  if (as_before > 0)
    out += fmt::format("{} with earlier runs are as they were (--all shows them).\n", as_before);
}

}  // namespace

std::string render_fleet_text(const Fleet& fleet, bool all) {
  std::string out;
  for (const FleetOfModel& model : fleet.models) {
    out += fmt::format("{}: {} machines, {} times, natural spread {}\n", format::one_line(model.model),
                       model.verdicts.size(), model.usual_times.size(), format::percent(model.spread));
    out += fmt::format("  {:>11}  {:>10}  {:<12} {}\n", "Performance", "Deviations", "Verdict", "Run");
    std::size_t fine = 0, untold = 0;
    for (const FleetVerdict& verdict : model.verdicts) {
      if (!all && !verdict.is_bad() && !verdict.once) {
        ++(verdict.times > 0 ? fine : untold);
        continue;
      }
      const bool is_compared = verdict.times > 0;
      out += fmt::format("  {:>11}  {:>10}  {:<12} {}\n",
                         is_compared ? format::percent(verdict.performance) : "–",
                         is_compared ? deviations_text(verdict.deviations) : "–", fleet_standing(verdict),
                         machine_text(*verdict.member));
      add_details(out, model, verdict);
    }
    if (fine > 0) out += fmt::format("  {} more are ok (--all shows them).\n", fine);
    if (untold > 0)
      out += fmt::format(
          "  {} more have no time that five machines have, and were not compared (--all shows them).\n",
          untold);
  }
  if (!fleet.too_few.empty())
    out +=
        fmt::format("Too few to tell a slow one (fewer than five): {}\n", format::list(too_few_gpus(fleet)));
  for (const FleetMember* member : fleet.failed) {
    out += fmt::format("FAILED {}\n", machine_text(*member));
    add_failures(out, *member);
  }
  add_histories(out, fleet, all);
  return out;
}

}  // namespace mprof
