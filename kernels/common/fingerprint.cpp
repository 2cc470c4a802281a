#include "kernels/common/fingerprint.hpp"

#include <atomic>
#include <bit>

#include "kernels/common/parallel.hpp"
#include "kernels/common/random.hpp"

namespace mprof {

std::uint64_t fingerprint(std::span<const float> values) {
  constexpr unsigned bits_of_a_value = 32;
  std::atomic<std::uint64_t> sum = values.size();
  parallel_for(values.size(), hardware_threads(), [&](std::size_t begin, std::size_t end) {
    std::uint64_t part = 0;
    for (std::size_t i = begin; i < end; ++i) {
      part += random_bits(std::uint64_t{i} << bits_of_a_value ^ std::bit_cast<std::uint32_t>(values[i]));
    }
    sum += part;
  });
  return sum;
}

}  // namespace mprof
