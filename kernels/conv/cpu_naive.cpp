// SPDX-License-Identifier: MIT
// The definition, written down: seven loops, one thread, one sum.
//
// Idea        Each output element is the sum of C x K x K products. Loop over the output (image, map, row,
//             column), and for each element over its products (channel, mask row, mask column). This is what
//             a first reading of the formula gives, and what every other variant is held against.
//
// Cost        2 FLOP and two loads a product: 12.5 G products in layer 1 and 36.3 G in layer 2 at batch
//             10000. The sum is one chain: each addition waits three or four cycles for the one before it,
//             while the core could start two vectors of eight every cycle. The compiler may multiply side by
//             side but must add in order, since another order rounds differently. The core helps a little: it
//             begins the next element's chain before this one's ends, which gains most in layer 1, whose
//             chains have 49 links and not 196. So expect 2 to 3 GFLOP/s, some 2 % of the peak of one core.
//
// The profile should show
//             few cache misses (an input window of 7 rows stays in L1), one core busy, and few instructions a
//             cycle: not memory, and not even the arithmetic, but the waiting.
#include "kernels/conv/lenet/host_convolution.hpp"

namespace mprof::conv {
namespace {

class CpuNaive final : public HostConvolution {
 public:
  void forward() override {
    const Shape& s = shape();
    for (std::size_t b = 0; b < s.batch; ++b) {
      for (std::size_t m = 0; m < s.maps; ++m) {
        for (std::size_t y = 0; y < s.out_height(); ++y) {
          for (std::size_t x = 0; x < s.out_width(); ++x) {
            output(b)[(m * s.out_height() + y) * s.out_width() + x] = element(b, m, y, x);
          }
        }
      }
    }
  }

 private:
  [[nodiscard]] float element(std::size_t b, std::size_t m, std::size_t y, std::size_t x) const {
    const Shape& s = shape();
    const float* image = input(b);
    float sum = 0;
    for (std::size_t c = 0; c < s.channels; ++c) {
      for (std::size_t p = 0; p < s.mask; ++p) {
        for (std::size_t q = 0; q < s.mask; ++q) {
          sum += image[(c * s.height + y * s.stride + p) * s.width + x * s.stride + q] *
                 mask()[((m * s.channels + c) * s.mask + p) * s.mask + q];
        }
      }
    }
    return sum;
  }
};

const Register registered{Declaration{
    .title = "Naive: seven loops",
    .idea = "The definition written down: one thread, one output element at a time, one sum. The baseline of "
            "the CPU "
            "variants.",
    .device = "cpu",
    .baseline = "",
    .references =
        {"W. Hwu, D. Kirk, I. El Hajj: Programming Massively Parallel Processors, 4th edition, chapter 16"},
    .make = [](const Parameters&) { return std::make_unique<CpuNaive>(); },
}};

}  // namespace
}  // namespace mprof::conv
