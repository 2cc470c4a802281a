// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "report/analysis/kernels/kernels.hpp"
#include "report/analysis/kernels/speed_of_light.hpp"
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

/// How a value came about: "of matmul_tiled, the longest of 3 kernels"; empty where it is plain.
[[nodiscard]] std::string origin_text(const Origin& origin, const Words& words);

}  // namespace mprof
