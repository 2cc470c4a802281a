// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "collectors/collector.hpp"
#include "model/run.hpp"

namespace mprof {

/// What samples of one round are weighed against: the samples of another round.
struct OtherRounds {
  std::uint32_t rounds = 1;   ///< of the case, this one included
  double seconds_before = 0;  ///< what this round took until it could sample, and another one would take too
};

/// Decides after each sample whether there are enough.
class StoppingRule {
 public:
  explicit StoppingRule(const Stopping& limits, const OtherRounds& others = {})
      : limits_(limits), others_(others) {}

  /// `series`: the samples so far of each metric that must be known well enough; `elapsed`: seconds of
  /// sampling. The ceiling in seconds holds also below the floor of samples: a case that takes a minute is
  /// run once, not seven times, and its missing interval says so.
  [[nodiscard]] std::optional<Ending> ending(const std::vector<DecisiveSeries>& series, std::size_t samples,
                                             double elapsed) const;

 private:
  [[nodiscard]] bool is_below_floor(std::size_t samples, double elapsed) const;
  [[nodiscard]] bool are_rounds_worth_more(const std::vector<DecisiveSeries>& series, double elapsed) const;

  Stopping limits_;
  OtherRounds others_;
};

/// The widest relative half width of the series' median intervals; nullopt when one of them has none.
[[nodiscard]] std::optional<double> widest_half_width(const std::vector<DecisiveSeries>& series);

}  // namespace mprof
