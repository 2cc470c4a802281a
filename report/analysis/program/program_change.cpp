// SPDX-License-Identifier: MIT
#include "report/analysis/program/program_change.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "model/kernel_name.hpp"
#include "report/analysis/judgement/compare.hpp"

namespace mprof {
namespace {

constexpr double s_per_ns = 1e-9;

/// The times of one side as those of a step.
class Side {
 public:
  explicit Side(const ProgramPicture& picture)
      : picture_(picture), steps_(picture.steps ? static_cast<double>(picture.steps->steady_steps()) : 1) {}

  [[nodiscard]] double time(std::int64_t ns) const { return s_per_ns * static_cast<double>(ns) / steps_; }
  [[nodiscard]] StepShare share(std::int64_t ns, std::uint64_t launches) const {
    return {time(ns), static_cast<double>(launches) / steps_};
  }
  [[nodiscard]] ComparedProgram summary() const {
    ComparedProgram program{.mean = time(picture_.budget.window),
                            .launches = static_cast<double>(picture_.launches) / steps_,
                            .bound = picture_.bound,
                            .gain = picture_.gain};
    if (picture_.memory.use) {
      program.peak_memory = static_cast<double>(picture_.memory.use->peak);
      program.held_more = picture_.memory.use->unseen_calls > 0;
    }
    program.median = program.mean;
    if (!picture_.steps) return program;
    program.steps = picture_.steps->steady_steps();
    program.median = s_per_ns * picture_.steps->median_pace();
    if (const auto interval = picture_.steps->pace_interval())
      program.interval = Interval{s_per_ns * interval->low, s_per_ns * interval->high};
    return program;
  }

 private:
  const ProgramPicture& picture_;
  double steps_;
};

template <class Row>
void sort_by_difference(std::vector<Row>& rows) {
  std::ranges::stable_sort(rows, std::greater{}, [](const Row& row) { return std::abs(row.difference()); });
}

/// The rows of both sides that have one key. `key` gives that of a picture's row, `made` the change without
/// its times.
template <class Change, class Rows, class Key, class Made>
std::vector<Change> paired(const Rows& before, const Rows& after, const Side& a, const Side& b,
                           const Key& key, const Made& made) {
  std::vector<Change> changes;
  std::map<std::decay_t<decltype(key(before.front()))>, std::size_t> places;
  const auto add = [&](const Rows& rows, const Side& side, std::optional<StepShare> ShareChange::*of) {
    for (const auto& row : rows) {
      const auto [place, is_new] = places.try_emplace(key(row), changes.size());
      if (is_new) changes.push_back(made(row));
      changes[place->second].*of = side.share(row.time, row.launches);
    }
  };
  add(before, a, &ShareChange::before);
  add(after, b, &ShareChange::after);
  sort_by_difference(changes);
  return changes;
}

void add_functions(std::vector<KindChange>& kinds, const std::vector<FunctionChange>& functions) {
  for (KindChange& kind : kinds) {
    for (std::size_t i = 0; i < functions.size(); ++i) {
      if (functions[i].kind != kind.kind) continue;
      if (!functions[i].before) kind.added.push_back(i);
      if (!functions[i].after) kind.removed.push_back(i);
    }
  }
}

std::vector<BudgetChange> budget_changes(const ProgramPicture& before, const ProgramPicture& after,
                                         const Side& a, const Side& b) {
  std::vector<BudgetChange> changes;
  for (std::size_t i = 0; i < budget_parts; ++i) {
    const auto part = static_cast<BudgetPart>(i);
    if (before.budget.of(part) == 0 && after.budget.of(part) == 0) continue;
    changes.push_back({part, a.time(before.budget.of(part)), b.time(after.budget.of(part))});
  }
  sort_by_difference(changes);
  return changes;
}

/// Lines summed by their functions, of a file by its name alone: it may lie in another folder.
std::vector<LaunchLine> launchers_of(const ProgramPicture& picture) {
  std::vector<LaunchLine> launchers;
  if (!picture.launched_from) return launchers;
  for (const LaunchLine& line : picture.launched_from->lines) {
    CodePlace place = line.place;
    place.line = 0;
    place.file.erase(0, place.file.rfind('/') + 1);
    place.module.erase(0, place.module.rfind('/') + 1);
    auto same = std::ranges::find(launchers, place, &LaunchLine::place);
    if (same == launchers.end()) same = launchers.insert(same, LaunchLine{.place = std::move(place)});
    same->time += line.time;
    same->launches += line.launches;
  }
  return launchers;
}

/// As step_times() names them: the kernel without its arguments.
std::vector<std::string> names_of(const Steps& steps) {
  if (steps.mark == StepMark::ranges) return steps.names;
  return {kernel_name_of_demangled(steps.names.front()).brief};
}

bool are_alike(const ProgramPicture& a, const ProgramPicture& b) {
  if (a.steps.has_value() != b.steps.has_value()) return false;
  if (!a.steps) return true;
  const std::vector<std::string> of_b = names_of(*b.steps);
  return std::ranges::any_of(names_of(*a.steps), [&](const std::string& name) {
    return std::ranges::find(of_b, name) != of_b.end();
  });
}

}  // namespace

double ShareChange::difference() const {
  return (after ? after->time : 0) - (before ? before->time : 0);
}

bool ProgramChange::is_noticeable(double difference) const {
  constexpr double noticeable = 0.01;
  return std::abs(difference) >= noticeable * std::max(before.mean, after.mean);
}

ProgramPictures program_pictures(const Run& run, const std::optional<trace::Trace>& trace) {
  ProgramPictures pictures;
  if (!trace) return pictures;
  const auto is_program = [&](const Case& c) {
    const VariantInfo* const variant = find_variant(run, c.key.variant);
    return variant != nullptr && (variant->is_program() || variant->is_imported()) &&
           find_pass(c, Pass::trace) != nullptr && case_status(c) == Status::ok;
  };
  const auto indices = trace::case_indices(*trace);
  for (const Case& c : run.cases) {
    const auto found = indices.find(c.id);
    if (!is_program(c) || found == indices.end()) continue;
    if (auto picture = compared_picture(*trace, found->second)) pictures.emplace(c.id, *std::move(picture));
  }
  return pictures;
}

std::optional<ProgramChange> program_change(const ProgramPicture& before, const ProgramPicture& after) {
  if (!are_alike(before, after)) return std::nullopt;
  const Side a(before), b(after);
  ProgramChange change{.before = a.summary(), .after = b.summary()};
  change.functions = paired<FunctionChange>(
      before.functions, after.functions, a, b,
      [](const FunctionTime& row) { return std::pair(row.name, row.kind); },
      [](const FunctionTime& row) {
        return FunctionChange{{}, row.name, row.kind};
      });
  change.kinds = paired<KindChange>(
      before.kinds, after.kinds, a, b, [](const KindTime& row) { return row.kind; },
      [](const KindTime& row) {
        return KindChange{{}, row.kind};
      });
  add_functions(change.kinds, change.functions);
  change.ranges = paired<RangeChange>(
      before.ranges, after.ranges, a, b, [](const RangeTime& row) { return row.name; },
      [](const RangeTime& row) {
        return RangeChange{{}, row.name};
      });
  if (before.launched_from && after.launched_from)
    change.launchers = paired<LauncherChange>(
        launchers_of(before), launchers_of(after), a, b, [](const LaunchLine& row) { return row.place; },
        [](const LaunchLine& row) {
          return LauncherChange{{}, row.place};
        });
  change.budget = budget_changes(before, after, a, b);
  return change;
}

void add_program_changes(Comparison& comparison, const ProgramPictures& a, const ProgramPictures& b) {
  for (CaseComparison& c : comparison.cases) {
    const auto before = a.find(c.id), after = b.find(c.id_b);
    if (before != a.end() && after != b.end() && c.status_a == Status::ok && c.status_b == Status::ok)
      c.program = program_change(before->second, after->second);
  }
}

}  // namespace mprof
