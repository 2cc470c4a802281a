// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

#include "model/family.hpp"

namespace mprof {

/// The value of `problem` on one of the family's axes. Throws Error(usage) when it has none, or one that is
/// outside the axis.
[[nodiscard]] std::uint64_t value_within(const FamilyInfo& family, const Problem& problem,
                                         std::string_view axis);

}  // namespace mprof
