// SPDX-License-Identifier: MIT
// The product by the vendor's library at its best: its light interface, which lets one choose.
//
// Idea        im2col and a product for each image, as in cublas, with three things that cublasSgemm does not
//             offer. cublasLtMatmul takes the unrolled matrix and the masks as halves and stores FP32, by the
//             product's own epilogue: half of the matrix's traffic, and no conversion of the output. Its
//             heuristic proposes algorithms for the very sizes, and all of them are run in the first
//             prepare() for a shape; the fastest is kept. And how many images are unrolled at once is a
//             parameter: a matrix of 25 (tens of MB) is still in the L2 cache when the product reads it,
//             where one of 1000 has gone to DRAM and comes back.
//
//             Columns and taps are filled up to multiples of 16 bytes, as the library's fast kernels want
//             them: 49 taps in halves become 56. What is filled in is set to zero once, and never written
//             again.
//
//             math=fp32 permits FP32 only, tf32 lets tensor cores round the FP32 matrix to TF32, fp16 unrolls
//             into halves; sums are FP32.
//
// Cost        Two launches a section, and too small a section does not fill the GPU. That weighs more than L2
//             hits, which was not predicted: with TF32 at batch 10000 both layers together take 27.5 ms
//             on an H200 with 10 images a section, 20.6 with 25, 17.1 with 100 and 15.6 with 250. As for
//             cublas, of a tile of 32 or more maps 4 or 16 are used.
//
// The profile should show
//             two kernels in turn. With fp16 half of the DRAM traffic, and the tensor pipe active.
#include <algorithm>
#include <list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <cuda_fp16.h>

#include "kernels/conv/device/cublaslt_products.hpp"
#include "kernels/conv/device/device_convolution.hpp"
#include "kernels/conv/device/device_shape.cuh"
#include "kernels/conv/device/interleave.cuh"

namespace mprof::conv {
namespace {

using cublaslt::ImageProducts;
using cublaslt::ProductSizes;

constexpr unsigned unroll_block = 256;

/// [images][taps][columns]: a row a tap, a column an output pixel, both filled up.
struct UnrolledSizes {
  std::size_t taps, columns;

  [[nodiscard]] __host__ __device__ std::size_t image() const { return taps * columns; }
};

/// A thread writes the K x K taps of one channel of one output pixel; blockIdx.y counts images, blockIdx.z
/// channels.
template <class T, unsigned block>
__global__ void __launch_bounds__(block)
    unroll_pixels(const float* __restrict__ input, T* __restrict__ unrolled, UnrolledSizes sizes,
                  DeviceShape s) {
  const unsigned pixel = blockIdx.x * block + threadIdx.x;
  if (pixel >= s.out_height * s.out_width) return;
  const float* from =
      input + s.input(blockIdx.y, blockIdx.z, pixel / s.out_width * s.stride, pixel % s.out_width * s.stride);
  T* to = unrolled + blockIdx.y * sizes.image() +
          static_cast<std::size_t>(blockIdx.z) * s.mask * s.mask * sizes.columns + pixel;
  for (unsigned p = 0; p < s.mask; ++p) {
    for (unsigned q = 0; q < s.mask; ++q, to += sizes.columns) *to = from_float<T>(from[p * s.width + q]);
  }
}

/// The same for two neighbouring pixels of a row, which have all but two of a row's values in common: half of
/// the loads, and a warp's halves fill 128 bytes. For a stride of 1 and even widths.
template <class T, unsigned mask, unsigned block>
__global__ void __launch_bounds__(block)
    unroll_pairs(const float* __restrict__ input, T* __restrict__ unrolled, UnrolledSizes sizes,
                 DeviceShape s) {
  static_assert(mask % 2 == 1);
  const unsigned pixel = 2 * (blockIdx.x * block + threadIdx.x);
  if (pixel >= s.out_height * s.out_width) return;
  const float* from = input + s.input(blockIdx.y, blockIdx.z, pixel / s.out_width, pixel % s.out_width);
  T* to = unrolled + blockIdx.y * sizes.image() +
          static_cast<std::size_t>(blockIdx.z) * mask * mask * sizes.columns + pixel;
  for (unsigned p = 0; p < mask; ++p, from += s.width) {
    float row[mask + 1];
#pragma unroll
    for (unsigned i = 0; i <= mask; i += 2) {
      const auto two = *reinterpret_cast<const float2*>(from + i);
      row[i] = two.x;
      row[i + 1] = two.y;
    }
#pragma unroll
    for (unsigned q = 0; q < mask; ++q, to += sizes.columns) {
      *reinterpret_cast<Packed<T, 2>*>(to) = {from_float<T>(row[q]), from_float<T>(row[q + 1])};
    }
  }
}

/// Unrolls `images` images from `input` on.
template <class T>
void unroll(const Shape& s, std::size_t images, const float* input, T* unrolled, UnrolledSizes sizes) {
  constexpr unsigned networks_mask = 7;
  const bool in_pairs =
      s.mask == networks_mask && s.stride == 1 && s.width % 2 == 0 && s.out_width() % 2 == 0;
  const std::size_t threads = in_pairs ? s.plane_size() / 2 : s.plane_size();
  const dim3 grid(static_cast<unsigned>(blocks_for(threads, unroll_block)), static_cast<unsigned>(images),
                  static_cast<unsigned>(s.channels));
  if (in_pairs) {
    unroll_pairs<T, networks_mask, unroll_block>
        <<<grid, unroll_block>>>(input, unrolled, sizes, DeviceShape(s));
  } else {
    unroll_pixels<T, unroll_block><<<grid, unroll_block>>>(input, unrolled, sizes, DeviceShape(s));
  }
  cuda::check_launch();
}

/// T is what is multiplied: float or half.
template <class T>
class LightConvolution final : public DeviceConvolution {
 public:
  LightConvolution(cublasComputeType_t compute, std::size_t section) : compute_(compute), section_(section) {}

 protected:
  void allocate(const float* host_mask) override {
    const Shape& s = shape();
    constexpr std::size_t step = 16 / sizeof(T);
    const auto filled = [](std::size_t size) { return blocks_for(size, step) * step; };
    sizes_ = {.taps = filled(s.taps()), .columns = filled(s.plane_size())};
    const std::size_t images = std::min(section_, s.batch);
    unrolled_ = cuda::DeviceBuffer<T>(images * sizes_.image());
    cuda::check(cudaMemset(unrolled_.data(), 0, unrolled_.bytes()));
    std::vector<T> masks(s.maps * sizes_.taps, from_host(0));
    for (std::size_t m = 0; m < s.maps; ++m) {
      for (std::size_t t = 0; t < s.taps(); ++t)
        masks[m * sizes_.taps + t] = from_host(host_mask[m * s.taps() + t]);
    }
    masks_ = cuda::DeviceBuffer<T>(masks.size());
    cuda::check(cudaMemcpy(masks_.data(), masks.data(), masks_.bytes(), cudaMemcpyHostToDevice));
    section_products_ = &products(images);
    rest_products_ = s.batch % images == 0 ? nullptr : &products(s.batch % images);
  }

  void launch() override {
    const Shape& s = shape();
    for (std::size_t first = 0; first < s.batch; first += section_) {
      const std::size_t images = std::min(section_, s.batch - first);
      unroll(s, images, input() + first * s.image_size(), unrolled_.data(), sizes_);
      const bool is_rest = first != 0 && images < section_;
      (is_rest ? rest_products_ : section_products_)
          ->run(handle_.get(), unrolled_.data(), masks_.data(), output() + first * s.out_image_size(),
                workspace_);
    }
  }

  void release() override {
    unrolled_ = {};
    masks_ = {};
  }

 private:
  static T from_host(float value) { return static_cast<T>(value); }

  /// The products of so many images, with the algorithm that was chosen when they were first asked for.
  const ImageProducts& products(std::size_t images) {
    const Shape& s = shape();
    const ProductSizes sizes{images, s.plane_size(), s.maps, sizes_.taps, sizes_.columns};
    const auto known = std::ranges::find(known_, sizes, &ImageProducts::sizes);
    if (known != known_.end()) return *known;
    ImageProducts chosen(sizes, std::is_same_v<T, float> ? CUDA_R_32F : CUDA_R_16F, compute_);
    unroll(s, images, input(), unrolled_.data(), sizes_);
    chosen.choose(handle_.get(), unrolled_.data(), masks_.data(), output(), output_alignment(), workspace_);
    return known_.emplace_back(std::move(chosen));
  }

  /// What divides the addresses at which sections of the output begin.
  [[nodiscard]] std::uint32_t output_alignment() const {
    constexpr std::size_t most = 256;  // as cudaMalloc aligns
    const std::size_t bytes = section_ * shape().out_image_size() * sizeof(float);
    return static_cast<std::uint32_t>(std::min(most, bytes & (~bytes + 1)));
  }

  cublasComputeType_t compute_;
  std::size_t section_;
  cublaslt::Lent<cublasLtHandle_t> handle_ = cublaslt::make_handle();
  cuda::DeviceBuffer<std::byte> workspace_{std::size_t{32} << 20U};  // what cuBLAS asks for on Hopper
  UnrolledSizes sizes_{};
  std::list<ImageProducts> known_;  ///< their addresses stay
  const ImageProducts* section_products_ = nullptr;
  const ImageProducts* rest_products_ = nullptr;
  cuda::DeviceBuffer<T> unrolled_;
  cuda::DeviceBuffer<T> masks_;  ///< [M][taps], filled up
};

const Register registered{Declaration{
    .title = "im2col and cuBLASLt",
    .idea =
        "Unroll sections, as halves for fp16, and let cuBLASLt multiply them with the masks and store FP32, "
        "by the fastest of the algorithms that it proposes.",
    .device = "cuda",
    .baseline = "conv/cublas",
    .parameters = {{.name = "math",
                    .meaning = "what cuBLASLt may multiply with; fp16 unrolls into halves",
                    .default_value = "fp32",
                    .values = {"fp32", "tf32", "fp16"}},
                   {.name = "section",
                    .meaning = "images that are unrolled at once",
                    .default_value = "250",
                    .values = {"10", "25", "50", "100", "250", "1000"}}},
    .expectations =
        {{.metric = "op_time",
          .direction = Direction::decreases,
          .because =
              "The product is the fastest one that the library has for these sizes, and rows and taps are "
              "filled up as its fast kernels want them."}},
    .references = {"NVIDIA: cuBLAS, the cuBLASLt API, https://docs.nvidia.com/cuda/cublas/",
                   "K. Chellapilla, S. Puri, P. Simard: High Performance Convolutional Neural Networks for "
                   "Document Processing, IWFHR 2006"},
    .unavailable = cublaslt::unavailable,
    .tolerance_of =
        [](const Parameters& parameters) {
          return parameters.at("math") == "fp32" ? 1e-5 : 2e-3;  // 10 bits of a factor's mantissa are kept
        },
    .libraries = {{"cuBLASLt", cublaslt::version}},
    .make = [](const Parameters& parameters) -> std::unique_ptr<Convolution> {
      const std::string& math = parameters.at("math");
      const std::size_t section = std::stoul(parameters.at("section"));
      if (math == "fp16") return std::make_unique<LightConvolution<__half>>(CUBLAS_COMPUTE_32F, section);
      return std::make_unique<LightConvolution<float>>(
          math == "tf32" ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, section);
    },
}};

}  // namespace
}  // namespace mprof::conv
