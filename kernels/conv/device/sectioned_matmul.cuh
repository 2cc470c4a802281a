// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "kernels/conv/device/device_convolution.hpp"
#include "kernels/conv/device/im2col.cuh"

namespace mprof::conv {

inline constexpr unsigned permute_block = 256;

/// From the product [M][images][H_out W_out] to the output [images][M][H_out W_out]. blockIdx.y is the image,
/// blockIdx.z the map.
template <unsigned block>
__global__ void __launch_bounds__(block)
    permute_section(const float* __restrict__ product, float* __restrict__ output, DeviceShape s) {
  const unsigned plane = s.out_height * s.out_width;
  const unsigned pixel = blockIdx.x * block + threadIdx.x;
  if (pixel >= plane) return;
  const std::size_t from = static_cast<std::size_t>(blockIdx.z) * gridDim.y + blockIdx.y;
  const std::size_t to = static_cast<std::size_t>(blockIdx.y) * s.maps + blockIdx.z;
  output[to * plane + pixel] = product[from * plane + pixel];
}

/// A convolution as one matrix product for a section of the batch: unroll the section, multiply, permute. A
/// variant says how it multiplies.
class SectionedMatmul : public DeviceConvolution {
 public:
  /// `section` images are unrolled at once; at most 65535.
  explicit SectionedMatmul(std::size_t section) : section_(section) {}

 protected:
  void allocate(const float* /*host_mask*/) override {
    const std::size_t images = std::min(section_, shape().batch);
    unrolled_ = cuda::DeviceBuffer<float>(images * shape().plane_size() * shape().taps());
    product_ = cuda::DeviceBuffer<float>(images * shape().out_image_size());
  }

  void launch() override {
    for (std::size_t first = 0; first < shape().batch; first += section_) {
      convolve_section(first, std::min(section_, shape().batch - first));
    }
  }

  void release() override {
    unrolled_ = {};
    product_ = {};
  }

  /// Launches the product of the masks [M][C K K] and `unrolled` [C K K][columns] into `product`
  /// [M][columns].
  virtual void multiply(const float* unrolled, float* product, std::size_t columns) = 0;

 private:
  void convolve_section(std::size_t first, std::size_t images) {
    const Shape& s = shape();
    const std::size_t columns = images * s.plane_size();
    unroll_section(s, images, input() + first * s.image_size(), unrolled_.data(),
                   {.tap_stride = columns, .image_stride = s.plane_size()});
    multiply(unrolled_.data(), product_.data(), columns);
    const dim3 grid(static_cast<unsigned>(blocks_for(s.plane_size(), permute_block)),
                    static_cast<unsigned>(images), static_cast<unsigned>(s.maps));
    permute_section<permute_block>
        <<<grid, permute_block>>>(product_.data(), output() + first * s.out_image_size(), DeviceShape(s));
  }

  std::size_t section_;
  cuda::DeviceBuffer<float> unrolled_;  ///< [C K K][section * H_out * W_out]
  cuda::DeviceBuffer<float> product_;   ///< [M][section * H_out * W_out]
};

}  // namespace mprof::conv
