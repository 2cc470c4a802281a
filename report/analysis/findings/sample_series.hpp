// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include "model/run.hpp"

/// What the samples of a time show in the order in which they were taken, to be drawn.
namespace mprof {

/// Neighbouring samples of one round about one value.
struct SampleLevel {
  std::size_t round = 0;  ///< among the rounds that took samples
  std::size_t from = 0;   ///< the first one's place in its round
  std::size_t count = 0;
  double median = 0;
};

struct SampleSeries {
  std::vector<std::size_t> rounds{};  ///< how many samples each round took, without rounds that took none
  std::vector<SampleLevel> levels{};  ///< in order; one for each round without a step
  std::vector<bool> far_out{};        ///< of each sample

  [[nodiscard]] std::size_t steps() const { return levels.size() - rounds.size(); }
};

/// The rounds of a time, each cut into levels where its SeriesNotes have a step.
[[nodiscard]] SampleSeries sample_series(const Measurement& measurement);

}  // namespace mprof
