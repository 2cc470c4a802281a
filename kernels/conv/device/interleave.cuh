// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include <cuda_fp16.h>

#include "kernels/common/device/blocks.hpp"
#include "kernels/conv/device/divisor.cuh"

/// Between FP32 planes, [images][channels][plane], and pixels of interleaved channels,
/// [images][plane][padded], of float or half: what NCHW and NHWC are to a library. Channels between
/// `channels` and `padded` are 0, and are dropped on the way back.
namespace mprof::conv {

inline constexpr unsigned interleave_block = 256;

/// What one access moves.
template <class T, unsigned count>
struct alignas(sizeof(T) * count) Packed {
  T values[count];
};

template <class T>
[[nodiscard]] __device__ T from_float(float value);
template <>
[[nodiscard]] __device__ inline float from_float<float>(float value) {
  return value;
}
template <>
[[nodiscard]] __device__ inline __half from_float<__half>(float value) {
  return __float2half_rn(value);
}
[[nodiscard]] __device__ inline float as_float(float value) {
  return value;
}
[[nodiscard]] __device__ inline float as_float(__half value) {
  return __half2float(value);
}

/// The pixels of all images, and how many channels they have on either side.
struct Interleaving {
  unsigned pixels;  ///< of all images
  unsigned plane;   ///< pixels of one
  Divisor by_plane;
  unsigned channels;
  unsigned padded;

  /// Where the plane of channel 0 has the pixel `i` of all.
  [[nodiscard]] __device__ std::size_t in_planes(unsigned i) const {
    const unsigned image = by_plane.quotient(i);
    return static_cast<std::size_t>(image) * channels * plane + (i - image * plane);
  }
  [[nodiscard]] __device__ std::size_t interleaved(unsigned i) const {
    return static_cast<std::size_t>(i) * padded;
  }
};

/// A thread has all channels of a pixel. Neighbouring threads have neighbouring pixels, so that a warp reads
/// 128 bytes of each plane in a row, and writes, `vector` channels an access, what lies in one piece.
template <class T, unsigned vector, unsigned block>
__global__ void __launch_bounds__(block)
    interleave(const float* __restrict__ planes, T* __restrict__ interleaved, Interleaving sizes) {
  const unsigned i = blockIdx.x * block + threadIdx.x;
  if (i >= sizes.pixels) return;
  const float* from = planes + sizes.in_planes(i);
  T* to = interleaved + sizes.interleaved(i);
#pragma unroll 2
  for (unsigned first = 0; first < sizes.padded; first += vector) {
    Packed<T, vector> packed;
#pragma unroll
    for (unsigned v = 0; v < vector; ++v) {
      const unsigned c = first + v;
      packed.values[v] =
          from_float<T>(c < sizes.channels ? from[static_cast<std::size_t>(c) * sizes.plane] : 0.0F);
    }
    *reinterpret_cast<Packed<T, vector>*>(to + first) = packed;
  }
}

/// The way back, in the same steps.
template <class T, unsigned vector, unsigned block>
__global__ void __launch_bounds__(block)
    separate(const T* __restrict__ interleaved, float* __restrict__ planes, Interleaving sizes) {
  const unsigned i = blockIdx.x * block + threadIdx.x;
  if (i >= sizes.pixels) return;
  const T* from = interleaved + sizes.interleaved(i);
  float* to = planes + sizes.in_planes(i);
#pragma unroll 2
  for (unsigned first = 0; first < sizes.padded; first += vector) {
    const auto packed = *reinterpret_cast<const Packed<T, vector>*>(from + first);
#pragma unroll
    for (unsigned v = 0; v < vector; ++v) {
      const unsigned c = first + v;
      if (c < sizes.channels) to[static_cast<std::size_t>(c) * sizes.plane] = as_float(packed.values[v]);
    }
  }
}

/// Calls `launch` for as many images at once as Divisor can divide, with the number of images before them and
/// a constant. The constant is the most elements of T that one access of up to 16 bytes can take of a pixel's
/// channels.
template <class T, class Launch>
void launch_by_pixels(std::size_t images, std::size_t plane, std::size_t channels, std::size_t padded,
                      const Launch& launch) {
  const std::size_t step = ((std::size_t{1} << 31U) - 1) / plane;
  for (std::size_t first = 0; first < images; first += step) {
    const Interleaving sizes{static_cast<unsigned>(std::min(step, images - first) * plane),
                             static_cast<unsigned>(plane), Divisor(static_cast<unsigned>(plane)),
                             static_cast<unsigned>(channels), static_cast<unsigned>(padded)};
    constexpr unsigned widest = 16 / sizeof(T);
    if (padded % widest == 0) {
      launch(first, sizes, std::integral_constant<unsigned, widest>{});
    } else if (padded % 4 == 0) {
      launch(first, sizes, std::integral_constant<unsigned, 4>{});
    } else {
      launch(first, sizes, std::integral_constant<unsigned, 1>{});
    }
  }
}

/// Launches interleave() for `images` images.
template <class T>
void interleave_images(const float* planes, T* interleaved, std::size_t images, std::size_t plane,
                       std::size_t channels, std::size_t padded) {
  launch_by_pixels<T>(images, plane, channels, padded,
                      [&](std::size_t first, const Interleaving& sizes, auto vector) {
                        const auto blocks = static_cast<unsigned>(blocks_for(sizes.pixels, interleave_block));
                        interleave<T, vector(), interleave_block><<<blocks, interleave_block>>>(
                            planes + first * plane * channels, interleaved + first * plane * padded, sizes);
                      });
}

/// Launches separate() for `images` images.
template <class T>
void separate_images(const T* interleaved, float* planes, std::size_t images, std::size_t plane,
                     std::size_t channels, std::size_t padded) {
  launch_by_pixels<T>(images, plane, channels, padded,
                      [&](std::size_t first, const Interleaving& sizes, auto vector) {
                        const auto blocks = static_cast<unsigned>(blocks_for(sizes.pixels, interleave_block));
                        separate<T, vector(), interleave_block><<<blocks, interleave_block>>>(
                            interleaved + first * plane * padded, planes + first * plane * channels, sizes);
                      });
}

}  // namespace mprof::conv
