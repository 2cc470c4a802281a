#include "kernels/conv/lenet/variant.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/registry.hpp"
#include "system/error.hpp"

namespace mprof::conv {
namespace {

/// A function's static, since variants register before main() in an order that nobody knows.
std::map<std::string, Declaration, std::less<>>& declarations() {
  static std::map<std::string, Declaration, std::less<>> table;
  return table;
}

VariantInfo describe(const Declaration& declaration, std::string_view file) {
  const std::string id = variant_id_of(file);
  return {.id = id,
          .family = id.substr(0, id.find('/')),
          .title = declaration.title,
          .idea = declaration.idea,
          .device = declaration.device,
          .baseline = declaration.baseline,
          .parameters = declaration.parameters,
          .expectations = declaration.expectations,
          .references = declaration.references,
          .combines = declaration.combines,
          .source_file = source_file_of(file)};
}

std::string parameter_names(const Declaration& declaration) {
  std::vector<std::string_view> names;
  for (const ParameterInfo& parameter : declaration.parameters) names.push_back(parameter.name);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

std::optional<std::string> runs_anywhere() {
  return std::nullopt;
}

}  // namespace

Register::Register(Declaration declaration, const char* file) {
  VariantInfo info = describe(declaration, file);
  const std::string id = info.id;
  Registry::instance().add(
      RegisteredVariant{std::move(info), declaration.unavailable ? declaration.unavailable : runs_anywhere});
  if (declaration.library_version) {
    Registry::instance().add_library(declaration.library, declaration.library_version);
  }
  declarations().emplace(id, std::move(declaration));
}

const Declaration* find_declaration(std::string_view id) {
  const auto found = declarations().find(id);
  return found == declarations().end() ? nullptr : &found->second;
}

double tolerance(const Declaration& declaration, const Parameters& parameters) {
  return declaration.tolerance_of ? declaration.tolerance_of(parameters) : declaration.tolerance;
}

Parameters resolve_parameters(const Declaration& declaration, const std::string& id,
                              const Parameters& given) {
  Parameters resolved;
  for (const ParameterInfo& parameter : declaration.parameters) {
    resolved[parameter.name] = parameter.default_value;
  }
  for (const auto& [name, value] : given) {
    const auto parameter = std::ranges::find(declaration.parameters, name, &ParameterInfo::name);
    if (parameter == declaration.parameters.end()) {
      throw Error(ExitCode::usage, fmt::format("{} has no parameter \"{}\". It has: {}.", id, name,
                                               parameter_names(declaration)));
    }
    if (std::ranges::find(parameter->values, value) == parameter->values.end()) {
      throw Error(ExitCode::usage, fmt::format("{} does not know {}={}. Use one of: {}.", id, name, value,
                                               fmt::join(parameter->values, ", ")));
    }
    resolved[name] = value;
  }
  return resolved;
}

}  // namespace mprof::conv
