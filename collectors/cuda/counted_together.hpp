// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace mprof {

/// A launch in a stage, as the first run of the stage has shown it.
struct StageLaunch {
  std::size_t kernel = 0;  ///< its place among the kernels of the case
  bool counts = false;     ///< its kernel is counted at this launch
};

/// Kernels of a stage that are counted in the same passes, which start with the first one's launch and stop
/// after the last one's.
struct CountedTogether {
  std::vector<std::size_t> kernels{};  ///< in the order of their launches
  std::vector<std::size_t> at{};       ///< of each: which of the launches in a pass is its, from 0
  std::size_t launches = 0;            ///< in a pass

  /// Which of the launches in a pass belongs to `kernel`; nullopt: it is not one of these.
  [[nodiscard]] std::optional<std::size_t> place_of(std::size_t kernel) const;
};

/// `kernel` alone.
[[nodiscard]] CountedTogether counted_alone(std::size_t kernel);

/// `kernel`, and the kernels of `stage` that are launched after it and count, as long as a pass has at most
/// `most_launches`. Before each counted launch but the first there are `between` others, which make caches
/// cold. `kernel` is alone where the stage does not count it.
[[nodiscard]] CountedTogether counted_together(std::size_t kernel, std::span<const StageLaunch> stage,
                                               std::size_t between, std::size_t most_launches);

}  // namespace mprof
