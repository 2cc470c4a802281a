// SPDX-License-Identifier: MIT
#include "kernels/common/poison.hpp"

#include <algorithm>

#include "kernels/common/parallel.hpp"

namespace mprof {

void fill_bits(std::span<float> memory, std::uint32_t pattern) {
  parallel_for(memory.size(), hardware_threads(), [&](std::size_t begin, std::size_t end) {
    std::ranges::fill(memory.subspan(begin, end - begin), std::bit_cast<float>(pattern));
  });
}

void poison(std::span<float> output) {
  fill_bits(output, poison_pattern);
}

}  // namespace mprof
