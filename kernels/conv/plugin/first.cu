// @NAME@: say here what it does otherwise, what that should cost, and what a profile should show.
//
//   mprof run --source @FILE@          # builds it, verifies it, times it beside its baseline
#include <mprof/conv.hpp>

namespace {

// One thread an output element, which is the sum of C x K x K products: input [B][C][H][W], mask
// [M][C][K][K], output [B][M][H_out][W_out].
__global__ void convolve(const float* input, const float* mask, float* output, mprof::plugin::conv::Shape s,
                         unsigned out_height, unsigned out_width) {
  const unsigned tiles_x = (out_width + blockDim.x - 1) / blockDim.x;
  const std::size_t x = blockIdx.y % tiles_x * blockDim.x + threadIdx.x;
  const std::size_t y = blockIdx.y / tiles_x * blockDim.y + threadIdx.y;
  const std::size_t m = blockIdx.x;
  const std::size_t b = blockIdx.z;
  if (x >= out_width || y >= out_height) return;
  float sum = 0;
  for (std::size_t c = 0; c < s.channels; ++c) {
    for (std::size_t p = 0; p < s.mask; ++p) {
      const float* const row = input + ((b * s.channels + c) * s.height + y * s.stride + p) * s.width;
      const float* const weights = mask + ((m * s.channels + c) * s.mask + p) * s.mask;
      for (std::size_t q = 0; q < s.mask; ++q) sum += row[x * s.stride + q] * weights[q];
    }
  }
  output[((b * s.maps + m) * out_height + y) * out_width + x] = sum;
}

class Convolution final : public mprof::plugin::conv::DeviceConvolution {
 public:
  explicit Convolution(unsigned tile_width) : tile_width_(tile_width) {}

 protected:
  void launch() override {
    const mprof::plugin::conv::Shape& s = shape();
    const auto tiles = [&](std::size_t length) { return (length + tile_width_ - 1) / tile_width_; };
    const dim3 grid(static_cast<unsigned>(s.maps),
                    static_cast<unsigned>(tiles(s.out_width()) * tiles(s.out_height())),
                    static_cast<unsigned>(s.batch));
    convolve<<<grid, dim3(tile_width_, tile_width_)>>>(input(), mask(), output(), s,
                                                       static_cast<unsigned>(s.out_height()),
                                                       static_cast<unsigned>(s.out_width()));
  }

 private:
  unsigned tile_width_;
};

}  // namespace

MPROF_VARIANT(
        .family = "conv", .title = "@NAME@", .idea = "One thread an output element.", .device = "cuda",
        .baseline = "conv/baseline",
        .parameters = {{"tile_width", "threads a side of the square block", "16", {"8", "16", "32"}}},
        .make = [](const mprof::plugin::Parameters& parameters) {
          return std::make_unique<Convolution>(
              static_cast<unsigned>(std::stoul(parameters.at("tile_width"))));
        })
