// SPDX-License-Identifier: MIT
#include "model/seconds.hpp"

#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace mprof {

std::string seconds_text(double seconds) {
  constexpr std::array<std::pair<double, const char*>, 3> units{{{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}}};
  for (const auto& [size, unit] : units) {
    if (std::abs(seconds) >= size) return fmt::format("{:.3g} {}", seconds / size, unit);
  }
  return fmt::format("{:.3g} ns", seconds * 1e9);
}

}  // namespace mprof
