#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/options.hpp"
#include "cli/sources.hpp"
#include "device/device.hpp"
#include "kernels/registry.hpp"
#include "model/json_archive.hpp"
#include "model/metric_presets.hpp"
#include "runner/plan.hpp"

namespace mprof::cli {
namespace {

json::Json inputs_of(const Family& family) {
  json::Json rows = json::Json::array();
  for (const InputInfo& input : family.inputs()) {
    json::Json places = json::Json::array();
    for (const std::filesystem::path& place : input.places) places.push_back(place.string());
    rows.push_back({{"name", input.name}, {"meaning", input.meaning}, {"places", std::move(places)}});
  }
  return rows;
}

json::Json families_json(const std::vector<const Family*>& families) {
  json::Json rows = json::Json::array();
  for (const Family* family : families) {
    json::Json row = json::to_json(family->info());
    row["default_problems"] = json::to_json(family->default_problems(false));
    row["quick_problems"] = json::to_json(family->default_problems(true));
    row["inputs"] = inputs_of(*family);
    rows.push_back(std::move(row));
  }
  return rows;
}

json::Json variants_json(const std::vector<const RegisteredVariant*>& variants) {
  json::Json rows = json::Json::array();
  for (const RegisteredVariant* variant : variants) {
    json::Json row = json::to_json(variant->info);
    const auto reason = unavailable(*variant, Devices::instance());
    row["available"] = !reason.has_value();
    if (reason) row["reason"] = *reason;
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string described(const ParameterInfo& parameter) {
  return fmt::format("{}: {} (default {}): {}", parameter.name, fmt::join(parameter.values, ", "),
                     parameter.default_value, parameter.meaning);
}

std::string described(const AxisInfo& axis, bool is_alone) {
  std::string values =
      axis.max == 0 ? fmt::format("{} or more", axis.min) : fmt::format("{} to {}", axis.min, axis.max);
  if (!is_alone) values += fmt::format("; {} where only other axes are given", axis.default_value);
  return fmt::format("{}: {} ({})", axis.name, axis.meaning, values);
}

std::string described(const QualityInfo& quality) {
  return fmt::format("{}: {} {} is better.", quality.label, quality.meaning,
                     quality.better == Better::higher ? "Higher" : "Lower");
}

std::string described(const std::vector<Problem>& problems) {
  std::vector<std::string> ids;
  for (const Problem& problem : problems) ids.push_back(problem_id(problem));
  return fmt::format("{}", fmt::join(ids, problems.front().coordinates.size() > 1 ? "; " : ", "));
}

void print_family(const Family& family) {
  const FamilyInfo& info = family.info();
  fmt::print("{}\n    {}\n", info.id, info.title);
  for (const AxisInfo& axis : info.axes)
    fmt::print("    axis       {}\n", described(axis, info.axes.size() == 1));
  fmt::print("    problems   {}\n", described(family.default_problems(false)));
  fmt::print("    quick      {}\n", described(family.default_problems(true)));
  for (const InputInfo& input : family.inputs()) {
    fmt::print("    input      {}: {}\n", input.name, input.meaning);
  }
  for (const QualityInfo& quality : info.qualities) fmt::print("    quality    {}\n", described(quality));
  fmt::print("\n");
}

void print_variant(const RegisteredVariant& variant) {
  const VariantInfo& info = variant.info;
  fmt::print("{}\n    {}\n", info.id, info.title);
  fmt::print("    baseline   {}\n", info.baseline.empty() ? "none: it is the baseline" : info.baseline);
  if (!info.combines.empty()) fmt::print("    combines   {}\n", fmt::join(info.combines, ", "));
  if (!info.library.empty()) fmt::print("    library    {}\n", info.library);
  if (info.arithmetic)
    fmt::print("    arithmetic {:.2g} of the FLOPs that the op's definition needs, by its algorithm\n",
               *info.arithmetic);
  for (const ParameterInfo& parameter : info.parameters)
    fmt::print("    parameter  {}\n", described(parameter));
  const auto reason = unavailable(variant, Devices::instance());
  fmt::print("    runs here  {}\n\n", reason ? "no: " + *reason : "yes, on the " + info.device + " device");
}

void print_text(const std::vector<const Family*>& families,
                const std::vector<const RegisteredVariant*>& variants) {
  for (const Family* family : families) {
    print_family(*family);
    for (const RegisteredVariant* variant : variants) {
      if (variant->info.family == family->info().id) print_variant(*variant);
    }
  }
  fmt::print(
      "{} variants in {} {}. `mprof run --all` runs them; `mprof run --variant GLOB` some of them.\n"
      "The output of each timed execution is compared with the reference: docs/how-it-works/honesty.md.\n",
      variants.size(), families.size(), families.size() == 1 ? "family" : "families");
}

void print_metrics_json() {
  json::Json presets = json::Json::array();
  for (const MetricPreset& preset : metric_presets()) {
    json::Json metrics = json::Json::array();
    for (const std::string_view id : preset.metrics) {
      const Metric& metric = *find_metric(id);
      metrics.push_back({{"id", id},
                         {"label", metric.label},
                         {"unit", unit_symbol(metric.unit)},
                         {"meaning", metric.meaning}});
    }
    presets.push_back({{"name", preset.name}, {"title", preset.title}, {"metrics", std::move(metrics)}});
  }
  std::fputs(json::print(presets).c_str(), stdout);
}

void print_metrics_text() {
  for (const MetricPreset& preset : metric_presets()) {
    fmt::print("{}: {}\n", preset.name, preset.title);
    for (const std::string_view id : preset.metrics) {
      const Metric& metric = *find_metric(id);
      fmt::print("    {}\n        {} [{}]: {}\n", id, metric.label, unit_symbol(metric.unit), metric.meaning);
    }
    fmt::print("\n");
  }
  fmt::print(
      "`mprof run --metrics {}` reads a preset's metrics of each GPU kernel; so does any name that CUPTI "
      "has.\n",
      metric_presets().front().name);
}

int list(const Arguments& arguments) {
  if (arguments.flag("metrics")) {
    arguments.flag("json") ? print_metrics_json() : print_metrics_text();
    return 0;
  }
  const Registry& registry = Registry::instance();
  Sources sources(arguments, true);
  const std::vector<PluginSource> own = sources.load(arguments);
  auto variants = registry.variants();
  auto families = registry.families();
  if (!own.empty()) {
    std::erase_if(variants, [&](const RegisteredVariant* variant) {
      return std::ranges::find(own, variant->info.id, &PluginSource::variant) == own.end();
    });
    std::erase_if(families, [&](const Family* family) {
      return std::ranges::none_of(variants, [&](const RegisteredVariant* variant) {
        return variant->info.family == family->info().id;
      });
    });
  }
  if (arguments.flag("json")) {
    const json::Json document{{"families", families_json(families)}, {"variants", variants_json(variants)}};
    std::fputs(json::print(document).c_str(), stdout);
  } else {
    print_text(families, variants);
  }
  return 0;
}

}  // namespace

Verb list_verb() {
  std::vector<Option> options{
      {"json", "", "", "Print JSON instead of text."},
      {"metrics", "", "", "List what `mprof run --metrics` takes instead: presets and their metrics."}};
  add_source_options(options);
  std::ranges::find(options, std::string("source"), &Option::name)->meaning =
      "Build what `mprof run --source` would run, and list that alone.";
  return {.name = "list",
          .positional = "",
          .summary = "the families and variants, and whether they can run here",
          .description =
              "Lists every family with its axes, default problems, inputs and qualities, and every variant "
              "with its title, baseline and parameters, whether it can run on this machine, and if not, why.",
          .options = std::move(options),
          .run = list};
}

}  // namespace mprof::cli
