// @NAME@: say here what it does otherwise, what that should cost, and what a profile should show.
//
//   mprof run --source @FILE@          # builds it, verifies it, times it beside its baseline
#include <mprof/conv.hpp>

namespace {

// One output element is the sum of C x K x K products: input [B][C][H][W], mask [M][C][K][K], output
// [B][M][H_out][W_out].
class Convolution final : public mprof::plugin::conv::HostConvolution {
 public:
  void forward() override {
    const mprof::plugin::conv::Shape& s = shape();
    for (std::size_t b = 0; b < s.batch; ++b) {
      for (std::size_t m = 0; m < s.maps; ++m) {
        float* const map = output(b) + m * s.plane_size();
        for (std::size_t y = 0; y < s.out_height(); ++y) {
          for (std::size_t x = 0; x < s.out_width(); ++x) map[y * s.out_width() + x] = element(b, m, y, x);
        }
      }
    }
  }

 private:
  [[nodiscard]] float element(std::size_t b, std::size_t m, std::size_t y, std::size_t x) const {
    const mprof::plugin::conv::Shape& s = shape();
    float sum = 0;
    for (std::size_t c = 0; c < s.channels; ++c) {
      for (std::size_t p = 0; p < s.mask; ++p) {
        const float* const row = input(b) + (c * s.height + y * s.stride + p) * s.width + x * s.stride;
        const float* const weights = mask() + ((m * s.channels + c) * s.mask + p) * s.mask;
        for (std::size_t q = 0; q < s.mask; ++q) sum += row[q] * weights[q];
      }
    }
    return sum;
  }
};

}  // namespace

MPROF_VARIANT(
        .family = "conv", .title = "@NAME@", .idea = "One thread, one output element at a time.",
        .device = "cpu", .baseline = "conv/cpu_naive",
        .make = [](const mprof::plugin::Parameters&) { return std::make_unique<Convolution>(); })
