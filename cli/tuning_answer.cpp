// SPDX-License-Identifier: MIT
#include "cli/tuning_answer.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/terminal.hpp"
#include "model/json_archive.hpp"
#include "report/analysis/judgement/disturbance.hpp"
#include "report/text/format.hpp"
#include "report/wording/judgement.hpp"
#include "runner/source/compiler.hpp"
#include "runner/tuning/tuned_file.hpp"

namespace mprof::cli {
namespace {

namespace fs = std::filesystem;

/// Points that are measured again: the best and what is level with it, and some behind it in any case, since
/// a single round may have put them in the wrong order.
constexpr std::size_t fewest_finalists = 3, most_finalists = 8;

std::size_t count_values(const std::vector<Candidate>& candidates) {
  return static_cast<std::size_t>(
      std::ranges::count_if(candidates, [](const Candidate& c) { return !!c.value; }));
}

/// Those of --set that name one value alone: the answer holds for them.
Parameters fixed_values(const Plan& plan) {
  Parameters fixed;
  for (const auto& [name, values] : plan.settings) {
    if (is_fixed(values)) fixed[name] = values.front();
  }
  return fixed;
}

/// Those of --set that name several.
std::map<std::string, std::vector<std::string>> searched_values(const Plan& plan) {
  std::map<std::string, std::vector<std::string>> searched;
  for (const auto& [name, values] : plan.settings) {
    if (values.size() > 1) searched[name] = values;
  }
  return searched;
}

TunedEntry entry_of(const PointSearch& search, const Objective& objective, const TuningOutcome& outcome) {
  const std::vector<Candidate>& best = outcome.best;
  const Run& run = search.record();
  const VariantInfo& variant = *find_variant(run, run.plan.variants.front());
  const Candidate& winner = best.front();
  TunedEntry entry{.variant = variant.id,
                   .problem = winner.result.key.problem,
                   .metric = objective.metric,
                   .op = objective.op,
                   .fixed = fixed_values(run.plan),
                   .searched = searched_values(run.plan),
                   .holds_for = tuned_for(run, variant),
                   .parameters = winner.result.key.parameters,
                   .value = winner.value->median};
  if (winner.value->interval) entry.interval = {winner.value->interval->low, winner.value->interval->high};
  entry.disturbed = disturbed_text(winner.value->disturbed);
  for (const Candidate& candidate : best) {
    if (candidate.standing == Standing::level || candidate.standing == Standing::unclear)
      entry.level.push_back(candidate.result.key.parameters);
  }
  entry.strategy = outcome.strategy;
  entry.measured = count_values(outcome.all);
  entry.points = search.points();
  entry.tool = run.tool;
  entry.finished = utc_now();
  entry.result = search.directory().path().string();
  return entry;
}

/// What mprof run must be told besides, to have an entry's problem and the values that it holds for.
std::string options_for(const TunedEntry& entry, const VariantInfo& variant) {
  std::string options;
  for (const auto& [name, value] : entry.fixed) {
    const auto parameter = std::ranges::find(variant.parameters, name, &ParameterInfo::name);
    if (parameter == variant.parameters.end() || parameter->default_value != value)
      options += fmt::format(" --set {}={}", name, value);
  }
  const std::vector<Problem> usual = Registry::instance().family(variant.family)->default_problems(false);
  if (std::ranges::count(usual, entry.problem) > 0) return options;
  for (const Coordinate& c : entry.problem.coordinates) options += fmt::format(" --{} {}", c.axis, c.value);
  return options;
}

/// "3 of 16 points (--set a=1,2)": what an answer was found among.
std::string extent_of(const TunedEntry& entry) {
  std::vector<std::string> settings;
  for (const auto& [name, values] : entry.searched)
    settings.push_back(fmt::format("--set {}={}", name, fmt::join(values, ",")));
  const std::string points = format::plural(entry.points, "point");
  return fmt::format(
      "{}{}", entry.measured == entry.points ? points : fmt::format("{} of {}", entry.measured, points),
      settings.empty() ? "" : fmt::format(" ({})", fmt::join(settings, " ")));
}

}  // namespace

TuningAnswer::TuningAnswer(const PointSearch& search, Objective objective, std::string chosen_by,
                           std::string strategy, std::string ended)
    : search_(search),
      objective_(std::move(objective)),
      chosen_by_(std::move(chosen_by)),
      searched_(search.seen()) {
  outcome_.variant = search.record().plan.variants.front();
  outcome_.strategy = std::move(strategy);
  outcome_.points = search.points();
  if (search.default_point()) outcome_.usual = search.default_point()->key.parameters;
  outcome_.all = ranked(searched_, objective_);
  outcome_.ended = std::move(ended);
}

std::vector<CaseKey> TuningAnswer::finals() const {
  std::vector<CaseKey> keys;
  for (const std::size_t place : finalists(outcome_.all, fewest_finalists, most_finalists))
    keys.push_back(outcome_.all[place].result.key);
  const std::optional<Case>& usual = search_.default_point();
  if (!usual || std::ranges::find(keys, usual->key) != keys.end()) return keys;
  const bool is_broken = std::ranges::any_of(outcome_.all, [&](const Candidate& candidate) {
    return candidate.result.key == usual->key && !candidate.value &&
           candidate.result.status != Status::skipped;
  });
  if (!is_broken) keys.push_back(usual->key);
  return keys;
}

bool TuningAnswer::has_values() const {
  return count_values(outcome_.all) > 0;
}

bool TuningAnswer::has_best() const {
  return count_values(outcome_.best) > 0;
}

bool TuningAnswer::has_wrong_outputs() const {
  return std::ranges::any_of(outcome_.all, [](const Candidate& candidate) {
    return !candidate.result.ok() && candidate.result.status != Status::skipped;
  });
}

bool TuningAnswer::had_no_time() const {
  return search_.was_out_of_time() && std::ranges::all_of(outcome_.all, [](const Candidate& candidate) {
           return candidate.result.status == Status::skipped;
         });
}

void TuningAnswer::take(Run finals) {
  finals_ = std::move(finals);
  if (search_.default_point() && !search_.is_default_searched()) set_default_beside();
  outcome_.best = ranked(finals_, objective_);
}

void TuningAnswer::print() {
  const Run& run = search_.record();
  const FamilyInfo& family = run.families.front();
  const Words words(family, {run.plan.problems.at(family.id).front()});
  outcome_.where = words.at(run.plan.problems.at(family.id).front());
  // The default may be measured among the best though its turn in the search never came.
  std::erase_if(outcome_.all, [&](const Candidate& candidate) {
    return !candidate.value && std::ranges::any_of(outcome_.best, [&](const Candidate& one) {
      return one.value && one.result.key == candidate.result.key;
    });
  });
  print_readable(render_tuning(outcome_, objective_, family, words, terminal_width()));
}

nlohmann::ordered_json TuningAnswer::kept() const {
  const TunedEntry entry = entry_of(search_, objective_, outcome_);
  return {{"variant", entry.variant},
          {"problem", json::to_json(entry.problem)},
          {"metric", entry.metric},
          {"op", entry.op},
          {"parameters", entry.parameters}};
}

void TuningAnswer::keep(const fs::path& file) const {
  const TunedEntry entry = entry_of(search_, objective_, outcome_);
  const std::optional<TunedEntry> replaced = add_tuned(file, entry);
  print_wrapped(fmt::format("\nKept in {0}: {1}. Use it: mprof run --tuned={0} {2}{3}", file.string(),
                            point_name(entry.parameters), chosen_by_,
                            options_for(entry, *find_variant(search_.record(), entry.variant))));
  if (replaced)
    print_wrapped(fmt::format("It replaces {} of {}, found among {}.", point_name(replaced->parameters),
                              replaced->finished, extent_of(*replaced)));
  if (!entry.disturbed.empty())
    print_wrapped(fmt::format("The measurement was disturbed ({}): search again when the machine is quiet.",
                              causes_text({.by = disturbances_in(entry.disturbed)})));
}

/// It is told against, and does not compete: --set left it out.
void TuningAnswer::set_default_beside() {
  const auto is_usual = [&](const Case& c) { return c.key == search_.default_point()->key; };
  default_ = finals_;
  std::erase_if(default_.cases, [&](const Case& c) { return !is_usual(c); });
  std::erase_if(finals_.cases, is_usual);
  outcome_.beside = ranked(default_, objective_).front();
}

void print_wrapped(const std::string& text) {
  fmt::print("{}\n", format::wrapped(text, terminal_width(), 2));
}

}  // namespace mprof::cli
