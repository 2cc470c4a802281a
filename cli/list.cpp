#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/options.hpp"
#include "device/device.hpp"
#include "kernels/registry.hpp"
#include "model/json_archive.hpp"
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
    for (const ParameterInfo& parameter : info.parameters)
      fmt::print("    parameter  {}\n", described(parameter));
    const auto reason = unavailable(*variant, Devices::instance());
    fmt::print("    runs here  {}\n\n", reason ? "no: " + *reason : "yes, on the " + info.device + " device");
  }
  fmt::print("{} variants. `mprof run --all` runs them; `mprof run --variant GLOB` some of them.\n",
             variants.size());
}

int list(const Arguments& arguments) {
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
      .options = {{"json", "", "", "Print JSON instead of text."}},
      .run = list};
}

}  // namespace mprof::cli
