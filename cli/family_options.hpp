// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "cli/options.hpp"
#include "kernels/registry.hpp"
#include "runner/plan.hpp"

/// Options that the registered families bring: the command line knows none of their axes and inputs.
namespace mprof::cli {

/// What the values of an axis are for.
enum class AxisUse {
  sweep,   ///< a list of values; without it the family's own problems
  single,  ///< one value; without it the value of the smallest problem of a run
  one,     ///< one value; without it the value of the largest problem of a quick run
  largest  ///< one value; without it the value of the largest problem of a run
};

/// Adds --problem, and an option for each axis. One whose name is an option already has --problem alone.
void add_axis_options(std::vector<Option>& options, const Registry& registry, AxisUse use);

/// Adds --input, and an option for each input. An input whose name is an option already has --input alone.
void add_input_options(std::vector<Option>& options, const Registry& registry);

/// The values of both kinds of options. Throws Error(usage) for what is no list of whole numbers.
[[nodiscard]] AxisValues axis_values(const Arguments& arguments);

/// The values of a verb that measures one problem. Without any, the largest problem of a run, a quick one or
/// not. Throws Error(usage) like axis_values(), and for several values of an axis.
[[nodiscard]] AxisValues one_problem(const Arguments& arguments, const Family& family, bool quick = true);

/// The inputs that options name. Throws Error(usage) for an input that no family has.
[[nodiscard]] InputPaths named_inputs(const Arguments& arguments, const Registry& registry);

/// Where every input is. The first of these counts: what the options name, the path in `known` if it exists,
/// what MPROF_<NAME> names, and the first of its places that exists. Otherwise it is the first place, for a
/// message to name.
[[nodiscard]] InputPaths locate_inputs(const Arguments& arguments, const Registry& registry,
                                       const InputPaths& known = {});

}  // namespace mprof::cli
