// SPDX-License-Identifier: MIT
#include "report/wording/fleet.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "report/text/format.hpp"

namespace mprof {
namespace {

std::string against_fleet(std::string_view what, const SlowGpuCause& cause, Unit unit) {
  return fmt::format("{}: {}, the fleet's {}", what, format::quantity(cause.own, unit),
                     format::quantity(cause.fleet, unit));
}

std::string cause_text(const SlowGpuCause& cause, const FleetOfModel& fleet, const FleetMember& member) {
  using What = SlowGpuCause::What;
  switch (cause.what) {
    case What::other_build:
      return fmt::format("another build of mprof, {}; the fleet's is {}", member.build, fleet.usual_build);
    case What::neighbour:
      return fmt::format("a neighbour: other processes used {} more of the GPU than of the fleet's",
                         format::percent((cause.own - cause.fleet) / 100));
    case What::clock:
      return fmt::format("{}; in cycles it is {}, at {} of the fleet",
                         against_fleet("its clock (power, heat or a limit)", cause, Unit::hertz),
                         cause.is_slow_in_cycles ? "slow too" : "level",
                         format::percent(cause.performance_in_cycles));
    case What::memory_clock:
      return against_fleet("its memory's clock", cause, Unit::hertz);
    case What::memory_bandwidth:
      return against_fleet("its memory, by the bandwidth measured", cause, Unit::byte_per_second);
    case What::link_width:
      return against_fleet("its link, in PCIe lanes", cause, Unit::count);
    case What::link_bandwidth:
      return against_fleet("its link, by the bandwidth measured", cause, Unit::byte_per_second);
    case What::none:
      return "not known: clocks, memory, link and neighbours are about the fleet's";
    case What::no_clocks:
      return "not known, the records have no clocks";
  }
  return {};
}

}  // namespace

std::string fleet_standing(const FleetVerdict& verdict) {
  std::vector<std::string> words;
  if (verdict.slow) words.emplace_back("SLOW");
  if (!verdict.other_outputs.empty()) words.emplace_back("WRONG BITS");
  if (!verdict.member->failures.empty()) words.emplace_back("FAILED");
  if (verdict.once) words.emplace_back("once slow");
  if (words.empty() && verdict.times == 0) return "not compared";
  return words.empty() ? "ok" : fmt::format("{}", fmt::join(words, ", "));
}

std::string what_tells(const FleetVerdict& once) {
  return fmt::format("measured in one round: run it again with {}--rounds 3 to tell",
                     once.causes.empty() ? "" : "the fleet's build and ");
}

std::string fleet_facts_text(const FleetOfModel& fleet, const FleetMember& member) {
  std::vector<std::string> words;
  for (const FleetFact& fact : fleet_facts()) {
    const std::string name(fact.name);
    if (!member.facts.contains(name)) continue;
    words.push_back(fmt::format("{} {} (the fleet's {})", name,
                                format::quantity(member.facts.at(name), fact.unit),
                                format::quantity(fleet.usual_facts.at(name), fact.unit)));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string slow_gpu_cause(const FleetOfModel& fleet, const FleetVerdict& verdict) {
  std::vector<std::string> causes;
  for (const SlowGpuCause& cause : verdict.causes)
    causes.push_back(cause_text(cause, fleet, *verdict.member));
  return fmt::format("{}", fmt::join(causes, "; "));
}

std::vector<std::string> too_few_gpus(const Fleet& fleet) {
  std::vector<std::string> texts;
  for (const TooFewGpus& few : fleet.too_few) texts.push_back(fmt::format("{} ({})", few.model, few.gpus));
  return texts;
}

}  // namespace mprof
