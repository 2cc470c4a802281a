// SPDX-License-Identifier: MIT
#include "cli/tuning_request.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "cli/family_options.hpp"
#include "cli/planned_run.hpp"
#include "cli/values.hpp"
#include "collectors/collector.hpp"
#include "device/device.hpp"
#include "report/analysis/kernels/op_metrics.hpp"
#include "runner/measure.hpp"
#include "runner/source/compiler.hpp"
#include "system/error.hpp"
#include "system/suggest.hpp"

namespace mprof::cli {
namespace {

constexpr std::uint32_t rounds_of_finals = 5, rounds_of_quick_finals = 3;

std::uint32_t whole_option(const Arguments& arguments, const std::string& option, std::uint64_t most) {
  const std::optional<std::uint64_t> value = parse_whole(arguments.text(option));
  if (!value || *value < 1 || *value > most)
    throw Error(ExitCode::usage, fmt::format("--{} {}: give a whole number from 1 to {}.", option,
                                             arguments.text(option), most));
  return static_cast<std::uint32_t>(*value);
}

std::vector<PluginSource> load_sources_of(const Arguments& arguments, Sources& sources) {
  if (is_source_name(arguments.text("VARIANT"))) {
    if (arguments.given("source"))
      throw Error(ExitCode::usage, "VARIANT is a source already: leave --source out, or name the variant.");
    return sources.load({.patterns = {arguments.text("VARIANT")},
                         .flags = compiler_flags(arguments),
                         .precision = precision_of(arguments)});
  }
  for (const char* option : {"compiler-flags", "precision"}) require_source(arguments, option);
  return sources.load({.patterns = arguments.texts("source"),
                       .flags = compiler_flags(arguments),
                       .precision = precision_of(arguments)});
}

}  // namespace

SearchSettings parse_search(const Arguments& arguments, std::uint64_t seed) {
  SearchSettings settings{.seed = seed};
  const std::string text = arguments.text("strategy");
  if (!from_string(text, settings.strategy)) {
    throw Error(ExitCode::usage,
                fmt::format("--strategy {}: there is no such strategy.{} They are grid, random "
                            "and halving.",
                            text, did_you_mean(text, {"grid", "random", "halving"})));
  }
  if (arguments.given("points") && settings.strategy != Strategy::random)
    throw Error(ExitCode::usage, "--points says how many points --strategy random draws: give both.");
  if (arguments.given("search-rounds") && settings.strategy == Strategy::halving)
    throw Error(ExitCode::usage,
                "--search-rounds: a search by halving says itself how many rounds a point has.");
  settings.draws = whole_option(arguments, "points", most_points);
  settings.rounds = whole_option(arguments, "search-rounds", 1000);
  return settings;
}

Run search_run(const Arguments& arguments, Sources& libraries) {
  const std::vector<PluginSource> sources = load_sources_of(arguments, libraries);
  const Registry& registry = Registry::instance();
  const VariantInfo& variant = tunable_variant(arguments.text("VARIANT"), sources, registry);
  RunRequest request = measuring_request(arguments);
  request.sources = sources;
  request.values = one_problem(arguments, *registry.family(variant.family), request.quick);
  const std::string metric = arguments.text("objective").substr(0, arguments.text("objective").find(':'));
  if (is_of_kernels(metric)) request.metrics = {metric};
  if (!request.rounds) request.rounds = request.quick ? rounds_of_quick_finals : rounds_of_finals;
  if (!request.seed) request.seed = std::random_device{}();
  request.timeout = parse_seconds("timeout", arguments.text("timeout"));
  request.inputs = locate_inputs(arguments, registry);
  return planned_search_run(variant, std::move(request), registry, arguments.command_line());
}

std::optional<Objective> objective_of(const Arguments& arguments, const Run& run) {
  if (!arguments.given("objective")) return std::nullopt;
  const std::string text = arguments.text("objective");
  const Objective objective = parse_objective(text, run.families.front(), run.cases.front().ops);
  require_values(text, objective, run);
  const Device& device = *Devices::instance().find(find_variant(run, run.plan.variants.front())->device);
  if (device.id() != "cpu")
    return objective;  // to ask a GPU's collectors would open a profiler in this process
  const Pass pass = pass_of(objective);
  if (const auto reason = pass_unavailable(CollectorKinds::instance(), pass, device)) {
    throw Error(ExitCode::environment, fmt::format("--objective {}: the {} pass cannot run here: {}", text,
                                                   to_string(pass), *reason));
  }
  return objective;
}

CostsOfCases costs_by(std::optional<Objective>& objective) {
  return [&](const Run& seen) {
    if (!objective) objective = usual_objective(seen);
    Costs costs(seen.cases.size());
    for (const Candidate& candidate : ranked(seen, *objective)) {
      if (candidate.value) costs[candidate.index] = cost_of(candidate.value, *objective);
    }
    return costs;
  };
}

}  // namespace mprof::cli
