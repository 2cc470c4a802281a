#include "kernels/common/poison.hpp"

#include <algorithm>

#include "kernels/common/parallel.hpp"

namespace mprof {

void poison(std::span<float> output) {
  parallel_for(output.size(), hardware_threads(), [&](std::size_t begin, std::size_t end) {
    std::ranges::fill(output.subspan(begin, end - begin), std::bit_cast<float>(poison_pattern));
  });
}

}  // namespace mprof
