// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/fill.hpp"
#include "cuda/handles.hpp"
#include "kernels/elementwise/map/variant.hpp"

namespace mprof::elementwise {

/// A map on a GPU in the plain way. In prepare() it allocates device memory and copies the input there. In
/// forward() it launches kernels on the default stream and does not wait for them. In finish() it copies the
/// result back and frees. A variant says what it launches.
class DeviceMap : public Map {
 public:
  void prepare(const Matrix& matrix, const float* input, float* output) override {
    matrix_ = matrix;
    host_output_ = output;
    input_ = cuda::DeviceBuffer<float>(matrix.elements());
    output_ = cuda::DeviceBuffer<float>(matrix.elements());
    cuda::check(cudaMemcpy(input_.data(), input, input_.bytes(), cudaMemcpyHostToDevice));
  }

  void forward() override {
    launch();
    cuda::check_launch();
  }

  void finish() override {
    cuda::check(cudaMemcpy(host_output_, output_.data(), output_.bytes(), cudaMemcpyDeviceToHost));
    input_ = {};
    output_ = {};
  }

  void poison_output(std::uint32_t pattern) override { cuda::fill(output_.data(), output_.size(), pattern); }

 protected:
  /// Launches all kernels of the map, on the default stream, from input() to output().
  virtual void launch() = 0;

  [[nodiscard]] const Matrix& matrix() const { return matrix_; }
  /// Rows and columns as kernels take them: what fits 32 bits. Whatever counts elements is std::size_t.
  [[nodiscard]] unsigned size() const { return static_cast<unsigned>(matrix_.size); }
  [[nodiscard]] const float* input() const { return input_.data(); }  ///< [size][size], device memory
  [[nodiscard]] float* output() const { return output_.data(); }      ///< [size][size], device memory

 private:
  Matrix matrix_;
  float* host_output_ = nullptr;
  cuda::DeviceBuffer<float> input_;
  cuda::DeviceBuffer<float> output_;
};

}  // namespace mprof::elementwise
