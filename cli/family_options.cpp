// SPDX-License-Identifier: MIT
#include "cli/family_options.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "cli/values.hpp"
#include "runner/inputs.hpp"
#include "system/error.hpp"
#include "system/suggest.hpp"

namespace mprof::cli {
namespace {

/// Rows of the families under one name, in the order in which the names come.
template <class Row>
using ByName = std::vector<std::pair<std::string, std::vector<Row>>>;

template <class Row>
void add_row(ByName<Row>& names, const std::string& name, Row row) {
  auto found = std::ranges::find(names, name, &std::pair<std::string, std::vector<Row>>::first);
  if (found == names.end()) found = names.insert(names.end(), {name, {}});
  found->second.push_back(std::move(row));
}

bool is_option(const std::vector<Option>& options, const std::string& name) {
  return name == "help" || std::ranges::any_of(options, [&](const Option& o) { return o.name == name; });
}

/// "100,1000" of the problems' values on an axis.
std::string values_on(const std::vector<Problem>& problems, const std::string& axis) {
  std::set<std::uint64_t> values;
  for (const Problem& problem : problems) {
    if (const auto value = value_on(problem, axis)) values.insert(*value);
  }
  return fmt::format("{}", fmt::join(values, ","));
}

/// "family: what it means; without it 100,1000, with --quick 100"
std::string axis_meaning(const Family& family, const AxisInfo& axis, AxisUse use) {
  const std::string meaning = fmt::format("{}: {}", family.info().id, axis.meaning);
  if (use == AxisUse::single) return meaning + ". Default: the smallest of the run";
  if (use == AxisUse::one) return meaning + ". Default: the largest of a quick run";
  if (use == AxisUse::largest) return meaning + ". Default: the largest of a run";
  const std::string usual = values_on(family.default_problems(false), axis.name);
  const std::string quick = values_on(family.default_problems(true), axis.name);
  return fmt::format("{}. Default: {}{}", meaning, usual, quick == usual ? "" : ", with --quick " + quick);
}

/// The two sides of NAME=VALUE, neither of them empty.
std::pair<std::string, std::string> parse_assignment(const std::string& option, const std::string& text,
                                                     const std::string& form) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw Error(ExitCode::usage, fmt::format("--{} {}: give {}.", option, text, form));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::vector<std::uint64_t> parse_values(const std::string& given, const std::string& list) {
  std::vector<std::uint64_t> values;
  for (const std::string& part : split(list)) {
    const auto value = parse_whole(part);
    if (!value) {
      throw Error(ExitCode::usage, fmt::format("{}{}: '{}' is not a whole number. Give some, like 100,1000.",
                                               given, list, part));
    }
    values.push_back(*value);
  }
  return values;
}

}  // namespace

void add_axis_options(std::vector<Option>& options, const Registry& registry, AxisUse use) {
  const bool sweeps = use == AxisUse::sweep;
  ByName<std::string> axes;
  for (const Family* family : registry.families()) {
    for (const AxisInfo& axis : family->info().axes) {
      add_row(axes, axis.name, axis_meaning(*family, axis, use));
    }
  }
  std::vector<Option> added{{"problem", sweeps ? "AXIS=V,..." : "AXIS=V", "",
                             sweeps ? "Values on any axis of the selected families. Of several axes every "
                                      "combination is run. Axes that are not given have their default."
                                    : "A value on any axis of the families.",
                             true}};
  for (const auto& [name, meanings] : axes) {
    if (is_option(options, name)) continue;
    added.push_back({name, sweeps ? "LIST" : "N", "", fmt::format("{}.", fmt::join(meanings, ". ")), false,
                     Option::Origin::axis});
  }
  append(options, in_group("Problems", std::move(added)));
}

void add_input_options(std::vector<Option>& options, const Registry& registry) {
  std::vector<Option> added{{"input", "NAME=PATH", "", "Where any input of the families is.", true}};
  for (const auto& [name, inputs] : inputs_of(registry)) {
    if (is_option(options, name)) continue;
    std::set<std::string> meanings;
    for (const InputInfo& input : inputs) meanings.insert(input.meaning);
    added.push_back(
        {name, inputs.front().value_name, "",
         fmt::format("{}. Default: {}, or the usual place.", fmt::join(meanings, ". "), input_variable(name)),
         false, Option::Origin::input});
  }
  append(options, in_group("Inputs", std::move(added)));
}

AxisValues axis_values(const Arguments& arguments) {
  AxisValues values;
  const auto add = [&](const std::string& axis, const std::string& given, const std::string& list) {
    std::ranges::copy(parse_values(given, list), std::back_inserter(values[axis]));
  };
  for (const Option& option : arguments.options()) {
    if (option.origin == Option::Origin::axis && arguments.given(option.name))
      add(option.name, "--" + option.name + " ", arguments.text(option.name));
  }
  for (const std::string& text : arguments.texts("problem")) {
    const auto [axis, list] = parse_assignment("problem", text, "AXIS=VALUE or AXIS=VALUE,VALUE");
    add(axis, "--problem " + axis + "=", list);
  }
  return values;
}

AxisValues one_problem(const Arguments& arguments, const Family& family, bool quick) {
  AxisValues values = axis_values(arguments);
  for (const auto& [axis, given] : values) {
    if (given.size() != 1)
      throw Error(ExitCode::usage, fmt::format("--{}: one problem is measured: give one value.", axis));
  }
  if (!values.empty()) return values;
  const std::vector<Problem> problems = family.default_problems(quick);
  for (const Coordinate& coordinate : std::ranges::max(problems).coordinates)
    values[coordinate.axis] = {coordinate.value};
  return values;
}

InputPaths named_inputs(const Arguments& arguments, const Registry& registry) {
  InputPaths paths;
  for (const Option& option : arguments.options()) {
    if (option.origin == Option::Origin::input && arguments.given(option.name))
      paths[option.name] = arguments.text(option.name);
  }
  std::vector<std::string> known;
  for (const auto& [name, inputs] : inputs_of(registry)) known.push_back(name);
  for (const std::string& text : arguments.texts("input")) {
    const auto [name, path] = parse_assignment("input", text, "NAME=PATH");
    if (std::ranges::find(known, name) == known.end()) {
      throw Error(ExitCode::usage,
                  fmt::format("--input {}: no family has an input of this name.{} They have: {}.", text,
                              did_you_mean(name, known), fmt::join(known, ", ")));
    }
    paths[name] = path;
  }
  return paths;
}

InputPaths locate_inputs(const Arguments& arguments, const Registry& registry, const InputPaths& known) {
  return locate_inputs(named_inputs(arguments, registry), registry, known);
}

}  // namespace mprof::cli
