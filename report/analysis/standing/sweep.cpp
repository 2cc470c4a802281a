// SPDX-License-Identifier: MIT
#include "report/analysis/standing/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "report/text/format.hpp"
#include "system/numbers.hpp"

namespace mprof {
namespace {

/// A record made by hand may name thousands of values; nobody reads such a grid, and few of its points ran.
constexpr std::size_t largest_grid = 400;

/// Beyond this ratio of the largest to the smallest value, a linear axis would press the small ones together.
constexpr double widest_linear_axis = 20;

std::optional<double> number(const std::string& text) {
  const auto value = parse_as<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

bool is_power_of_two(double value) {
  int exponent = 0;
  return value > 0 && std::frexp(value, &exponent) == 0.5;
}

AxisScale scale_of(const std::vector<double>& ascending) {
  if (ascending.front() <= 0) return AxisScale::linear;
  const bool powers = std::all_of(ascending.begin(), ascending.end(), is_power_of_two);
  return powers || ascending.back() / ascending.front() > widest_linear_axis ? AxisScale::log2
                                                                             : AxisScale::linear;
}

/// The values of a case's parameters; one that the case does not name is at its default.
std::string value_in(const CaseResult& result, const ParameterInfo& parameter) {
  const auto set = result.key.parameters.find(parameter.name);
  return set == result.key.parameters.end() ? parameter.default_value : set->second;
}

/// The variant's parameters, and those that only its cases name: a run made by hand may hold such.
std::vector<ParameterInfo> parameters_of(const VariantResult& variant) {
  std::vector<ParameterInfo> all = variant.info.parameters;
  for (const CaseResult& result : variant.cases) {
    for (const auto& [name, value] : result.key.parameters) {
      const bool known = std::any_of(
          all.begin(), all.end(), [&, &wanted = name](const ParameterInfo& p) { return p.name == wanted; });
      if (!known) all.push_back({name, {}, {}, {}});
    }
  }
  return all;
}

/// The declared values come first, in their order, and then what else the run holds.
std::vector<std::string> values_in_order(const VariantResult& variant, const ParameterInfo& parameter) {
  std::set<std::string> in_run;
  for (const CaseResult& result : variant.cases) in_run.insert(value_in(result, parameter));
  std::vector<std::string> values;
  for (const std::string& declared : parameter.values) {
    if (in_run.erase(declared) > 0) values.push_back(declared);
  }
  values.insert(values.end(), in_run.begin(), in_run.end());
  return values;
}

SweepAxis axis_of(ParameterInfo parameter, std::vector<std::string> values) {
  SweepAxis axis{std::move(parameter), AxisScale::categories, std::move(values), std::nullopt};
  const bool numeric = std::all_of(axis.values.begin(), axis.values.end(),
                                   [](const std::string& value) { return number(value).has_value(); });
  if (numeric) {
    std::stable_sort(axis.values.begin(), axis.values.end(),
                     [](const std::string& a, const std::string& b) { return *number(a) < *number(b); });
    std::vector<double> numbers;
    for (const std::string& value : axis.values) numbers.push_back(*number(value));
    axis.scale = scale_of(numbers);
  }
  const auto found = std::find(axis.values.begin(), axis.values.end(), axis.parameter.default_value);
  if (found != axis.values.end()) axis.default_index = static_cast<std::size_t>(found - axis.values.begin());
  return axis;
}

void add_axes(Sweep& sweep) {
  for (ParameterInfo& parameter : parameters_of(*sweep.variant)) {
    std::vector<std::string> values = values_in_order(*sweep.variant, parameter);
    if (values.size() > 1) {
      sweep.axes.push_back(axis_of(std::move(parameter), std::move(values)));
    } else if (!values.empty() && values.front() != parameter.default_value) {
      sweep.fixed.emplace_back(parameter.name, values.front());
    }
  }
}

std::vector<std::size_t> place_of(const std::vector<SweepAxis>& axes, const CaseResult& result) {
  std::vector<std::size_t> at;
  for (const SweepAxis& axis : axes) {
    const auto found = std::find(axis.values.begin(), axis.values.end(), value_in(result, axis.parameter));
    at.push_back(static_cast<std::size_t>(found - axis.values.begin()));
  }
  return at;
}

std::size_t grid_size(const std::vector<SweepAxis>& axes) {
  std::size_t size = 1;
  for (const SweepAxis& axis : axes) size = std::min(size * axis.values.size(), largest_grid + 1);
  return size;
}

/// Every combination of the axes' values, the last axis fastest.
std::vector<std::vector<std::size_t>> grid(const std::vector<SweepAxis>& axes) {
  std::vector<std::vector<std::size_t>> places{{}};
  for (const SweepAxis& axis : axes) {
    std::vector<std::vector<std::size_t>> longer;
    for (const auto& place : places) {
      for (std::size_t i = 0; i < axis.values.size(); ++i) {
        longer.push_back(place);
        longer.back().push_back(i);
      }
    }
    places = std::move(longer);
  }
  return places;
}

const Value no_such_op = absent_value(Because::no_such_op);

Value time_of(const CaseResult& result, const OpSweep& op) {
  if (op.op.name.empty()) return result.total_time;
  const OpResult* found = result.find_op(op.op.name);
  if (found == nullptr) return no_such_op;
  return op.compared_by == "group_time" ? found->group_time : found->op_time;
}

/// Why a point has no time that counts; nothing when it has one.
Why obstacle(const SweepPoint& point) {
  if (point.result == nullptr) return Because::not_in_run;
  if (const Why doubt = point.result->doubt(); !doubt.empty()) return doubt;
  if (!point.result->ok()) {
    return {Because::case_ended, {std::string(to_string(point.result->status)), point.result->reason}};
  }
  if (!point.time) return point.time.absent;
  return point.time->median > 0 ? Because::nothing : Because::time_of_zero;
}

bool is_default(const std::vector<SweepAxis>& axes, const std::vector<std::size_t>& at) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].default_index != at[i]) return false;
  }
  return true;
}

void judge_against_best(SweepPoint& point, const SweepPoint& best) {
  point.to_best = point.time->median / best.time->median;
  if (&point == &best) {
    point.standing = Standing::best;
    return;
  }
  const StandingOfTime found = standing_against(point.time, best.time);
  point.standing = found.standing;
  point.reason = found.reason;
}

void judge_against_default(SweepPoint& point, const SweepPoint* usual, const Words& words) {
  if (usual == nullptr || usual->result == nullptr) {
    point.over_default = no_speed_up({Because::default_not_run, {words.one()}});
  } else if (!point.verified()) {
    point.over_default = no_speed_up(point.reason);
  } else if (!usual->verified()) {
    point.over_default = no_speed_up({Because::default_not_verified, {}, {}, {usual->reason}});
  } else {
    point.over_default = judge(usual->time, point.time);
  }
}

void judge_series(SweepSeries& series, const Words& words) {
  std::vector<std::size_t> candidates;
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    series.points[i].reason = obstacle(series.points[i]);
    if (series.points[i].reason.empty()) candidates.push_back(i);
  }
  const auto best = std::min_element(candidates.begin(), candidates.end(), [&](std::size_t a, std::size_t b) {
    return series.points[a].time->median < series.points[b].time->median;
  });
  if (best != candidates.end()) series.best = *best;
  for (const std::size_t i : candidates) judge_against_best(series.points[i], series.points[*series.best]);
  const SweepPoint* usual = series.default_point();
  for (SweepPoint& point : series.points) judge_against_default(point, usual, words);
}

SweepSeries series_of(const Sweep& sweep, const OpSweep& op, const Problem& problem, const Words& words) {
  std::map<std::vector<std::size_t>, const CaseResult*> cases;
  for (const std::size_t place : sweep.variant->at.at(problem)) {
    const CaseResult& result = sweep.variant->cases[place];
    cases.emplace(place_of(sweep.axes, result), &result);
  }
  SweepSeries series{problem, {}, std::nullopt};
  const auto add = [&](const std::vector<std::size_t>& at, const CaseResult* result) {
    SweepPoint point;
    point.at = at;
    point.result = result;
    point.time = result == nullptr ? absent_value(Because::not_in_run) : time_of(*result, op);
    point.is_default = is_default(sweep.axes, at);
    series.points.push_back(std::move(point));
  };
  if (sweep.is_grid) {
    for (const auto& at : grid(sweep.axes)) {
      const auto found = cases.find(at);
      add(at, found == cases.end() ? nullptr : found->second);
    }
  } else {
    for (const auto& [at, result] : cases) add(at, result);
  }
  judge_series(series, words);
  return series;
}

/// Points are only comparable by one time: where the op time of a single one says little, the group time.
std::string time_that_compares(const VariantResult& variant, const std::string& op) {
  const bool elsewhere = std::any_of(variant.cases.begin(), variant.cases.end(), [&](const CaseResult& c) {
    const OpResult* found = c.find_op(op);
    return found != nullptr && found->compared_by == "group_time";
  });
  return elsewhere ? "group_time" : "op_time";
}

void add_ops(Sweep& sweep, const FamilyResult& family) {
  for (const OpInfo& op : family.ops)
    sweep.ops.push_back({op, time_that_compares(*sweep.variant, op.name), {}});
  if (family.ops.empty()) sweep.ops.push_back({{}, "total_time", {}});
  for (OpSweep& op : sweep.ops) {
    for (const auto& [problem, places] : sweep.variant->at)
      op.series.push_back(series_of(sweep, op, problem, family.words));
  }
}

}  // namespace

StandingOfTime standing_against(const Value& time, const Value& best) {
  if (const Why disturbed = why_disturbed({time, best}); !disturbed.empty())
    return {Standing::unclear, disturbed};
  if (!time->interval || !best->interval) return {Standing::unclear, judge(time, best).reason};
  return {is_level(time, best) ? Standing::level : Standing::slower, {}};
}

double SweepAxis::position(std::size_t index) const {
  switch (scale) {
    case AxisScale::linear:
      return *number(values[index]);
    case AxisScale::log2:
      return std::log2(*number(values[index]));
    case AxisScale::categories:
      break;
  }
  return static_cast<double>(index);
}

const SweepPoint* SweepSeries::best_point() const {
  return best ? &points[*best] : nullptr;
}

std::size_t SweepSeries::level() const {
  return static_cast<std::size_t>(std::count_if(
      points.begin(), points.end(), [](const SweepPoint& p) { return p.standing == Standing::level; }));
}

const SweepPoint* SweepSeries::slowest() const {
  const SweepPoint* slowest = best_point();
  for (const SweepPoint& point : points) {
    if (point.verified() && *point.to_best >= *slowest->to_best) slowest = &point;
  }
  return slowest;
}

const SweepPoint* SweepSeries::default_point() const {
  const auto found =
      std::find_if(points.begin(), points.end(), [](const SweepPoint& p) { return p.is_default; });
  return found == points.end() ? nullptr : &*found;
}

const SweepPoint* SweepSeries::find(const std::vector<std::size_t>& at) const {
  const auto found =
      std::find_if(points.begin(), points.end(), [&](const SweepPoint& point) { return point.at == at; });
  return found == points.end() ? nullptr : &*found;
}

const SweepSeries* OpSweep::largest() const {
  const auto found =
      std::find_if(series.rbegin(), series.rend(), [](const SweepSeries& s) { return s.best.has_value(); });
  return found == series.rend() ? nullptr : &*found;
}

std::string Sweep::name(const std::vector<std::size_t>& at) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < axes.size(); ++i)
    names.push_back(axes[i].parameter.name + "=" + axes[i].values[at[i]]);
  return format::one_line(fmt::format("{}", fmt::join(names, ",")));
}

std::vector<Sweep> sweeps_of(const FamilyResult& family) {
  std::vector<Sweep> sweeps;
  for (const VariantResult& variant : family.variants) {
    if (!variant.swept()) continue;
    Sweep sweep{&variant, &family.words, {}, {}, {}, false};
    add_axes(sweep);
    if (sweep.axes.empty()) continue;  // the same case twice is no sweep
    sweep.is_grid = grid_size(sweep.axes) <= largest_grid;
    add_ops(sweep, family);
    sweeps.push_back(std::move(sweep));
  }
  return sweeps;
}

const SweepPoint* best_in_all(const std::vector<const SweepSeries*>& series) {
  if (series.empty()) return nullptr;
  const SweepPoint* chosen = nullptr;
  double least = 0;
  for (const SweepPoint& candidate : series.back()->points) {
    double loss = 0;
    const bool everywhere = std::all_of(series.begin(), series.end(), [&](const SweepSeries* one) {
      const SweepPoint* point = one->find(candidate.at);
      if (point == nullptr || !point->among_best()) return false;
      loss += std::log(*point->to_best);
      return true;
    });
    if (!everywhere || (chosen != nullptr && loss >= least)) continue;
    chosen = &candidate;
    least = loss;
  }
  return chosen;
}

}  // namespace mprof
