// SPDX-License-Identifier: MIT
#include "kernels/common/declaration.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/registry.hpp"
#include "system/error.hpp"

namespace mprof {
namespace {

std::string names_of(const std::vector<ParameterInfo>& parameters) {
  std::vector<std::string_view> names;
  for (const ParameterInfo& parameter : parameters) names.push_back(parameter.name);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

std::optional<std::string> runs_anywhere() {
  return std::nullopt;
}

}  // namespace

Parameters resolve_parameters(const std::vector<ParameterInfo>& declared, const std::string& id,
                              const Parameters& given) {
  Parameters resolved;
  for (const ParameterInfo& parameter : declared) resolved[parameter.name] = parameter.default_value;
  for (const auto& [name, value] : given) {
    const auto parameter = std::ranges::find(declared, name, &ParameterInfo::name);
    if (parameter == declared.end()) {
      throw Error(ExitCode::usage,
                  fmt::format("{} has no parameter \"{}\". It has: {}.", id, name, names_of(declared)));
    }
    if (std::ranges::find(parameter->values, value) == parameter->values.end()) {
      throw Error(ExitCode::usage, fmt::format("{} does not know {}={}. Use one of: {}.", id, name, value,
                                               fmt::join(parameter->values, ", ")));
    }
    resolved[name] = value;
  }
  return resolved;
}

namespace detail {

std::string register_variant(
    VariantInfo info, std::string_view file, std::function<std::optional<std::string>()> unavailable,
    std::function<std::optional<std::string>(const Parameters& parameters)> impossible) {
  info.id = variant_id_of(file);
  info.family = family_of(info.id);
  info.source_file = source_file_of(file);
  std::string id = info.id;
  Registry::instance().add(RegisteredVariant{
      std::move(info), unavailable ? std::move(unavailable) : runs_anywhere, std::move(impossible)});
  return id;
}

void register_libraries(std::vector<LibraryFact> libraries, const std::string& variant) {
  for (LibraryFact& library : libraries) Registry::instance().add_library(std::move(library), variant);
}

void register_environment(std::function<std::map<std::string, std::string>()> environment) {
  Registry::instance().add_environment(std::move(environment));
}

void fail_unknown_variant(std::string_view id) {
  throw Error(ExitCode::usage,
              fmt::format("{} is no variant of its family. `mprof list` shows those there are.", id));
}

}  // namespace detail
}  // namespace mprof
