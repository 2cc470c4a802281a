// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/run.hpp"

/// The lines of source at which the warps of an op's kernels stood most often when their program counters
/// were sampled, and what they waited for there. Samples of warps that could have issued while another one
/// did ("not selected") are left out. Where warps are many, such samples pile up at the beginning of a
/// kernel, whose lines cost next to nothing.
namespace mprof {

/// What warps were found doing at a line: waiting for something, or issuing.
struct Wait {
  std::string
      reason;  ///< as Nsight Compute names it: "long scoreboard"; "issuing" where they waited for nothing
  double share = 0;  ///< of the line's samples
};

struct HotLine {
  const SourceLine* line = nullptr;
  double share = 0;   ///< of all samples of the op
  double issued = 0;  ///< of the op's samples that found a warp issuing
  Wait most_frequent;
};

struct HotLines {
  std::string op;
  double samples = 0;            ///< of all kernels of the op
  double issuing = 0;            ///< samples that found a warp issuing
  std::vector<HotLine> lines{};  ///< the hottest first
};

/// What warps were found doing at all of these lines, the most frequent first.
[[nodiscard]] std::vector<Wait> waits_of(std::span<const SourceLine> lines);

/// Samples of these lines, but for warps that only waited for their turn.
[[nodiscard]] double telling_samples(std::span<const SourceLine> lines);

/// At most `most` of these lines, each with at least a fiftieth of all their samples. `op` stays empty.
[[nodiscard]] HotLines hottest_of(std::span<const SourceLine> lines, std::size_t most);

/// At most `most` lines of each op that was sampled, each with at least a fiftieth of the op's samples.
inline constexpr std::size_t most_hot_lines = 5;
[[nodiscard]] std::vector<HotLines> hot_lines_of(const Case& c, std::size_t most = most_hot_lines);

}  // namespace mprof
