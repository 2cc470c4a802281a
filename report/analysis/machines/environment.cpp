// SPDX-License-Identifier: MIT
#include "report/analysis/machines/environment.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "model/parts.hpp"
#include "model/statistics/median.hpp"
#include "report/analysis/judgement/estimate.hpp"
#include "report/text/format.hpp"

namespace mprof {
namespace {

/// In the order in which a reader asks.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> known_groups{{
    {"gpu", "GPU"},
    {"cpu", "CPU"},
    {"memory", "Memory"},
    {"os", "Operating system"},
    {"build", "Build"},
    {"libraries", "Libraries"},
}};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string number_text(std::string_view group, std::string_view name, double value) {
  // A memory clock is a clock first.
  if (contains(name, "frequency") || contains(name, "clock")) {
    return value >= 1e9 ? format::significant(value / 1e9, 3) + " GHz"
                        : format::significant(value / 1e6, 4) + " MHz";
  }
  if (name.starts_with("time ")) return format::about(value, Unit::second);
  if (contains(name, "power")) return format::about(value, Unit::watt);
  const bool counts = contains(name, "count") || name.ends_with("caches");
  const bool bytes =
      group == "memory" || contains(name, "memory") || contains(name, "cache") || contains(name, "bytes");
  if (bytes && !counts) return format::about(value, Unit::byte);
  return value == std::floor(value) ? format::fixed(value, 0) : format::significant(value);
}

}  // namespace

std::string fact_text(std::string_view group, std::string_view name, const Fact& fact) {
  if (const auto* text = std::get_if<std::string>(&fact)) return format::one_line(*text);
  if (const auto* number = std::get_if<double>(&fact)) return number_text(group, name, *number);
  return fmt::format("– ({})", format::one_line(std::get<Absent>(fact).reason));
}

Environment shown_environment(const Run& run) {
  using MetricOf = std::string_view (*)(const Case&);
  constexpr std::array<std::pair<std::string_view, MetricOf>, 2> clocks{
      {{"SM clock", sm_clock_metric},
       {"memory clock", [](const Case&) { return std::string_view("gpu_memory_clock"); }}}};
  Environment shown = run.environment;
  const auto gpu = shown.find(std::string(fact::gpu));
  if (gpu == shown.end()) return shown;
  if (run.parts.size() > 1) gpu->second.erase(std::string(fact::gpu_count.name));  // that each part saw
  for (const auto& [name, metric_of] : clocks) {
    if (auto idle = gpu->second.extract(std::string(name)); !idle.empty()) {
      idle.key() = fmt::format("{} before the run, idle", name);
      gpu->second.insert(std::move(idle));
    }
    std::vector<double> medians;
    for (const Case& c : run.cases) {
      if (const Value clock = value_of(c, metric_of(c))) medians.push_back(clock->median);
    }
    if (!medians.empty()) gpu->second[fmt::format("{} between timed executions", name)] = median(medians);
  }
  return shown;
}

std::string known_fact(const Run& run, std::string_view group, std::string_view name) {
  const auto facts = run.environment.find(std::string(group));
  if (facts == run.environment.end()) return {};
  const auto fact = facts->second.find(std::string(name));
  if (fact == facts->second.end() || std::holds_alternative<Absent>(fact->second)) return {};
  return fact_text(group, name, fact->second);
}

std::string machine_name(const Run& run) {
  const bool cuda = std::any_of(run.variants.begin(), run.variants.end(),
                                [](const VariantInfo& variant) { return variant.device == "cuda"; });
  const std::vector<std::string> gpus = cuda ? gpu_models(run) : std::vector<std::string>();
  if (!gpus.empty()) return fmt::format("{}", fmt::join(gpus, " and "));
  const std::string cpu = known_fact(run, fact::cpu_model.group, fact::cpu_model.name);
  return cpu.empty() ? "an unknown machine" : cpu;
}

MachineFacts machine_facts(const Run& run) {
  MachineFacts facts;
  std::ranges::transform(identifying_facts, facts.begin(),
                         [&](const FactName& fact) { return known_fact(run, fact.group, fact.name); });
  return facts;
}

std::string fact_label(const FactName& fact) {
  const std::string name = format::words(fact.name);
  return name.starts_with(fact.group) ? name : fmt::format("{} {}", group_title(fact.group), name);
}

std::vector<std::string> machine_differences(const MachineFacts& a, const MachineFacts& b,
                                             std::string_view name_a, std::string_view name_b) {
  std::vector<std::string> differences;
  for (std::size_t i = 0; i < identifying_facts.size(); ++i) {
    if (a[i].empty() || b[i].empty() || a[i] == b[i]) continue;
    const auto& [group, name] = identifying_facts[i];
    differences.push_back(
        fmt::format("{}: {} in {}, {} in {}", fact_label({group, name}), a[i], name_a, b[i], name_b));
  }
  return differences;
}

std::string group_title(std::string_view group) {
  for (const auto& [id, title] : known_groups) {
    if (id == group) return std::string(title);
  }
  return format::sentence_case(format::words(format::one_line(group)));
}

std::vector<std::string> ordered_groups(const Environment& environment) {
  std::vector<std::string> groups;
  for (const auto& [id, title] : known_groups) {
    if (environment.contains(std::string(id))) groups.emplace_back(id);
  }
  for (const auto& [group, facts] : environment) {
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
  }
  return groups;
}

std::vector<std::string> ordered_facts(const std::map<std::string, Fact>& facts) {
  std::vector<std::string> names;
  for (const auto& [name, fact] : facts) names.push_back(name);
  std::stable_partition(names.begin(), names.end(),
                        [](const std::string& name) { return name == "name" || name == "model"; });
  return names;
}

std::string fact_title(std::string_view group, std::string_view name) {
  const std::string plain = format::one_line(name);
  return group == "libraries" ? plain : format::sentence_case(format::words(plain));
}

std::string moment(std::string_view iso8601) {
  std::string text = format::one_line(iso8601);
  const bool utc = text.size() > 11 && text.back() == 'Z' && text[10] == 'T';
  if (!utc) return text;
  text[10] = ' ';
  text.pop_back();
  return text + " UTC";
}

std::string part_name(const RunPart& part) {
  const Fact* const uuid = find_fact(part.environment, fact::gpu_uuid.group, fact::gpu_uuid.name);
  if (uuid != nullptr && std::holds_alternative<std::string>(*uuid)) return std::get<std::string>(*uuid);
  return part.shard ? fmt::format("Shard {}", part.shard->index) : moment(part.started);
}

}  // namespace mprof
