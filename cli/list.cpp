// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/options.hpp"
#include "cli/sources.hpp"
#include "cli/variant_list.hpp"
#include "kernels/registry.hpp"
#include "model/json_archive.hpp"
#include "model/metric_presets.hpp"
#include "system/error.hpp"
#include "system/glob.hpp"
#include "system/suggest.hpp"

namespace mprof::cli {
namespace {

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
  const json::Json document{{"schema", "mprof.metrics/1"}, {"presets", std::move(presets)}};
  std::fputs(json::print(document).c_str(), stdout);
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

[[noreturn]] void refuse_glob(const std::string& glob) {
  std::vector<std::string> known;
  for (const RegisteredVariant* variant : Registry::instance().variants()) known.push_back(variant->info.id);
  throw Error(ExitCode::usage, fmt::format("no variant is called '{}'.{} `mprof list` shows all of them.",
                                           glob, did_you_mean(glob, known)));
}

int list(const Arguments& arguments) {
  if (arguments.flag("metrics")) {
    if (arguments.given("GLOB"))
      throw Error(ExitCode::usage, fmt::format("mprof list --metrics lists no variants: leave '{}' out.",
                                               arguments.text("GLOB")));
    arguments.flag("json") ? print_metrics_json() : print_metrics_text();
    return 0;
  }
  const Registry& registry = Registry::instance();
  Sources sources(arguments, true);
  const std::vector<PluginSource> own = sources.load(arguments);
  const std::string glob = arguments.given("GLOB") ? arguments.text("GLOB") : "*";
  auto variants = registry.variants();
  auto families = registry.families();
  const bool is_of_some = !own.empty() || arguments.given("GLOB");
  std::erase_if(variants, [&](const RegisteredVariant* variant) {
    const bool is_own = own.empty() || std::ranges::count(own, variant->info.id, &PluginSource::variant) > 0;
    return !is_own || !matches(glob, variant->info.id);
  });
  if (variants.empty()) refuse_glob(glob);
  std::erase_if(families, [&](const Family* family) {
    return is_of_some && std::ranges::none_of(variants, [&](const RegisteredVariant* variant) {
             return variant->info.family == family->info().id;
           });
  });
  if (arguments.flag("json"))
    std::fputs(variants_json(families, variants).c_str(), stdout);
  else if (arguments.flag("verbose"))
    print_variants(families, variants);
  else
    print_variant_lines(variants);
  return 0;
}

}  // namespace

Verb list_verb() {
  std::vector<Option> options{
      {"verbose", "", "", "Everything about each family and variant: axes, inputs, parameters, baselines."},
      {"json", "", "", "Print JSON."},
      {"metrics", "", "", "List instead what `mprof run --metrics` takes: presets and their metrics."}};
  add_source_options(options);
  std::ranges::find(options, std::string("source"), &Option::name)->meaning =
      "Build what `mprof run --source` would run, and list that alone.";
  return {
      .name = "list",
      .positional = "[GLOB]",
      .summary = "list variants, and whether they can run here",
      .description =
          "Lists the variants, or some by GLOB, one a line, and says whether they can run on this machine. "
          "With -v, it also shows the parameters of each variant, and the axes, default problems, inputs and "
          "qualities of "
          "its family.",
      .examples = {{"mprof list", "every variant, a line each"},
                   {"mprof list '{family}/cpu_*' -v", "some of them, with everything about them"},
                   {"mprof list --metrics", "the hardware counters that mprof knows"}},
      .section = Section::start,
      .options = std::move(options),
      .run = list};
}

}  // namespace mprof::cli
