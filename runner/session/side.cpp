// SPDX-License-Identifier: MIT
#include "runner/session/side.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "runner/source/parts.hpp"
#include "system/error.hpp"
#include "system/programs.hpp"
#include "system/suggest.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

/// What this variant is built from: its file, and that of its family.
std::vector<PluginSource> built_from(const std::string& variant, const std::vector<PluginSource>& sources) {
  std::vector<PluginSource> own;
  std::ranges::copy_if(sources, std::back_inserter(own), [&](const PluginSource& source) {
    return source.family.empty() ? source.variant == variant
                                 : source.family == family_of(std::string_view(variant));
  });
  return own;
}

/// The side whose variant is built from the file of this name; nullopt where it is none of the sources.
std::optional<SessionSide> source_side(const std::string& name, const std::string& program,
                                       const std::vector<PluginSource>& sources) {
  std::error_code error;
  for (const PluginSource& source : sources) {
    if (fs::equivalent(parts_of(source.path).front(), parts_of(name).front(), error))
      return SessionSide{.name = name, .variant = source.variant, .program = program};
  }
  return std::nullopt;
}

/// nullopt where the name begins with no variant's id.
std::optional<SessionSide> variant_side(const std::string& name, const std::string& program,
                                        const Registry& registry) {
  SessionSide side{.name = name, .variant = name.substr(0, name.find('[')), .program = program};
  if (registry.variant(side.variant) == nullptr) return std::nullopt;
  const std::optional<VariantPoint> point = parse_variant_point(name);
  if (!point)
    throw Error(ExitCode::usage,
                fmt::format("{}: parameters are written behind the variant as [NAME=VALUE,...].", name));
  for (const auto& [parameter, value] : point->parameters) side.settings[parameter] = {value};
  return side;
}

[[noreturn]] void refuse_file(const std::string& name, bool is_folder) {
  throw Error(ExitCode::usage,
              fmt::format("{} is {}: to measure another build of mprof give the path of its program{}.", name,
                          is_folder ? "a folder" : "a file that cannot be executed",
                          is_folder ? "" : ", and let it be executed (`chmod +x`)"));
}

}  // namespace

SessionSide session_side(const std::string& name, const std::string& other,
                         const std::string& variant_of_builds, const std::vector<PluginSource>& sources,
                         const Registry& registry) {
  const std::string own = own_program().string();
  auto of_this_build = variant_side(name, own, registry);
  if (!of_this_build) of_this_build = source_side(name, own, sources);
  if (of_this_build) {
    of_this_build->sources = built_from(of_this_build->variant, sources);
    return *of_this_build;
  }
  if (is_program(name)) {
    auto side = variant_side(variant_of_builds, fs::canonical(name).string(), registry);
    if (side) return side->name = name, *side;
    throw Error(
        ExitCode::usage,
        fmt::format("{} is a program. If A and B are builds of mprof, say with --variant ID what they run "
                    "(`mprof list`). To compare two programs of your own: mprof ab -- '{}' '{}', each "
                    "command in quotes",
                    name, name, registry.variant(other) == nullptr ? other : "..."));
  }
  std::error_code error;
  if (fs::exists(name, error)) refuse_file(name, fs::is_directory(name, error));
  std::vector<std::string> known;
  for (const RegisteredVariant* variant : registry.variants()) known.push_back(variant->info.id);
  throw Error(ExitCode::usage,
              fmt::format("{} is neither a variant nor another build of mprof.{} `mprof list` "
                          "shows the variants.",
                          name, did_you_mean(name, known)));
}

}  // namespace mprof
