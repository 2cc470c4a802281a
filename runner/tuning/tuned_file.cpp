// SPDX-License-Identifier: MIT
#include "runner/tuning/tuned_file.hpp"

#include <algorithm>
#include <array>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "inputs/checksum.hpp"
#include "kernels/sources.hpp"
#include "model/facts.hpp"
#include "model/json_archive.hpp"
#include "system/error.hpp"
#include "system/files.hpp"

namespace mprof {

template <class Archive, Fields<TunedFor> S>
void fields(Archive& a, S& s) {
  a.field("machine", s.machine);
  a.field("source", s.source);
}

template <class Archive, Fields<TunedEntry> S>
void fields(Archive& a, S& s) {
  a.field("variant", s.variant);
  a.field("problem", s.problem);
  a.field("metric", s.metric);
  a.optional_field("op", s.op);
  a.optional_field("fixed", s.fixed);
  a.optional_field("searched", s.searched);
  a.field("holds_for", s.holds_for);
  a.field("parameters", s.parameters);
  a.field("value", s.value);
  a.optional_field("interval", s.interval);
  a.optional_field("disturbed", s.disturbed);
  a.optional_field("level", s.level);
  a.field("strategy", s.strategy);
  a.field("measured", s.measured);
  a.field("points", s.points);
  a.field("tool", s.tool);
  a.field("finished", s.finished);
  a.field("result", s.result);
}

template <class Archive, Fields<TunedFile> S>
void fields(Archive& a, S& s) {
  a.field("schema_version", s.schema_version);
  a.field("entries", s.entries);
}

namespace {

constexpr std::array cpu_facts{fact::cpu_model, fact::cpu_logical_cpus, FactName{"build", "compiler"},
                               FactName{"build", "flags"}};
constexpr std::array gpu_facts{fact::gpu_name, fact::gpu_driver, FactName{fact::gpu, "CUDA runtime"}};

void add_fact(TunedFor& holds, const Run& run, const std::string& group, const std::string& name) {
  const Fact* const found = find_fact(run.environment, group, name);
  if (found == nullptr || std::holds_alternative<Absent>(*found)) return;
  const double* const number = std::get_if<double>(found);
  holds.machine[group + " " + name] =
      number == nullptr ? std::get<std::string>(*found) : fmt::format("{:g}", *number);
}

/// Of a source from outside, that of its family too; otherwise of mprof's own files.
std::string source_of(const Run& run, const VariantInfo& variant) {
  std::string own, of_family;
  for (const PluginSource& source : run.plan.sources) {
    if (source.variant == variant.id) own = source.checksum;
    if (source.family == variant.family) of_family = source.checksum;
  }
  if (own.empty()) own = source_checksum(variant.source_file);
  return of_family.empty() ? own : sha256_of_text(own + of_family);
}

bool is_same_search(const TunedEntry& a, const TunedEntry& b) {
  return a.variant == b.variant && a.problem == b.problem && a.metric == b.metric && a.op == b.op &&
         a.fixed == b.fixed && a.holds_for == b.holds_for;
}

/// "map/tiled at size=100"
std::string name_of(const std::string& variant, const Problem& problem) {
  std::vector<std::string> texts;
  for (const Coordinate& c : problem.coordinates) texts.push_back(fmt::format("{}={}", c.axis, c.value));
  return texts.empty() ? variant : fmt::format("{} at {}", variant, fmt::join(texts, ","));
}

/// " with --set threads=1"; empty where nothing was fixed.
std::string text_of_fixed(const TunedEntry& entry) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : entry.fixed) texts.push_back(fmt::format("--set {}={}", name, value));
  return texts.empty() ? "" : fmt::format(" with {}", fmt::join(texts, " "));
}

/// Whether the plan runs the variant with the one value of each parameter that the search was told.
bool is_of_plan(const TunedEntry& entry, const VariantInfo& variant, const Plan& plan) {
  return std::ranges::all_of(entry.fixed, [&](const auto& fixed) {
    const auto parameter = std::ranges::find(variant.parameters, fixed.first, &ParameterInfo::name);
    const auto set = plan.settings.find(fixed.first);
    if (set != plan.settings.end()) return set->second == std::vector{fixed.second};
    return parameter != variant.parameters.end() && parameter->default_value == fixed.second;
  });
}

void require_values(const TunedEntry& entry, const VariantInfo& variant, const std::string& file) {
  for (const ParameterInfo& parameter : variant.parameters) {
    const auto found = entry.parameters.find(parameter.name);
    const bool is_known =
        found != entry.parameters.end() && std::ranges::count(parameter.values, found->second) > 0;
    if (is_known) continue;
    throw Error(
        ExitCode::usage,
        fmt::format("{}: {} has no such value of {}: {}. It takes {}. Tune it again.", file, entry.variant,
                    parameter.name, found == entry.parameters.end() ? "none" : found->second,
                    fmt::join(parameter.values, ", ")));
  }
}

/// Throws where --set names a parameter that was searched.
void require_agreement(const TunedEntry& entry, const VariantInfo& variant, const Plan& plan,
                       const std::string& file) {
  for (const ParameterInfo& parameter : variant.parameters) {
    if (!plan.settings.contains(parameter.name) || entry.fixed.contains(parameter.name)) continue;
    throw Error(
        ExitCode::usage,
        fmt::format("--set {}={} and {} both say what {} of {} is. Leave one of them out, or tune with "
                    "that --set.",
                    parameter.name, fmt::join(plan.settings.at(parameter.name), ","), file, parameter.name,
                    entry.variant));
  }
}

bool is_usual(const TunedEntry& entry) {
  return entry.metric == "op_time" && entry.op.empty();
}

/// nullptr: the file has none for it.
const TunedEntry* entry_for(const TunedFile& file, const std::string& name, const Run& run,
                            const VariantInfo& variant, const Problem& problem) {
  const TunedFor holds = tuned_for(run, variant);
  const TunedEntry* chosen = nullptr;
  const TunedEntry* stale = nullptr;
  for (const TunedEntry& entry : file.entries) {
    if (entry.variant != variant.id || entry.problem != problem || !is_of_plan(entry, variant, run.plan))
      continue;
    if (entry.holds_for != holds) {
      stale = &entry;
      continue;
    }
    const bool is_better = chosen == nullptr || (is_usual(entry) && !is_usual(*chosen)) ||
                           (is_usual(entry) == is_usual(*chosen) && chosen->finished < entry.finished);
    if (is_better) chosen = &entry;
  }
  if (chosen == nullptr && stale != nullptr) {
    throw Error(
        ExitCode::incomparable,
        fmt::format("{}: what it holds of {} is stale: {}. Tune it again, or leave --tuned out.", name,
                    name_of(variant.id, problem), fmt::join(differences(stale->holds_for, holds), "; ")));
  }
  return chosen;
}

}  // namespace

TunedFor tuned_for(const Run& run, const VariantInfo& variant) {
  TunedFor holds{.source = source_of(run, variant)};
  if (variant.device == "cpu") {
    for (const FactName& name : cpu_facts) add_fact(holds, run, name.group, name.name);
  } else {
    for (const FactName& name : gpu_facts) add_fact(holds, run, name.group, name.name);
  }
  if (!variant.library.empty()) add_fact(holds, run, "libraries", variant.library);
  return holds;
}

std::vector<std::string> differences(const TunedFor& was, const TunedFor& is) {
  std::vector<std::string> found;
  const auto value = [](const TunedFor& holds, const std::string& name) {
    const auto fact = holds.machine.find(name);
    return fact == holds.machine.end() ? std::string("not known") : fact->second;
  };
  std::map<std::string, std::string> names = was.machine;
  names.insert(is.machine.begin(), is.machine.end());
  for (const auto& [name, ignored] : names) {
    if (value(was, name) != value(is, name))
      found.push_back(fmt::format("{} was {} and is {}", name, value(was, name), value(is, name)));
  }
  if (was.source != is.source) found.emplace_back("the source of the variant has changed");
  return found;
}

TunedFile read_tuned(const std::filesystem::path& path) {
  const std::string name = path.string();
  json::Json document = json::parse(read_file(path, json::largest_document), name);
  const json::Json schema =
      document.is_object() ? document.value("schema_version", json::Json{}) : json::Json{};
  if (schema.is_number_unsigned() && schema > tuned_schema_version) {
    throw Error(ExitCode::usage,
                fmt::format("{}: it is of schema version {}, and this mprof reads up to {}: use a newer one.",
                            name, schema.get<std::uint64_t>(), tuned_schema_version));
  }
  return json::from_json<TunedFile>(std::move(document), name);
}

std::optional<TunedEntry> add_tuned(const std::filesystem::path& path, const TunedEntry& entry) {
  std::error_code error;
  TunedFile file = std::filesystem::exists(path, error) ? read_tuned(path) : TunedFile{};
  std::optional<TunedEntry> replaced;
  for (const TunedEntry& other : file.entries) {
    if (is_same_search(entry, other)) replaced = other;
  }
  std::erase_if(file.entries, [&](const TunedEntry& other) { return is_same_search(entry, other); });
  file.entries.push_back(entry);
  write_output(path, json::print(json::to_json(file)));
  return replaced;
}

Tuning tuning_of(const TunedFile& file, const std::string& name, const Run& run) {
  Tuning tuning{.file = name};
  for (const std::string& id : run.plan.variants) {
    const VariantInfo& variant = *find_variant(run, id);
    for (const Problem& problem : run.plan.problems.at(variant.family)) {
      const TunedEntry* const entry = entry_for(file, name, run, variant, problem);
      if (entry == nullptr) continue;
      require_values(*entry, variant, name);
      require_agreement(*entry, variant, run.plan, name);
      tuning.points.push_back({id, problem, entry->parameters});
    }
  }
  if (!tuning.points.empty()) return tuning;
  std::vector<std::string> others;
  for (const TunedEntry& entry : file.entries) {
    if (std::ranges::count(run.plan.variants, entry.variant) > 0)
      others.push_back(name_of(entry.variant, entry.problem) + text_of_fixed(entry));
  }
  throw Error(
      ExitCode::usage,
      fmt::format("--tuned {}: it holds nothing for these variants and problems: {}.{} `mprof tune "
                  "VARIANT` finds out.",
                  name, fmt::join(run.plan.variants, ", "),
                  others.empty() ? "" : fmt::format(" It holds {}: ask for that.", fmt::join(others, "; "))));
}

}  // namespace mprof
