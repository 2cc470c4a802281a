// SPDX-License-Identifier: MIT
#include "kernels/common/fingerprint.hpp"

#include <atomic>

#include "kernels/common/parallel.hpp"

namespace mprof {

std::uint64_t fingerprint(std::span<const float> values) {
  std::atomic<std::uint64_t> sum = values.size();
  parallel_for(values.size(), hardware_threads(), [&](std::size_t begin, std::size_t end) {
    std::uint64_t part = 0;
    for (std::size_t i = begin; i < end; ++i) part += fingerprint_term(i, values[i]);
    sum += part;
  });
  return sum;
}

}  // namespace mprof
