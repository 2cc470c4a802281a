// SPDX-License-Identifier: MIT
#include "cli/session_request.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/family_options.hpp"
#include "cli/values.hpp"
#include "kernels/registry.hpp"
#include "runner/source/compiler.hpp"
#include "system/error.hpp"
#include "system/shell.hpp"

namespace mprof::cli {
namespace {

namespace fs = std::filesystem;

/// The sources among A and B, built together: one may be the other's baseline, and their names must differ.
std::vector<PluginSource> build_sources(const Arguments& arguments, Sources& sources) {
  std::vector<std::string> files;
  for (const char* side : {"A", "B"}) {
    if (is_source_name(arguments.text(side))) files.push_back(arguments.text(side));
  }
  return sources.load({.patterns = files});
}

SessionArm arm_of(const Arguments& arguments, const SessionSide& side, std::uint64_t seed) {
  const Registry& registry = Registry::instance();
  RunRequest request;
  request.values = one_problem(arguments, *registry.family(registry.variant(side.variant)->info.family));
  request.seed = seed;
  request.max_seconds = parse_seconds("sampling-time", arguments.text("sampling-time"));
  request.timeout = parse_seconds("timeout", arguments.text("timeout"));
  request.inputs = locate_inputs(arguments, registry);
  return {.side = side, .run = planned_session_run(side, request, registry, arguments.command_line())};
}

SessionArm arm_of_program(const Arguments& arguments, const std::string& command) {
  SessionArm arm{.side = {.name = command, .command = shell_words(command)}};
  arm.run = planned_session_run(arm.side, parse_seconds("timeout", arguments.text("timeout")),
                                arguments.command_line());
  return arm;
}

/// Options of variants are refused for programs.
void require_two_programs(const Arguments& arguments) {
  constexpr std::string_view taken[] = {"budget", "timeout", "format", "json", "out", "overwrite", "quiet"};
  if (arguments.program().size() != 2)
    throw Error(ExitCode::usage,
                fmt::format("Give two commands after --, each in quotes, as in: mprof ab -- './program 1' "
                            "'./program 2'. Found {}.",
                            arguments.program().size()));
  for (const char* side : {"A", "B"}) {
    if (arguments.given(side))
      throw Error(
          ExitCode::usage,
          fmt::format("'{}': compare two programs, or two variants, not one of each.", arguments.text(side)));
  }
  for (const Option& option : arguments.options()) {
    const bool is_taken = std::ranges::find(taken, option.name) != std::end(taken);
    if (!is_taken && !option.argument.empty() && arguments.given(option.name))
      throw Error(ExitCode::usage,
                  fmt::format("--{} is for variants, and not for programs after --.", option.name));
  }
}

SessionArms arms_of_programs(const Arguments& arguments) {
  require_two_programs(arguments);
  const std::string& a = arguments.program().front();
  const std::string& b = arguments.program().back();
  return {arm_of_program(arguments, a), arm_of_program(arguments, b), arm_of_program(arguments, a)};
}

SessionArms arms_of_variants(const Arguments& arguments, std::uint64_t seed, Sources& sources) {
  const std::vector<PluginSource> built = build_sources(arguments, sources);
  const auto side = [&](const char* name, const char* other) {
    return session_side(arguments.text(name), arguments.text(other), arguments.text("variant"), built,
                        Registry::instance());
  };
  const SessionSide a = side("A", "B"), b = side("B", "A");
  return {arm_of(arguments, a, seed), arm_of(arguments, b, seed), arm_of(arguments, a, seed)};
}

}  // namespace

SessionArms make_arms(const Arguments& arguments, std::uint64_t seed, Sources& sources) {
  SessionArms arms =
      arguments.program().empty() ? arms_of_variants(arguments, seed, sources) : arms_of_programs(arguments);
  if (arms[0].run.cases.at(0).key.problem != arms[1].run.cases.at(0).key.problem)
    throw Error(ExitCode::incomparable,
                fmt::format("{} and {} are of different families: there is no problem that both solve.",
                            arms[0].side.name, arms[1].side.name));
  const fs::path out = arguments.given("out") ? fs::path(arguments.text("out"))
                                              : fs::path(default_result_path(utc_now(), "ab"));
  const std::array<const char*, 3> names{"A", "B", "A-again"};
  for (std::size_t i = 0; i < arms.size(); ++i) {
    arms[i].directory = std::make_unique<ResultDirectory>(
        out / names[i],
        arguments.flag("overwrite") ? ResultDirectory::Mode::overwrite : ResultDirectory::Mode::create,
        ResultDirectory::Offers{.overwrite = true});
    arms[i].directory->save(arms[i].run);
    arms[i].directory->save_sources(arms[i].run);
  }
  return arms;
}

}  // namespace mprof::cli
