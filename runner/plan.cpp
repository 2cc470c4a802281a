// SPDX-License-Identifier: MIT
#include "runner/plan.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "model/rounds.hpp"
#include "system/error.hpp"
#include "system/glob.hpp"
#include "system/suggest.hpp"

namespace mprof {
namespace {

constexpr Stopping quick_stopping{
    .min_samples = 3, .max_samples = 7, .max_seconds = 1.5, .relative_half_width = 0.05};

/// A change of 3 % among 40 cases is found nine times in ten with so many where processes differ by 1 %; with
/// 3 it is two times in three (tests/model/calibration_test.cpp).
constexpr std::uint32_t usual_rounds = 5;

std::vector<std::string> ids(const std::vector<const RegisteredVariant*>& variants) {
  std::vector<std::string> out;
  for (const RegisteredVariant* variant : variants) out.push_back(variant->info.id);
  return out;
}

/// Where to see all names: here, if they are few, as those of a suite are.
std::string all_of(const std::vector<const RegisteredVariant*>& variants) {
  constexpr std::size_t few = 8;
  return variants.size() <= few ? fmt::format("There are: {}.", fmt::join(ids(variants), ", "))
                                : "`mprof list` shows them all.";
}

/// Without a GPU: everything, since what cannot run here is worth a line that says so. With one: all but the
/// CPU variants, which would take minutes for each second of the others; --device asks for them.
bool is_usual(const RegisteredVariant& variant, const Devices& devices) {
  const std::string_view preferred = devices.preferred().id();
  return preferred == "cpu" || variant.info.device != "cpu";
}

void require_devices(const std::vector<std::string>& names,
                     const std::vector<const RegisteredVariant*>& variants) {
  std::set<std::string> known{"all"};
  for (const RegisteredVariant* variant : variants) known.insert(variant->info.device);
  for (const std::string& name : names) {
    if (known.contains(name)) continue;
    throw Error(ExitCode::usage,
                fmt::format("--device {}: this mprof has no variant for it.{} Give some of {}.", name,
                            did_you_mean(name, {known.begin(), known.end()}), fmt::join(known, ", ")));
  }
}

bool selected_by_all(const RegisteredVariant& variant, const RunRequest& request, const Devices& devices) {
  if (request.devices.empty()) return is_usual(variant, devices);
  return std::ranges::any_of(request.devices, [&](const std::string& device) {
    return device == "all" || device == variant.info.device;
  });
}

/// Of a variant's point, as mprof prints it, the right way to ask for it.
void refuse_point(const std::string& pattern, const Registry& registry) {
  const std::size_t bracket = pattern.find('[');
  if (bracket == pattern.npos || !pattern.ends_with(']')) return;
  const std::string id = pattern.substr(0, bracket);
  if (registry.variant(id) == nullptr) return;
  std::string settings = pattern.substr(bracket + 1, pattern.size() - bracket - 2);
  for (std::size_t at = settings.find(','); at != settings.npos; at = settings.find(',', at))
    settings.replace(at, 1, " --set ");
  throw Error(ExitCode::usage,
              fmt::format("{} is a variant with parameters. They are given apart: --variant {} --set {}",
                          pattern, id, settings));
}

std::vector<const RegisteredVariant*> select(const RunRequest& request, const Registry& registry,
                                             const Devices& devices) {
  const std::vector<const RegisteredVariant*> known = registry.variants();
  require_devices(request.devices, known);
  std::vector<bool> chosen(known.size(), false);
  for (std::size_t i = 0; i < known.size(); ++i) {
    chosen[i] = request.all && selected_by_all(*known[i], request, devices);
  }
  for (const std::string& pattern : request.patterns) {
    bool matched = false;
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (!matches(pattern, known[i]->info.id)) continue;
      chosen[i] = matched = true;
    }
    if (!matched) {
      refuse_point(pattern, registry);
      throw Error(ExitCode::usage, fmt::format("no variant is called '{}'.{} {}", pattern,
                                               did_you_mean(pattern, ids(known)), all_of(known)));
    }
  }
  std::vector<const RegisteredVariant*> out;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (chosen[i]) out.push_back(known[i]);
  }
  return out;
}

const ParameterInfo* find_parameter(const VariantInfo& variant, const std::string& name) {
  const auto found = std::find_if(variant.parameters.begin(), variant.parameters.end(),
                                  [&](const ParameterInfo& parameter) { return parameter.name == name; });
  return found == variant.parameters.end() ? nullptr : &*found;
}

/// The values of one parameter that a variant is run with.
std::vector<std::string> points(const ParameterInfo& parameter, const Plan& plan) {
  const auto set = plan.settings.find(parameter.name);
  if (set == plan.settings.end()) return {parameter.default_value};
  if (set->second == std::vector<std::string>{"*"}) return parameter.values;
  return set->second;
}

/// A value that is named twice is one point, not two cases of the same name.
std::map<std::string, std::vector<std::string>> each_value_once(
    std::map<std::string, std::vector<std::string>> settings) {
  for (auto& [name, values] : settings) {
    std::vector<std::string> once;
    for (std::string& value : values) {
      if (std::find(once.begin(), once.end(), value) == once.end()) once.push_back(std::move(value));
    }
    values = std::move(once);
  }
  return settings;
}

template <class T>
std::vector<T> ascending(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

void require_settings(const Plan& plan, const std::vector<const RegisteredVariant*>& variants) {
  for (const auto& [name, values] : plan.settings) {
    std::vector<std::string> known;
    bool used = false;
    for (const RegisteredVariant* variant : variants) {
      for (const ParameterInfo& parameter : variant->info.parameters) known.push_back(parameter.name);
      const ParameterInfo* parameter = find_parameter(variant->info, name);
      if (parameter == nullptr) continue;
      used = true;
      for (const std::string& value : points(*parameter, plan)) {
        if (std::find(parameter->values.begin(), parameter->values.end(), value) != parameter->values.end())
          continue;
        throw Error(ExitCode::usage,
                    fmt::format("--set {}={}: {} takes {} for {}, not '{}'.", name, fmt::join(values, ","),
                                variant->info.id, fmt::join(parameter->values, ", "), name, value));
      }
    }
    if (!used) {
      known = ascending(std::move(known));
      throw Error(ExitCode::usage,
                  fmt::format("--set {}: no selected variant has a parameter of this name.{}{}", name,
                              did_you_mean(name, known),
                              known.empty() ? " None of them has any."
                                            : fmt::format(" They have: {}.", fmt::join(known, ", "))));
    }
  }
}

const Family& the_family_of(const RegisteredVariant& variant, const Registry& registry) {
  const Family* family = registry.family(variant.info.family);
  if (family == nullptr)
    throw Error(ExitCode::fault, "no family is registered for variant " + variant.info.id);
  return *family;
}

/// The families of these variants, each once, in the order of the variants.
std::vector<const Family*> families_of(const std::vector<const RegisteredVariant*>& variants,
                                       const Registry& registry) {
  std::vector<const Family*> families;
  for (const RegisteredVariant* variant : variants) {
    const Family* family = &the_family_of(*variant, registry);
    if (std::ranges::find(families, family) == families.end()) families.push_back(family);
  }
  return families;
}

[[noreturn]] void refuse_axis(const std::string& axis, const std::vector<const Family*>& families) {
  std::vector<std::string> known;
  std::vector<std::string> described;
  for (const Family* family : families) {
    for (const AxisInfo& info : family->info().axes) {
      known.push_back(info.name);
      described.push_back(fmt::format("{} ({})", info.name, family->info().id));
    }
  }
  throw Error(ExitCode::usage,
              fmt::format("{}: no selected family has an axis of this name.{} They have: {}.", axis,
                          did_you_mean(axis, known), fmt::join(described, ", ")));
}

void require_values(const AxisInfo& axis, const std::vector<std::uint64_t>& values,
                    const FamilyInfo& family) {
  for (const std::uint64_t value : values) {
    if (value >= axis.min && (axis.max == 0 || value <= axis.max)) continue;
    const std::string range =
        axis.max == 0 ? fmt::format("{} or more", axis.min) : fmt::format("{} to {}", axis.min, axis.max);
    throw Error(ExitCode::usage, fmt::format("{} {}: the family {} takes {} ({}).", axis.name, value,
                                             family.id, range, axis.meaning));
  }
}

/// Every combination of the values that were given, other axes at their default; the family's own problems
/// where none was given for any of its axes.
std::vector<Problem> problems_of(const Family& family, const RunRequest& request) {
  const std::vector<AxisInfo>& axes = family.info().axes;
  const bool given =
      std::ranges::any_of(axes, [&](const AxisInfo& axis) { return request.values.contains(axis.name); });
  if (!given) return ascending(family.default_problems(request.quick));
  std::vector<Problem> all{Problem{}};
  for (const AxisInfo& axis : axes) {
    const auto values = request.values.find(axis.name);
    std::vector<Problem> extended;
    for (const Problem& partial : all) {
      for (const std::uint64_t value :
           values == request.values.end() ? std::vector{axis.default_value} : values->second) {
        extended.push_back(partial);
        extended.back().coordinates.push_back({axis.name, value});
      }
    }
    all = std::move(extended);
  }
  return ascending(std::move(all));
}

/// Those of the inputs that the families read.
InputPaths inputs_of(const std::vector<const Family*>& families, const InputPaths& inputs) {
  InputPaths read;
  for (const Family* family : families) {
    for (const InputInfo& input : family->inputs()) {
      if (const auto path = inputs.find(input.name); path != inputs.end()) read.insert(*path);
    }
  }
  return read;
}

/// Every combination of the variant's parameter values.
std::vector<Parameters> combinations(const VariantInfo& variant, const Plan& plan) {
  std::vector<Parameters> all{Parameters{}};
  for (const ParameterInfo& parameter : variant.parameters) {
    std::vector<Parameters> extended;
    for (const Parameters& partial : all) {
      for (const std::string& value : points(parameter, plan)) {
        extended.push_back(partial);
        extended.back()[parameter.name] = value;
      }
    }
    all = std::move(extended);
  }
  return all;
}

/// Puts in the tuned values of a variant at a problem, where there are some.
void tune(CaseKey& key, const Plan& plan) {
  if (!plan.tuned) return;
  for (const TunedPoint& point : plan.tuned->points) {
    if (point.variant != key.variant || point.problem != key.problem) continue;
    for (const auto& [name, value] : point.parameters) {
      if (!plan.settings.contains(name)) key.parameters[name] = value;
    }
  }
}

const RegisteredVariant& registered(const std::string& id, const Registry& registry) {
  const RegisteredVariant* variant = registry.variant(id);
  if (variant == nullptr) {
    throw Error(ExitCode::incomparable,
                fmt::format("the plan names the variant {}, which this mprof does not have; use "
                            "the build that made the run, or record a new one",
                            id));
  }
  return *variant;
}

/// Whether the plan has a counters pass of a GPU's kernels.
bool counts_kernels(const Plan& plan, const std::vector<const RegisteredVariant*>& variants) {
  return std::ranges::count(plan.passes, Pass::counters) > 0 &&
         std::ranges::any_of(variants, [](const auto* variant) { return variant->info.device != "cpu"; });
}

std::string list(const std::vector<std::string>& texts) {
  return fmt::format("{}", fmt::join(texts, ","));
}

std::string list(const std::vector<std::uint64_t>& values) {
  return fmt::format("{}", fmt::join(values, ","));
}

std::vector<std::string> names(const std::vector<Pass>& passes) {
  std::vector<std::string> texts;
  for (const Pass pass : passes) texts.emplace_back(to_string(pass));
  return texts;
}

std::string settings_text(const std::map<std::string, std::vector<std::string>>& settings) {
  std::vector<std::string> texts;
  for (const auto& [name, values] : settings) texts.push_back(name + "=" + list(values));
  return fmt::format("{}", fmt::join(texts, " "));
}

/// The values of the plan's problems on this axis.
std::vector<std::uint64_t> values_on(const Plan& plan, const std::string& axis) {
  std::vector<std::uint64_t> values;
  for (const auto& [family, problems] : plan.problems) {
    for (const Problem& problem : problems) {
      if (const auto value = value_on(problem, axis)) values.push_back(*value);
    }
  }
  return ascending(std::move(values));
}

std::vector<Problem> problems_in(const Plan& plan, const std::string& family) {
  const auto found = plan.problems.find(family);
  return found == plan.problems.end() ? std::vector<Problem>{} : found->second;
}

bool is_to_run(const PassResult& pass) {
  return pass.status == Status::pending || pass.status == Status::interrupted;
}

}  // namespace

void require_axes(const AxisValues& values, const std::vector<const Family*>& families) {
  for (const auto& [axis, chosen] : values) {
    bool used = false;
    for (const Family* family : families) {
      const AxisInfo* info = find_axis(family->info(), axis);
      if (info == nullptr) continue;
      used = true;
      require_values(*info, chosen, family->info());
    }
    if (!used) refuse_axis(axis, families);
  }
}

Plan make_plan(const RunRequest& request, const Registry& registry, const Devices& devices) {
  const std::vector<const RegisteredVariant*> variants = select(request, registry, devices);
  if (variants.empty())
    throw Error(ExitCode::environment, "there is no variant to run in this build of mprof");
  const std::vector<const Family*> families = families_of(variants, registry);
  require_axes(request.values, families);
  Plan plan;
  plan.variants = ids(variants);
  for (const Family* family : families) plan.problems[family->info().id] = problems_of(*family, request);
  plan.settings = each_value_once(request.settings);
  plan.passes = request.passes;
  if (counts_kernels(plan, variants)) plan.metrics = request.metrics;
  plan.quick = request.quick;
  plan.hot = request.hot;
  plan.seed = request.seed.value_or(0);
  plan.timeout = request.timeout.value_or(0);
  plan.rounds = request.rounds.value_or(request.quick && !request.in_turns ? 1 : usual_rounds);
  Stopping all = request.quick ? quick_stopping : Stopping{};
  if (request.max_seconds) all.max_seconds = *request.max_seconds;
  plan.stopping = stopping_of_a_round(all, plan.rounds);
  // What disturbs single samples is most of what differs in turns, and short ones cost little.
  if (request.in_turns) plan.stopping.max_samples = all.max_samples;
  plan.inputs = inputs_of(families, request.inputs);
  std::ranges::copy_if(request.sources, std::back_inserter(plan.sources), [&](const PluginSource& source) {
    return std::ranges::count(plan.variants, source.variant) > 0 || plan.problems.contains(source.family);
  });
  require_settings(plan, variants);
  return plan;
}

std::vector<Contradiction> contradictions(const RunRequest& request, const Plan& plan,
                                          const Registry& registry, const Devices& devices) {
  std::vector<Contradiction> out;
  const auto compare = [&](const std::string& what, const std::string& asked, const std::string& planned) {
    if (asked != planned) out.push_back({what, asked, planned.empty() ? "none" : planned});
  };
  if (request.all || !request.patterns.empty()) {
    compare("variants", list(ids(select(request, registry, devices))), list(plan.variants));
  }
  for (const auto& [axis, values] : request.values) {
    compare(axis, list(ascending(values)), list(values_on(plan, axis)));
  }
  if (!request.settings.empty())
    compare("set", settings_text(each_value_once(request.settings)), settings_text(plan.settings));
  if (!request.passes.empty()) compare("passes", list(names(request.passes)), list(names(plan.passes)));
  // Without a pass that reads them the plan keeps none.
  if (!request.metrics.empty() && !plan.metrics.empty())
    compare("metrics", list(request.metrics), list(plan.metrics));
  if (request.quick) compare("quick", "true", fmt::format("{}", plan.quick));
  if (request.hot) compare("hot", "true", fmt::format("{}", plan.hot));
  if (request.seed) compare("seed", std::to_string(*request.seed), std::to_string(plan.seed));
  // More rounds than were planned are added.
  if (request.rounds && *request.rounds < plan.rounds)
    compare("rounds", std::to_string(*request.rounds), std::to_string(plan.rounds));
  if (request.max_seconds)
    compare("sampling-time", fmt::format("{:g}", *request.max_seconds),
            fmt::format("{:g}", plan.stopping.max_seconds * plan.rounds));
  if (request.timeout)
    compare("timeout", fmt::format("{:g}", *request.timeout), fmt::format("{:g}", plan.timeout));
  for (const auto& [name, path] : request.inputs) {
    if (const auto read = plan.inputs.find(name); read != plan.inputs.end())
      compare(name, path, read->second);
  }
  return out;
}

std::vector<FamilyInfo> families_of(const Plan& plan, const Registry& registry) {
  std::vector<const RegisteredVariant*> variants;
  for (const std::string& id : plan.variants) variants.push_back(&registered(id, registry));
  std::vector<FamilyInfo> out;
  for (const Family* family : families_of(variants, registry)) {
    FamilyInfo& info = out.emplace_back(family->info());
    for (const Problem& problem : problems_in(plan, info.id)) {
      info.problems.push_back({problem, family->ops(problem)});
    }
  }
  return out;
}

std::vector<Case> planned_cases(const Plan& plan, const std::vector<VariantInfo>& variants,
                                const std::vector<FamilyInfo>& families) {
  std::vector<Case> cases;
  for (const std::string& id : plan.variants) {
    const auto variant = std::ranges::find(variants, id, &VariantInfo::id);
    const auto family = variant == variants.end()
                            ? families.end()
                            : std::ranges::find(families, variant->family, &FamilyInfo::id);
    if (family == families.end())
      throw Error(ExitCode::usage, fmt::format("the plan names {}, which the record does not describe", id));
    for (const Parameters& parameters : combinations(*variant, plan)) {
      for (const ProblemInfo& problem : family->problems) {
        Case& c = cases.emplace_back();
        c.key = {id, parameters, problem.problem};
        tune(c.key, plan);
        c.id = case_id(c.key, *variant);
        c.ops = problem.ops;
        for (const Pass pass : plan.passes) c.passes.push_back({.pass = pass, .reason = "not run yet"});
      }
    }
  }
  return cases;
}

std::vector<Case> make_cases(const Plan& plan, const Registry& registry) {
  return planned_cases(plan, variants_of(plan, registry), families_of(plan, registry));
}

std::vector<VariantInfo> variants_of(const Plan& plan, const Registry& registry) {
  std::vector<VariantInfo> out;
  const auto add = [&](const VariantInfo& info) {
    const bool known =
        std::any_of(out.begin(), out.end(), [&](const VariantInfo& v) { return v.id == info.id; });
    if (!known) out.push_back(info);
  };
  for (const std::string& id : plan.variants) {
    const VariantInfo& info = registered(id, registry).info;
    const RegisteredVariant* baseline = registry.variant(info.baseline);
    if (baseline != nullptr) add(baseline->info);
    add(info);
  }
  return out;
}

std::optional<std::string> unavailable(const RegisteredVariant& variant, const Devices& devices) {
  const Device* device = devices.find(variant.info.device);
  if (device == nullptr) return fmt::format("this build of mprof has no {} device", variant.info.device);
  if (const auto reason = device->unavailable()) return reason;
  return variant.unavailable ? variant.unavailable() : std::nullopt;
}

void skip_unavailable(std::vector<Case>& cases, const Registry& registry, const Devices& devices) {
  for (Case& c : cases) {
    const RegisteredVariant& variant = registered(c.key.variant, registry);
    std::optional<std::string> reason = unavailable(variant, devices);
    if (!reason && variant.impossible) reason = variant.impossible(c.key.parameters);
    if (!reason) continue;
    for (PassResult& pass : c.passes) {
      if (!is_to_run(pass)) continue;
      pass.status = Status::skipped;
      pass.reason = *reason;
    }
  }
}

std::vector<InputFile> validate_inputs(const Run& run, const Registry& registry) {
  std::set<std::string> reading;
  for (const Case& c : run.cases) {
    if (std::ranges::any_of(c.passes, is_to_run))
      reading.insert(registered(c.key.variant, registry).info.family);
  }
  std::vector<InputFile> files;
  for (const std::string& id : reading) {
    for (InputFile& file : registry.family(id)->validate(run.plan.inputs)) files.push_back(std::move(file));
  }
  return files;
}

}  // namespace mprof
