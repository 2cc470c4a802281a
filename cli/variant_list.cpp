// SPDX-License-Identifier: MIT
#include "cli/variant_list.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "device/device.hpp"
#include "model/json_archive.hpp"
#include "report/text/format.hpp"
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

}  // namespace

std::string variants_json(const std::vector<const Family*>& families,
                          const std::vector<const RegisteredVariant*>& variants) {
  const json::Json document{{"schema", "mprof.list/1"},
                            {"families", families_json(families)},
                            {"variants", variants_json(variants)}};
  return json::print(document);
}

void print_variant_lines(const std::vector<const RegisteredVariant*>& variants) {
  std::size_t widest = 0;
  for (const RegisteredVariant* variant : variants) widest = std::max(widest, variant->info.id.size());
  std::map<std::string, std::size_t> unavailable_by_reason;
  for (const RegisteredVariant* variant : variants) {
    const auto reason = unavailable(*variant, Devices::instance());
    if (reason) ++unavailable_by_reason[*reason];
    fmt::print("{:<{}}  {:<4}  {:<3}  {}\n", variant->info.id, widest, variant->info.device,
               reason ? "no" : "yes", variant->info.title);
  }
  fmt::print("\n{}: id, device, whether it runs here, title. Details: mprof list -v [GLOB]\n",
             format::plural(variants.size(), "variant"));
  for (const auto& [reason, count] : unavailable_by_reason)
    fmt::print("{} cannot run here: {}\n", count, reason);
}

void print_variants(const std::vector<const Family*>& families,
                    const std::vector<const RegisteredVariant*>& variants) {
  for (const Family* family : families) {
    print_family(*family);
    for (const RegisteredVariant* variant : variants) {
      if (variant->info.family == family->info().id) print_variant(*variant);
    }
  }
  fmt::print(
      "{} in {} {}. `mprof run --all` runs them; `mprof run --variant GLOB` some of them.\n"
      "The output of each timed execution is compared with the reference: docs/how-it-works/honesty.md.\n",
      format::plural(variants.size(), "variant"), families.size(),
      families.size() == 1 ? "family" : "families");
}

}  // namespace mprof::cli
