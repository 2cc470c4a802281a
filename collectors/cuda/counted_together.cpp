// SPDX-License-Identifier: MIT
#include "collectors/cuda/counted_together.hpp"

#include <algorithm>

namespace mprof {

std::optional<std::size_t> CountedTogether::place_of(std::size_t kernel) const {
  const auto found = std::ranges::find(kernels, kernel);
  if (found == kernels.end()) return std::nullopt;
  return at[static_cast<std::size_t>(found - kernels.begin())];
}

CountedTogether counted_alone(std::size_t kernel) {
  return {.kernels = {kernel}, .at = {0}, .launches = 1};
}

CountedTogether counted_together(std::size_t kernel, std::span<const StageLaunch> stage, std::size_t between,
                                 std::size_t most_launches) {
  CountedTogether together = counted_alone(kernel);
  auto next = std::ranges::find_if(
      stage, [&](const StageLaunch& launch) { return launch.counts && launch.kernel == kernel; });
  if (next == stage.end()) return together;
  std::size_t place = 1;
  for (++next; next != stage.end(); ++next) {
    if (next->counts) {
      place += between;
      if (place >= most_launches) break;
      together.kernels.push_back(next->kernel);
      together.at.push_back(place);
      together.launches = place + 1;
    }
    ++place;
  }
  return together;
}

}  // namespace mprof
