#include "runner/plan.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fnmatch.h>

#include "system/error.hpp"
#include "system/suggest.hpp"

namespace mprof {
namespace {

constexpr Stopping quick_stopping{
    .min_samples = 3, .max_samples = 7, .max_seconds = 1.5, .relative_half_width = 0.05};

std::vector<std::string> ids(const std::vector<const RegisteredVariant*>& variants) {
  std::vector<std::string> out;
  for (const RegisteredVariant* variant : variants) out.push_back(variant->info.id);
  return out;
}

/// Without a GPU: everything, since what cannot run here is worth a line that says so. With one: all but the
/// CPU variants, which would take minutes for each second of the others; --variant 'conv/cpu_*' asks for
/// them.
bool selected_by_all(const RegisteredVariant& variant, const Devices& devices) {
  const std::string_view preferred = devices.preferred().id();
  return preferred == "cpu" || variant.info.device != "cpu";
}

std::vector<const RegisteredVariant*> select(const Selection& selection, const Registry& registry,
                                             const Devices& devices) {
  const std::vector<const RegisteredVariant*> known = registry.variants();
  std::vector<bool> chosen(known.size(), false);
  for (std::size_t i = 0; i < known.size(); ++i) {
    chosen[i] = selection.all && selected_by_all(*known[i], devices);
  }
  for (const std::string& pattern : selection.patterns) {
    bool matched = false;
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (fnmatch(pattern.c_str(), known[i]->info.id.c_str(), 0) != 0) continue;
      chosen[i] = matched = true;
    }
    if (!matched) {
      throw Error(ExitCode::usage, fmt::format("no variant is called '{}'.{} `mprof list` shows them all.",
                                               pattern, did_you_mean(pattern, ids(known))));
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

void check_settings(const Plan& plan, const std::vector<const RegisteredVariant*>& variants) {
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
      std::sort(known.begin(), known.end());
      known.erase(std::unique(known.begin(), known.end()), known.end());
      throw Error(ExitCode::usage,
                  fmt::format("--set {}: no selected variant has a parameter of this name.{}{}", name,
                              did_you_mean(name, known),
                              known.empty() ? " None of them has any."
                                            : fmt::format(" They have: {}.", fmt::join(known, ", "))));
    }
  }
}

const Family& family_of(const RegisteredVariant& variant, const Registry& registry) {
  const Family* family = registry.family(variant.info.family);
  if (family == nullptr)
    throw Error(ExitCode::fault, "no family is registered for variant " + variant.info.id);
  return *family;
}

void check_batches(const Plan& plan, const std::vector<const RegisteredVariant*>& variants,
                   const Registry& registry) {
  for (const RegisteredVariant* variant : variants) {
    const Family& family = family_of(*variant, registry);
    for (const std::uint64_t batch : plan.batches) {
      if (batch >= 1 && batch <= family.max_batch()) continue;
      throw Error(ExitCode::usage, fmt::format("--batch {}: the {} family takes 1 to {} images.", batch,
                                               family.id(), family.max_batch()));
    }
  }
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

}  // namespace

Plan make_plan(const Selection& selection, const Registry& registry, const Devices& devices) {
  const std::vector<const RegisteredVariant*> variants = select(selection, registry, devices);
  if (variants.empty())
    throw Error(ExitCode::environment, "there is no variant to run in this build of mprof");
  Plan plan;
  plan.variants = ids(variants);
  plan.batches = selection.batches.empty()
                     ? family_of(*variants.front(), registry).default_batches(selection.quick)
                     : selection.batches;
  std::sort(plan.batches.begin(), plan.batches.end());
  plan.batches.erase(std::unique(plan.batches.begin(), plan.batches.end()), plan.batches.end());
  plan.settings = each_value_once(selection.settings);
  plan.passes = selection.passes;
  if (counts_kernels(plan, variants)) plan.metrics = selection.metrics;
  plan.quick = selection.quick;
  plan.hot = selection.hot;
  plan.seed = selection.seed;
  plan.timeout = selection.timeout;
  if (selection.quick) plan.stopping = quick_stopping;
  plan.images = selection.data.images.string();
  plan.weights = selection.data.weights.string();
  check_settings(plan, variants);
  check_batches(plan, variants, registry);
  return plan;
}

std::vector<Case> make_cases(const Plan& plan, const Registry& registry) {
  std::vector<Case> cases;
  for (const std::string& id : plan.variants) {
    const RegisteredVariant& variant = registered(id, registry);
    const Family& family = family_of(variant, registry);
    for (const Parameters& parameters : combinations(variant.info, plan)) {
      for (const std::uint64_t batch : plan.batches) {
        Case& c = cases.emplace_back();
        c.key = {id, parameters, batch};
        c.id = case_id(c.key, variant.info);
        c.ops = family.ops(batch);
        for (const Pass pass : plan.passes) c.passes.push_back({.pass = pass, .reason = "not run yet"});
      }
    }
  }
  return cases;
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
    const std::optional<std::string> reason = unavailable(registered(c.key.variant, registry), devices);
    if (!reason) continue;
    for (PassResult& pass : c.passes) {
      if (pass.status != Status::pending && pass.status != Status::interrupted) continue;
      pass.status = Status::skipped;
      pass.reason = *reason;
    }
  }
}

}  // namespace mprof
