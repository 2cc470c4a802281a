#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/options.hpp"
#include "device/device.hpp"
#include "kernels/registry.hpp"
#include "model/json_archive.hpp"
#include "model/metric_presets.hpp"
#include "runner/plan.hpp"

namespace mprof::cli {
namespace {

void print_json(const std::vector<const RegisteredVariant*>& variants) {
  json::Json rows = json::Json::array();
  for (const RegisteredVariant* variant : variants) {
    json::Json row = json::to_json(variant->info);
    const auto reason = unavailable(*variant, Devices::instance());
    row["available"] = !reason.has_value();
    if (reason) row["reason"] = *reason;
    rows.push_back(std::move(row));
  }
  std::fputs(json::print(rows).c_str(), stdout);
}

std::string described(const ParameterInfo& parameter) {
  return fmt::format("{}: {} (default {}): {}", parameter.name, fmt::join(parameter.values, ", "),
                     parameter.default_value, parameter.meaning);
}

void print_text(const std::vector<const RegisteredVariant*>& variants) {
  for (const RegisteredVariant* variant : variants) {
    const VariantInfo& info = variant->info;
    fmt::print("{}\n    {}\n", info.id, info.title);
    fmt::print("    baseline   {}\n", info.baseline.empty() ? "none: it is the baseline" : info.baseline);
    if (!info.combines.empty()) fmt::print("    combines   {}\n", fmt::join(info.combines, ", "));
    for (const ParameterInfo& parameter : info.parameters)
      fmt::print("    parameter  {}\n", described(parameter));
    const auto reason = unavailable(*variant, Devices::instance());
    fmt::print("    runs here  {}\n\n", reason ? "no: " + *reason : "yes, on the " + info.device + " device");
  }
  fmt::print("{} variants. `mprof run --all` runs them; `mprof run --variant GLOB` some of them.\n",
             variants.size());
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
  const auto variants = Registry::instance().variants();
  arguments.flag("json") ? print_json(variants) : print_text(variants);
  return 0;
}

}  // namespace

Verb list_verb() {
  return {
      .name = "list",
      .positional = "",
      .summary = "the variants, and whether they can run here",
      .description =
          "Lists every variant with its title, baseline and parameters, whether it can run on this\nmachine, "
          "and if not, why.",
      .options = {{"json", "", "", "Print JSON instead of text."},
                  {"metrics", "", "",
                   "List what `mprof run --metrics` takes instead: presets and their metrics."}},
      .run = list};
}

}  // namespace mprof::cli
