// SPDX-License-Identifier: MIT
// A kernel for each layer: what the other variants teach, with the layer's shape known at compile time.
//
// Idea        Multiply-adds only run at the rate of the FP32 pipe when each operand that is loaded serves
//             many of them, and when nearly all that is issued are multiply-adds. A thread keeps pixels of a
//             row in registers, of four maps. For a mask row it loads the input's columns one after another
//             from shared memory, and adds each to all sums that it has a part in: up to 7 taps of 4 maps.
//
//             The weights are the same for a whole warp. They lie in constant memory, and come from there to
//             uniform registers, 28 for a mask row, which a multiply-add can read like one of its own: the
//             instruction reads two registers of the lane in place of three, and of these the input stays in
//             the operand cache.
//
//             Layer 1     A block computes 16 rows of one image. A thread has layer1_width (10 or 20) pixels
//                         of a row: 40 or 80 sums, 280 or 560 multiply-adds for the 8 or 13 loads of a mask
//                         row and 14 of weights. The inputs of a block are one piece of memory, and so are
//                         its sums of a map: bulk copies move them, where the GPU has such.
//             Layer 2     The rows of all images are counted through, 34 of each, and dealt to warps 32 at a
//                         time: a lane has a whole row, 136 sums, 952 multiply-adds for 10 loads and 14 of
//                         weights, and none idles where an image ends. A block stays on its multiprocessor
//                         with 3 warps a scheduler. Images come by bulk copies to a ring of 7 places in
//                         shared memory, the next one whenever all warps have left the oldest.
//                         This needs compute capability 9.0 and 227 KiB. Other GPUs, and layer2=images, have
//                         a block an image, half a row a lane, and weights in shared memory.
//
//             Any other shape takes a plain kernel: a pixel of four maps a thread.
//
// Cost        Kernels that serve two shapes. 3 warps a scheduler hold all registers in layer 2: what hides
//             latency is that a thread has 136 independent sums. Rows of an image lie 160 bytes apart there,
//             as the copy of a whole image leaves them, and 8 lanes meet in 4 of 8 groups of banks: each load
//             takes twice as long as it could. Copies row by row, to a better pitch, cost more: 1.50 ms in
//             place of 1.32 at batch 10000 on an H200, with a ring of 6 places. Layer 1 loads 6 halo rows for
//             each 16.
//
// The profile should show
//             FP32 (FMA) pipe utilization above 80 % in layer 2, and 94 instructions of 100 in it FFMA. At
//             batch 10000 an H200 at 1.95 GHz needs 1.10 ms to issue the multiply-adds alone, 1.17 ms with
//             all else that is issued; predicted 1.30, measured are 1.27 ms. Without results 1.25, with the
//             weights loaded once 1.25, without bank conflicts hardly less; without all three 1.18. In layer
//             1 both the FMA pipe and DRAM are busy, since arithmetic (0.38 ms) and traffic (0.31 ms) have
//             nearly the same floor there; 0.51 ms while threads loaded and stored, 0.48 ms (predicted 0.485)
//             with bulk copies. L1 hit rates do not matter: each input is loaded once or twice.
#include <string>
#include <vector>

#include "kernels/conv/device/any_shape.cuh"
#include "kernels/conv/device/async_copy.cuh"
#include "kernels/conv/device/device_convolution.hpp"
#include "kernels/conv/device/layer2_images.cuh"
#include "kernels/conv/device/layer2_rows.cuh"
#include "kernels/conv/device/uniform_weights.cuh"
#include "kernels/conv/lenet/lenet.hpp"

namespace mprof::conv {
namespace {

template <unsigned Width>
struct Layer1 {
  static constexpr unsigned side = 86, out_side = 80, maps = 4, mask = 7;
  static constexpr unsigned rows = 16;                           ///< output rows of a block
  static constexpr unsigned in_size = (rows + mask - 1) * side;  ///< input floats of a block
  static constexpr unsigned out_size = rows * out_side;          ///< floats of a map
  static constexpr unsigned bands = out_side / rows;             ///< blocks an image
  static constexpr unsigned strips = out_side / Width;           ///< threads an output row
  static constexpr unsigned threads = rows * strips;
  static constexpr unsigned blocks_an_sm = Width == 10 ? 8 : 10;
  static constexpr unsigned image = side * side;
  static constexpr unsigned plane = out_side * out_side;
  static_assert(image % 4 == 0 && rows * side % 4 == 0 && in_size % 4 == 0, "copies are of whole 16 bytes");
  static_assert(in_size + Width <= maps * out_size, "sums take the place of inputs");
};

alignas(16) __constant__ float layer1_weights[7 * 7 * 4];  // [K][K][M]

/// Block x computes band x % bands of image x / bands. Inputs lie in shared memory as in global memory, at a
/// pitch of 86 floats, and sums at 80. The lanes that shared memory serves at a time, 16 with 8 bytes or 8
/// with 16, are dealt to strips and rows such that neither meet in a bank: 16 have the rows k, k + 1, k + 8
/// and k + 9, or with strips of 10 k and k + 8.
template <unsigned Width>
__global__ void __launch_bounds__(Layer1<Width>::threads, Layer1<Width>::blocks_an_sm)
    conv_layer1(const float* __restrict__ input, float* __restrict__ output) {
  using L = Layer1<Width>;
  __shared__ alignas(128) float buffer[L::maps * L::out_size];
  __shared__ AsyncCopy copy;
  const unsigned band = blockIdx.x % L::bands;
  const std::size_t image = blockIdx.x / L::bands;

  copy.begin<L::threads>(buffer, input + image * L::image + band * L::rows * L::side, L::in_size);
  const unsigned strip = threadIdx.x % L::strips;
  const unsigned row =
      threadIdx.x % 8 / L::strips + threadIdx.x / 16 * (8 / L::strips) + threadIdx.x / 8 % 2 * 8;
  const float* const in = buffer + row * L::side + strip * Width;
  copy.wait();

  float sums[L::maps][Width] = {};
#pragma unroll 1
  for (unsigned p = 0; p < L::mask; ++p) {
    add_mask_row<L::mask, 2>(sums, in + p * L::side,
                             [=](unsigned i) { return layer1_weights[p * L::mask * L::maps + i]; });
  }
  __syncthreads();

  float* const to = buffer + row * L::out_side + strip * Width;
#pragma unroll
  for (unsigned m = 0; m < L::maps; ++m) store(to + m * L::out_size, sums[m]);
  copy.store<L::threads, L::maps, L::out_size>(output + image * L::maps * L::plane + band * L::out_size,
                                               L::plane, buffer, L::out_size);
  copy.wait_until_read<L::threads>();
}

/// [M][C K K] as kernels read it that have `together` maps in a thread: [M / together][C K K][together].
std::vector<float> maps_last(const Shape& s, const float* mask, std::size_t together) {
  std::vector<float> result(s.mask_size());
  for (std::size_t m = 0; m < s.maps; ++m) {
    for (std::size_t tap = 0; tap < s.taps(); ++tap) {
      result[(m / together * s.taps() + tap) * together + m % together] = mask[m * s.taps() + tap];
    }
  }
  return result;
}

int attribute(cudaDeviceAttr which) {
  int device = 0;
  int value = 0;
  cuda::check(cudaGetDevice(&device));
  cuda::check(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

class PerLayer final : public DeviceConvolution {
 public:
  PerLayer(unsigned layer1_width, bool layer2_rows)
      : layer1_width_(layer1_width), layer2_rows_(layer2_rows && rows_fit()) {}

 protected:
  void allocate(const float* host_mask) override {
    if (!is(layers[0]) && !is(layers[1])) return;
    const bool by_groups = is(layers[1]) && layer2_rows_;
    const std::size_t together = by_groups ? std::size_t{rows::Layer2Rows::maps_a_thread} : shape().maps;
    const std::vector<float> reordered = maps_last(shape(), host_mask, together);
    weights_ = cuda::DeviceBuffer<float>(reordered.size());
    cuda::check(cudaMemcpy(weights_.data(), reordered.data(), weights_.bytes(), cudaMemcpyHostToDevice));
    if (is(layers[0])) {
      bring(layer1_weights, layer1_owner_);
    } else if (layer2_rows_) {
      bring(rows::layer2_weights, layer2_owner_);
      multiprocessors_ = static_cast<unsigned>(attribute(cudaDevAttrMultiProcessorCount));
      cuda::check(cudaFuncSetAttribute(rows::conv_layer2_rows, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       rows::Layer2Rows::dynamic_bytes));
    }
  }

  void launch() override {
    if (is(layers[0])) {
      layer1_width_ == 10 ? launch_layer1<10>() : launch_layer1<20>();
    } else if (is(layers[1])) {
      layer2_rows_ ? launch_layer2_rows() : launch_layer2_images();
    } else {
      launch_any_shape(shape(), input(), mask(), output());
    }
  }

  void release() override { weights_ = {}; }

 private:
  [[nodiscard]] bool is(const Layer& layer) const { return shape() == layer.shape(shape().batch); }

  [[nodiscard]] static bool rows_fit() {
    return attribute(cudaDevAttrComputeCapabilityMajor) >= 9 &&
           attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) >=
               static_cast<int>(rows::Layer2Rows::shared_bytes);
  }

  /// Constant memory has one place for the weights of a layer, and who launches has its own there.
  template <std::size_t Size>
  void bring(float (&symbol)[Size], const PerLayer*& owner) {
    cuda::check(cudaMemcpyToSymbolAsync(symbol, weights_.data(), weights_.bytes(), 0,
                                        cudaMemcpyDeviceToDevice, nullptr));
    owner = this;
  }

  template <unsigned Width>
  void launch_layer1() {
    using L = Layer1<Width>;
    static_assert(layers[0].one_image == Shape{.batch = 1,
                                               .channels = 1,
                                               .height = L::side,
                                               .width = L::side,
                                               .maps = L::maps,
                                               .mask = L::mask});
    if (layer1_owner_ != this) bring(layer1_weights, layer1_owner_);
    const auto grid = static_cast<unsigned>(shape().batch * L::bands);
    conv_layer1<Width><<<grid, L::threads>>>(input(), output());
  }

  template <class L>
  static constexpr bool is_layer2 = layers[1].one_image == Shape{.batch = 1,
                                                                 .channels = L::channels,
                                                                 .height = L::side,
                                                                 .width = L::side,
                                                                 .maps = L::maps,
                                                                 .mask = L::mask};

  void launch_layer2_rows() {
    using L = rows::Layer2Rows;
    static_assert(is_layer2<L>);
    if (layer2_owner_ != this) bring(rows::layer2_weights, layer2_owner_);
    const auto images = static_cast<unsigned>(shape().batch);
    rows::conv_layer2_rows<<<multiprocessors_ * L::blocks_an_sm, L::threads, L::dynamic_bytes>>>(
        input(), output(), images);
  }

  void launch_layer2_images() {
    using L = images::Layer2Images;
    static_assert(is_layer2<L>);
    const auto grid = static_cast<unsigned>(shape().batch);
    images::conv_layer2_images<<<grid, L::threads>>>(input(), weights_.data(), output());
  }

  static inline const PerLayer* layer1_owner_ = nullptr;  ///< whose weights came last to constant memory
  static inline const PerLayer* layer2_owner_ = nullptr;

  unsigned layer1_width_;
  bool layer2_rows_;
  unsigned multiprocessors_ = 0;
  cuda::DeviceBuffer<float> weights_;  ///< maps last
};

const Register registered{Declaration{
    .title = "A kernel for each layer",
    .idea =
        "For each layer's shape a kernel that keeps rows of output pixels of several maps in registers and "
        "weights in registers of the warp, so that 95 of 100 instructions are multiply-adds.",
    .device = "cuda",
    .baseline = "conv/baseline",
    .parameters = {{.name = "layer1_width",
                    .meaning = "pixels of a row that a thread computes in layer 1, of all 4 maps",
                    .default_value = "20",
                    .values = {"10", "20"}},
                   {.name = "layer2",
                    .meaning = "what warps share in layer 2: the rows of the whole batch (compute capability "
                               "9.0, or else as images), or each block the rows of an image",
                    .default_value = "rows",
                    .values = {"rows", "images"}}},
    .expectations =
        {{.metric = "op_time",
          .op = "layer1",
          .factor = 8,
          .because = "An input value from shared memory serves up to 28 multiply-adds from a register, and "
                     "weights are in registers of the warp."},
         {.metric = "op_time",
          .op = "layer2",
          .factor = 16,
          .because = "136 sums a thread, no idle lanes at the edge, 952 multiply-adds for 24 loads, and "
                     "images that are there before they are needed."},
         {.metric = "smsp__inst_executed.sum",
          .op = "layer2",
          .factor = 8,
          .because = "Addresses and loads nearly vanish between multiply-adds."},
         {.metric = "sm__warps_active.avg.pct_of_peak_sustained_active",
          .op = "layer2",
          .factor = 3,
          .because = "12 warps' sums take all registers: occupancy falls to a fifth, and time with it."}},
    .references = {"V. Volkov: Better Performance at Lower Occupancy, GTC 2010",
                   "S. Gray: MaxAs, SGEMM, https://github.com/NervanaSystems/maxas/wiki/SGEMM"},
    .make =
        [](const Parameters& parameters) {
          return std::make_unique<PerLayer>(static_cast<unsigned>(std::stoul(parameters.at("layer1_width"))),
                                            parameters.at("layer2") == "rows");
        },
}};

}  // namespace
}  // namespace mprof::conv
