// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "report/analysis/judgement/why.hpp"

/// The words of reasons.
namespace mprof {

/// What a reason calls the two times that were compared.
struct SideNames {
  std::string_view before = "the time before";
  std::string_view after = "the time after";
};

/// Of two runs, and of a point that is compared with the best one.
inline constexpr SideNames of_runs{"A", "B"};
inline constexpr SideNames of_points{"it", "the best"};

/// In one line, without a full stop: "its baseline has no such op"; empty without a reason.
[[nodiscard]] std::string say(const Why& why, const SideNames& sides = {});

}  // namespace mprof
