#pragma once

#include <optional>
#include <span>
#include <vector>

#include "model/run.hpp"

namespace mprof {

/// Decides after each sample whether there are enough.
class StoppingRule {
 public:
  explicit StoppingRule(const Stopping& limits) : limits_(limits) {}

  /// `series`: the samples so far of each metric that must be known well enough; `elapsed`: seconds of
  /// sampling. The ceiling in seconds holds also below the floor of samples: a case that takes a minute is
  /// run once, not seven times, and its missing interval says so.
  [[nodiscard]] std::optional<Ending> ending(const std::vector<std::span<const double>>& series,
                                             std::size_t samples, double elapsed) const;

 private:
  Stopping limits_;
};

/// The widest relative half width of the series' median intervals; nullopt when one of them has none.
[[nodiscard]] std::optional<double> widest_half_width(const std::vector<std::span<const double>>& series);

}  // namespace mprof
