// SPDX-License-Identifier: MIT
// Variants that do what a kernel in development does wrong. Only the tests' worker has them:
// isolation_test.cpp holds mprof to saying of each what it is.
#include <limits>
#include <string>
#include <vector>

#include "kernels/conv/device/device_convolution.hpp"
#include "kernels/conv/device/device_shape.cuh"

namespace mprof::conv {
namespace {

constexpr unsigned block = 256;

__global__ void write_far_away(float* output) {
  output[(std::size_t{1} << 45) + threadIdx.x] = 1;
}

__global__ void never_end(volatile float* output) {
  while (output[0] != 123456.0F) {
  }
}

__global__ void write_nan(float* output, std::size_t count) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) output[i] = nanf("");
}

/// A right convolution, of the images before `end` only.
__global__ void convolve_some(const float* input, const float* mask, float* output, DeviceShape s,
                              unsigned end) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::size_t plane = static_cast<std::size_t>(s.out_height) * s.out_width;
  if (i >= end * s.maps * plane) return;
  const auto x = static_cast<unsigned>(i % s.out_width);
  const auto y = static_cast<unsigned>(i / s.out_width % s.out_height);
  const auto m = static_cast<unsigned>(i / plane % s.maps);
  const auto b = static_cast<unsigned>(i / plane / s.maps);
  float sum = 0;
  for (unsigned c = 0; c < s.channels; ++c) {
    for (unsigned p = 0; p < s.mask; ++p) {
      for (unsigned q = 0; q < s.mask; ++q) {
        sum += input[s.input(b, c, y * s.stride + p, x * s.stride + q)] * mask[s.weight(m, c, p, q)];
      }
    }
  }
  output[i] = sum;
}

class Right : public DeviceConvolution {
 protected:
  void launch() override { convolve(shape().batch); }
  void convolve(std::size_t images) {
    const std::size_t threads = images * shape().out_image_size();
    convolve_some<<<static_cast<unsigned>(blocks_for(threads, block)), block>>>(
        input(), mask(), output(), DeviceShape(shape()), static_cast<unsigned>(images));
  }
};

/// Right at batch 100, and leaves images out at 10000.
class WrongAtLarge final : public Right {
  void launch() override { convolve(shape().batch > 5000 ? shape().batch - 1 : shape().batch); }
};

// These are bad at batch 1000 and right before and after, so that the neighbours must complete.

bool is_bad(const Shape& shape) {
  return shape.batch == 1000;
}

class IllegalAccess final : public Right {
  void launch() override {
    Right::launch();
    if (is_bad(shape())) write_far_away<<<1, 32>>>(output());
  }
};

class Hang final : public Right {
  void launch() override {
    Right::launch();
    if (is_bad(shape())) never_end<<<1, 1>>>(output());
  }
};

class Nan final : public Right {
  void launch() override {
    Right::launch();
    const std::size_t count = shape().output_size();
    if (is_bad(shape()))
      write_nan<<<static_cast<unsigned>(blocks_for(count, block)), block>>>(output(), count);
  }
};

class Nothing final : public Right {
  void launch() override {
    if (!is_bad(shape())) Right::launch();
  }
};

class Greedy final : public Right {
  void allocate(const float* /*host_mask*/) override {
    if (is_bad(shape())) hoard_ = cuda::DeviceBuffer<char>(std::size_t{1} << 50);
  }
  cuda::DeviceBuffer<char> hoard_;
};

template <class Variant>
Register bad(const std::string& name) {
  static std::vector<std::string> files;  // an id is made of a file's name, which these do not have
  files.push_back("kernels/conv/test_" + name + ".cu");
  return Register(Declaration{.title = name,
                              .idea = "none",
                              .device = "cuda",
                              .baseline = "conv/baseline",
                              .make = [](const Parameters&) { return std::make_unique<Variant>(); }},
                  files.back().c_str());
}

const Register illegal_access = bad<IllegalAccess>("illegal_access");
const Register hang = bad<Hang>("hang");
const Register nan_writer = bad<Nan>("nan");
const Register nothing = bad<Nothing>("nothing");
const Register greedy = bad<Greedy>("greedy");
const Register wrong_at_large = bad<WrongAtLarge>("wrong_at_large");

}  // namespace
}  // namespace mprof::conv
