// SPDX-License-Identifier: MIT
#include "kernels/common/axes.hpp"

#include <fmt/format.h>

#include "system/error.hpp"

namespace mprof {

std::uint64_t value_within(const FamilyInfo& family, const Problem& problem, std::string_view axis) {
  const AxisInfo& info = *find_axis(family, axis);
  const std::optional<std::uint64_t> value = value_on(problem, axis);
  if (!value) {
    throw Error(ExitCode::usage, fmt::format("The problem {} of the family {} has no {}: {}.",
                                             problem_id(problem), family.id, axis, info.meaning));
  }
  if (*value < info.min || (info.max != 0 && *value > info.max)) {
    throw Error(ExitCode::usage, fmt::format("{} {}: the family {} takes {}.", axis, *value, family.id,
                                             info.max == 0 ? fmt::format("{} and more", info.min)
                                                           : fmt::format("{} to {}", info.min, info.max)));
  }
  return *value;
}

}  // namespace mprof
