// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "report/analysis/kernels/kernels.hpp"
#include "report/analysis/kernels/speed_of_light.hpp"
#include "report/analysis/program/kernel_hints.hpp"
#include "report/text/family_words.hpp"

/// What is said of kernels.
namespace mprof {

/// What a bottleneck is called: "L1/TEX", "98 %" and "DRAM 6 %".
struct BoundWords {
  std::string head;
  std::string figures;
  std::string beside;  ///< what is idle beside it, where that is not plain; may be empty
};

[[nodiscard]] BoundWords bound_words(const Bottleneck& bottleneck);
/// All three: "L1/TEX 98 %, DRAM 6 %".
[[nodiscard]] std::string bound_text(const Bottleneck& bottleneck);

/// "Move fewer bytes: fuse it with its neighbours, or use a narrower type".
[[nodiscard]] std::string_view hint_text(KernelHint hint);

/// "long scoreboard 5.30, barrier 2.10": what warps wait for the longest, in cycles per issued instruction.
/// Empty where that was not counted.
[[nodiscard]] std::string waits_text(const KernelResult& kernel);

/// How a value came about: "of matmul_tiled, the longest of 3 kernels"; empty where it is plain.
[[nodiscard]] std::string origin_text(const Origin& origin, const Words& words);

}  // namespace mprof
