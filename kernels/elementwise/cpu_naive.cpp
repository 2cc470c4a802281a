// SPDX-License-Identifier: MIT
// The definition, written down: two loops, one thread, the functions of the C library.
//
// Idea        Go through the matrix row by row. For each element apply v = v + sqrt(f(v) + 1) as often as
//             asked, with the function that its column modulo 4 names. This is what every other CPU variant
//             is held against.
//
// Cost        Two function evaluations an element and iteration, of which the tangent takes the longest, and
//             each iteration waits for the one before: some ten nanoseconds, 3 to 5 s for 8192 x 8192
//             elements and 5 iterations. The 8 bytes that an element must move take a tenth of a nanosecond.
//
// The profile should show
//             one core busy, no cache misses to speak of, and a small part of one core's FLOP peak: time goes
//             into the C library.
#include "kernels/elementwise/map/host_map.hpp"

namespace mprof::elementwise {
namespace {

class CpuNaive final : public HostMap {
 public:
  void forward() override {
    const Matrix& m = matrix();
    for (std::size_t row = 0; row < m.size; ++row) {
      for (std::size_t column = 0; column < m.size; ++column) {
        output(row)[column] = transform(column, input(row)[column], m.iterations);
      }
    }
  }
};

const Register registered{Declaration{
    .title = "Naive: two loops",
    .idea = "The definition written down: one thread, one element at a time, the functions of the C library. "
            "The baseline of the CPU variants.",
    .device = "cpu",
    .baseline = "",
    .references = {"J.-M. Muller: Elementary Functions, 3rd edition, Birkhauser 2016"},
    .make = [](const Parameters&) { return std::make_unique<CpuNaive>(); },
}};

}  // namespace
}  // namespace mprof::elementwise
