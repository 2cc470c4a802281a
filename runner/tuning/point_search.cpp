// SPDX-License-Identifier: MIT
#include "runner/tuning/point_search.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "device/device.hpp"
#include "model/derive/derive.hpp"
#include "runner/begin.hpp"
#include "runner/source/compiler.hpp"
#include "runner/source/parts.hpp"
#include "system/error.hpp"
#include "system/suggest.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

void refuse_large_space(const VariantInfo& variant, const Plan& plan) {
  double points = 1;
  for (const ParameterInfo& parameter : variant.parameters) {
    const std::vector<std::string>& set = plan.settings.at(parameter.name);
    points *=
        static_cast<double>(set == std::vector<std::string>{"*"} ? parameter.values.size() : set.size());
  }
  if (points <= most_points) return;
  throw Error(ExitCode::usage, fmt::format("{} has {:.0f} points, of at most {} in a search: narrow its "
                                           "parameters with --set NAME=V,V.",
                                           variant.id, points, most_points));
}

bool is_skipped(const Case& c) {
  return case_status(c) == Status::skipped;
}

Run derived(const Run& run, const ResultDirectory& directory) {
  Run copy = run;
  derive(copy, directory.path());
  return copy;
}

/// nullopt: it cannot be.
std::optional<Case> default_point_of(const Run& run, const Registry& registry) {
  Plan plan = run.plan;
  for (const ParameterInfo& parameter : find_variant(run, plan.variants.front())->parameters) {
    std::vector<std::string>& values = plan.settings.at(parameter.name);
    if (!is_fixed(values)) values = {parameter.default_value};
  }
  std::vector<Case> cases = make_cases(plan, registry);
  skip_unavailable(cases, registry, Devices::instance());
  return is_skipped(cases.front()) ? std::nullopt : std::optional(std::move(cases.front()));
}

/// A share of a round's sampling; never fewer samples than a median needs.
Stopping shortened(Stopping stopping, double effort) {
  constexpr std::uint32_t fewest = 3;
  stopping.max_seconds *= effort;
  const auto samples = static_cast<std::uint32_t>(effort * stopping.max_samples);
  stopping.max_samples = std::min(stopping.max_samples, std::max(samples, fewest));
  stopping.min_samples = std::min(stopping.min_samples, stopping.max_samples);
  return stopping;
}

/// It was not drawn, or is none of the points: then the plan has its values besides.
void add_default(Run& run, const Case& usual) {
  for (const auto& [name, value] : usual.key.parameters) {
    std::vector<std::string>& values = run.plan.settings.at(name);
    if (values.front() != "*" && std::ranges::count(values, value) == 0) values.push_back(value);
  }
  run.cases.push_back(usual);
}

Run planned_finals(const PointSearch& search, const std::vector<CaseKey>& keys, std::uint32_t rounds) {
  Run run = search.record();
  run.started = utc_now();
  run.finished.clear();
  run.plan.rounds = rounds;
  run.plan.stopping = search.full_round();
  std::erase_if(run.cases, [&](const Case& c) { return std::ranges::find(keys, c.key) == keys.end(); });
  if (run.cases.size() < keys.size()) add_default(run, *search.default_point());
  for (Case& c : run.cases) {
    for (PassResult& pass : c.passes) pass = {.pass = pass.pass, .reason = "not run yet"};
  }
  return run;
}

}  // namespace

bool is_fixed(const std::vector<std::string>& values) {
  return values.size() == 1 && values.front() != "*";
}

const VariantInfo& tunable_variant(const std::string& name, const std::vector<PluginSource>& sources,
                                   const Registry& registry) {
  std::string id = name;
  std::error_code error;
  for (const PluginSource& source : sources) {
    if (is_source_name(name) && fs::equivalent(parts_of(source.path).front(), parts_of(name).front(), error))
      id = source.variant;
  }
  const RegisteredVariant* const variant = registry.variant(id);
  std::vector<std::string> known;
  for (const RegisteredVariant* other : registry.variants()) known.push_back(other->info.id);
  if (variant == nullptr) {
    std::vector<std::string> own;
    std::ranges::copy_if(known, std::back_inserter(own), [&](const std::string& other) {
      return std::ranges::any_of(sources, [&](const PluginSource& source) {
        return source.family.empty() ? source.variant == other : other.starts_with(source.family + "/");
      });
    });
    throw Error(
        ExitCode::usage,
        fmt::format("no variant is called '{}'.{} {}", name, did_you_mean(name, known),
                    own.empty() ? "`mprof list` shows them all. For a variant of your own, add --source FILE."
                                : fmt::format("--source has {}.", fmt::join(own, ", "))));
  }
  if (!variant->info.parameters.empty()) return variant->info;
  throw Error(ExitCode::usage, fmt::format("{} has no parameters: there is nothing to tune.", id));
}

Run planned_search_run(const VariantInfo& variant, RunRequest request, const Registry& registry,
                       std::vector<std::string> command_line) {
  request.patterns = {variant.id};
  for (const ParameterInfo& parameter : variant.parameters)
    request.settings.try_emplace(parameter.name, std::vector<std::string>{"*"});
  if (request.passes.empty()) request.passes = {Pass::timing};
  if (std::ranges::count(request.passes, Pass::timing) == 0)
    throw Error(ExitCode::usage, "--passes: a search needs the timing pass, which verifies the outputs.");
  if (!request.metrics.empty() && std::ranges::count(request.passes, Pass::counters) == 0)
    request.passes.push_back(Pass::counters);
  Plan plan = make_plan(request, registry, Devices::instance());
  refuse_large_space(variant, plan);
  Run run = begin_run(std::move(plan), registry, std::move(command_line));
  const auto reason = unavailable(*registry.variant(variant.id), Devices::instance());
  if (reason) throw Error(ExitCode::environment, fmt::format("{} cannot run here: {}", variant.id, *reason));
  prepare_run(run, registry);
  return run;
}

PointSearch::PointSearch(Run run, const fs::path& out, ResultDirectory::Mode mode, const TuningBench& bench,
                         const Registry& registry)
    : run_(std::move(run)),
      directory_(out, mode, {.overwrite = true}),
      bench_(bench),
      full_(run_.plan.stopping),
      default_point_(default_point_of(run_, registry)),
      points_(run_.cases.size()) {
  for (std::size_t i = 0; i < run_.cases.size(); ++i) {
    if (!is_skipped(run_.cases[i])) at_.push_back(i);
  }
  is_default_searched_ =
      default_point_ && std::ranges::count(run_.cases, default_point_->key, &Case::key) > 0;
}

void PointSearch::run(const SearchSettings& settings, std::optional<double> budget,
                      const CostsOfCases& costs) {
  directory_.save(run_);
  directory_.save_sources(run_);
  run_.plan.rounds = 1;
  coordinate(std::vector<std::uint32_t>(run_.cases.size(), 0));  // looks at the machine
  if (budget) deadline_ = bench_.clock.now() + *budget;
  const bool is_of_some = settings.strategy == Strategy::random;
  if (!was_interrupted()) {
    search(at_.size(), settings, [&](const Rung& rung) {
      if (is_of_some) keep(rung);
      return measured(rung, costs);
    });
  }
  close(budget);
}

Run PointSearch::seen() const {
  return derived(run_, directory_);
}

void PointSearch::coordinate(const std::vector<std::uint32_t>& rounds) {
  CoordinatorContext context{bench_.worker_command, directory_, bench_.clock, bench_.progress,
                             bench_.interrupt_fd};
  context.rounds = rounds;
  context.deadline = deadline_;
  mprof::coordinate(run_, context);
}

/// The run has the points that were drawn, and no others.
void PointSearch::keep(const Rung& rung) {
  std::vector<std::size_t> drawn = rung.points;
  std::ranges::sort(drawn);
  std::vector<Case> kept;
  for (const std::size_t point : drawn) {
    kept.push_back(std::move(run_.cases[at_[point]]));
    at_[point] = kept.size() - 1;
  }
  run_.cases = std::move(kept);
}

std::optional<Costs> PointSearch::measured(const Rung& rung, const CostsOfCases& costs) {
  std::vector<std::uint32_t> rounds(run_.cases.size(), 0);
  for (const std::size_t point : rung.points) rounds[at_[point]] = rung.rounds;
  run_.plan.rounds = std::max(run_.plan.rounds, rung.rounds);
  run_.plan.stopping = shortened(full_, rung.effort);
  bench_.begins(rung.points.size(), rung.rounds);
  coordinate(rounds);
  const Costs of_cases = costs(seen());
  is_out_of_time_ = bench_.clock.now() >= deadline_;
  if (was_interrupted() || is_out_of_time_) return std::nullopt;
  Costs of_points;
  for (const std::size_t point : rung.points) of_points.push_back(of_cases.at(at_[point]));
  return of_points;
}

/// What was not reached says why, unless whoever interrupted it knows.
void PointSearch::close(std::optional<double> budget) {
  run_.plan.stopping = full_;
  if (was_interrupted()) return directory_.save(run_);
  for (Case& c : run_.cases) {
    bool is_open = false;
    for (PassResult& pass : c.passes) {
      if (pass.status != Status::pending) continue;
      is_open = true;
      pass.status = Status::skipped;
      pass.reason = fmt::format("not tried: the budget of {:g} s was spent", budget.value_or(0));
    }
    if (is_open) directory_.save(c);
  }
  directory_.save(run_);
}

Finals::Finals(const PointSearch& search, const std::vector<CaseKey>& points, std::uint32_t rounds,
               const TuningBench& bench)
    : run_(planned_finals(search, points, rounds)),
      directory_(search.directory().path() / finals_folder, ResultDirectory::Mode::create),
      bench_(bench) {}

void Finals::run(bool adds_rounds) {
  directory_.save(run_);
  directory_.save_sources(run_);
  bench_.begins(run_.cases.size(), run_.plan.rounds);
  coordinate(run_, {bench_.worker_command, directory_, bench_.clock, bench_.progress, bench_.interrupt_fd,
                    adds_rounds});
}

Run Finals::seen() const {
  return derived(run_, directory_);
}

}  // namespace mprof
