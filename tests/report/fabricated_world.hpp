// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "model/trace/trace.hpp"

/// A data-parallel training that is made up: what each rank does in true time, as its own clock shows it.
namespace mprof {

/// One rank's deviation from the others.
struct RankNature {
  double slower = 1;            ///< factor on its computing kernels
  double slower_attention = 1;  ///< factor on one of them beside that
  double interrupted = 0;       ///< s, that each fifth computing kernel takes longer
  double host_delay = 0;    ///< s, before each step in which its GPU has nothing to do: the range "loader"
  bool with_stack = false;  ///< which is the function "train.py(42): load", below one of PyTorch's
  double clock_offset = 0;  ///< s
  double clock_drift = 0;   ///< its clock gains so much a second
  std::size_t since = 0;    ///< the deviations begin with this step
  std::size_t skipped = 0;  ///< its trace begins so many steps later
};

struct FabricatedWorld {
  std::size_t ranks = 8;
  std::size_t steps = 40;
  double jitter = 0.002;     ///< relative standard deviation of kernels
  double transfer = 500e-6;  ///< s, of an AllReduce of 25 MB
  std::size_t groups = 1;    ///< the ranks of each come one after the other, and reduce among themselves
  bool named_groups = true;
  std::function<RankNature(std::size_t rank)> nature = [](std::size_t /*rank*/) { return RankNature{}; };
};

/// A step: forward 5 ms; four pieces of backward of 2 ms, after each of which an AllReduce of 25 MB begins
/// beside the next piece; the last one is hidden by nothing. Then the optimizer, 1 ms. Ranges "step N".
[[nodiscard]] std::vector<trace::Trace> fabricate(const FabricatedWorld& world);

}  // namespace mprof
