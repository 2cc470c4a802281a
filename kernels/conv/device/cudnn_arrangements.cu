// SPDX-License-Identifier: MIT
#if __has_include(<cudnn.h>)

#include <algorithm>

#include <cuda_fp16.h>

#include "cuda/handles.hpp"
#include "kernels/conv/device/cudnn_arrangements.hpp"

namespace mprof::conv::cudnn {
namespace {

std::size_t bytes_of(cudnnDataType_t type) {
  return type == CUDNN_DATA_HALF ? sizeof(__half) : sizeof(float);
}

/// Whether cuDNN can use the op's own tensor, of FP32 planes.
bool is_own(const Side& side, std::size_t channels) {
  return side.type == CUDNN_DATA_FLOAT && side.channels == channels &&
         (side.layout == CUDNN_TENSOR_NCHW || channels == 1);
}

std::string name_of(const Side& side) {
  return std::string(side.layout == CUDNN_TENSOR_NHWC ? "NHWC" : "NCHW") +
         (side.type == CUDNN_DATA_HALF ? " FP16" : " FP32") + " of " + std::to_string(side.channels) +
         " channels";
}

}  // namespace

std::string name_of(const Arrangement& a) {
  return name_of(a.input) + " to " + name_of(a.output) + ", " + std::to_string(a.images) + " images a call";
}

StagedBytes::StagedBytes(const Shape& s, const Arrangement& a)
    : input(is_own(a.input, s.channels) ? 0 : bytes_of(a.input.type) * a.input.channels * s.height * s.width),
      output(is_own(a.output, s.maps) ? 0 : bytes_of(a.output.type) * a.output.channels * s.plane_size()) {}

std::vector<Arrangement> arrangements(const Shape& s, Math math) {
  constexpr std::size_t vector = 8;  // halves that an engine may want to load at once
  const auto filled = [](std::size_t channels) {
    const std::size_t full = (channels + vector - 1) / vector * vector;
    return full <= 2 * channels ? full : channels;
  };
  std::vector<Arrangement> all;
  const auto add = [&](cudnnDataType_t from, cudnnTensorFormat_t from_layout, cudnnDataType_t to,
                       cudnnTensorFormat_t to_layout) {
    all.push_back({{from, from_layout, s.channels}, {to, to_layout, s.maps}, s.batch});
  };
  if (math == Math::fp16) {
    add(CUDNN_DATA_HALF, CUDNN_TENSOR_NHWC, CUDNN_DATA_HALF, CUDNN_TENSOR_NHWC);
    add(CUDNN_DATA_HALF, CUDNN_TENSOR_NHWC, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW);
    add(CUDNN_DATA_HALF, CUDNN_TENSOR_NHWC, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NHWC);
    if (filled(s.channels) != s.channels) {
      const Side input{CUDNN_DATA_HALF, CUDNN_TENSOR_NHWC, filled(s.channels)};
      all.push_back({input, {CUDNN_DATA_HALF, CUDNN_TENSOR_NHWC, filled(s.maps)}, s.batch});
      all.push_back({input, {CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, s.maps}, s.batch});
    }
    add(CUDNN_DATA_HALF, CUDNN_TENSOR_NCHW, CUDNN_DATA_HALF, CUDNN_TENSOR_NCHW);
    add(CUDNN_DATA_HALF, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW);
  }
  add(CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW);
  add(CUDNN_DATA_FLOAT, CUDNN_TENSOR_NHWC, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NHWC);
  add(CUDNN_DATA_FLOAT, CUDNN_TENSOR_NHWC, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW);
  return all;
}

std::vector<Arrangement> in_sections(const Shape& s, const Arrangement& whole) {
  constexpr std::size_t most_sections = 200;
  constexpr std::size_t step = 4;  // images whose tensors begin at addresses that 16 divides
  const StagedBytes staged(s, whole);
  if (staged.sum() == 0) return {};
  int device = 0;
  int cache_bytes = 0;
  cuda::check(cudaGetDevice(&device));
  cuda::check(cudaDeviceGetAttribute(&cache_bytes, cudaDevAttrL2CacheSize, device));
  std::vector<Arrangement> found;
  for (const std::size_t share : {2, 4}) {
    const std::size_t room = static_cast<std::size_t>(cache_bytes) / share;
    for (std::size_t sections = 2; sections <= std::min(most_sections, s.batch); ++sections) {
      const std::size_t images = s.batch / sections;
      if (s.batch % sections != 0 || images % step != 0) continue;
      if (images * staged.sum() > room) continue;
      if (found.empty() || found.back().images != images)
        found.push_back({whole.input, whole.output, images});
      break;
    }
  }
  return found;
}

}  // namespace mprof::conv::cudnn

#endif
