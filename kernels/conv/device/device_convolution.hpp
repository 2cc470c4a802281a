// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/fill.hpp"
#include "cuda/handles.hpp"
#include "kernels/conv/lenet/variant.hpp"

namespace mprof::conv {

/// A convolution on a GPU in the plain way. In prepare() it allocates device memory and copies the input and
/// the mask there. In forward() it launches kernels on the default stream and does not wait for them. In
/// finish() it copies the result back and frees. A variant says what it launches.
class DeviceConvolution : public Convolution {
 public:
  void prepare(const Shape& shape, const float* input, const float* mask, float* output) override {
    shape_ = shape;
    host_output_ = output;
    input_ = cuda::DeviceBuffer<float>(shape.input_size());
    mask_ = cuda::DeviceBuffer<float>(shape.mask_size());
    output_ = cuda::DeviceBuffer<float>(shape.output_size());
    cuda::check(cudaMemcpy(input_.data(), input, input_.bytes(), cudaMemcpyHostToDevice));
    cuda::check(cudaMemcpy(mask_.data(), mask, mask_.bytes(), cudaMemcpyHostToDevice));
    allocate(mask);
  }

  void forward() override {
    launch();
    cuda::check_launch();
  }

  void finish() override {
    cuda::check(cudaMemcpy(host_output_, output_.data(), output_.bytes(), cudaMemcpyDeviceToHost));
    release();
    input_ = {};
    mask_ = {};
    output_ = {};
  }

  void poison_output(std::uint32_t pattern) override { cuda::fill(output_.data(), output_.size(), pattern); }

 protected:
  /// What else the variant needs in device or constant memory, before forward(). `host_mask` is [M][C][K][K]
  /// on the host.
  virtual void allocate(const float* /*host_mask*/) {}
  /// Launches all kernels of the convolution, on the default stream, from input() and mask() to output().
  virtual void launch() = 0;
  /// Frees what allocate() took.
  virtual void release() {}

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] const float* input() const { return input_.data(); }  ///< [B][C][H][W], device memory
  [[nodiscard]] const float* mask() const { return mask_.data(); }    ///< [M][C][K][K], device memory
  [[nodiscard]] float* output() const { return output_.data(); }      ///< [B][M][H_out][W_out], device memory

 private:
  Shape shape_;
  float* host_output_ = nullptr;
  cuda::DeviceBuffer<float> input_;
  cuda::DeviceBuffer<float> mask_;
  cuda::DeviceBuffer<float> output_;
};

}  // namespace mprof::conv
