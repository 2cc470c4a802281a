// SPDX-License-Identifier: MIT
#pragma once

#include <mprof/elementwise/matrix.hpp>
#include <mprof/variant.hpp>

#ifdef __CUDACC__
#include <mprof/cuda.hpp>
#endif

/// What a variant of the family elementwise needs, outside of mprof's own sources: v becomes v + sqrt(f(v) +
/// 1) for each element, `iterations` times, where f is the logarithm, the cosine, the sine or the tangent in
/// columns 0, 1, 2 and 3 modulo 4.
namespace mprof::plugin::elementwise {

using mprof::elementwise::functions;
using mprof::elementwise::Matrix;

inline Matrix matrix_of(const Task& task) {
  return {task.size("size"), static_cast<unsigned>(task.size("iterations"))};
}

/// A map that reads and writes the host's memory in place: a variant has forward() alone.
class HostMap : public Op {
 public:
  void prepare(const Task& task) override {
    matrix_ = matrix_of(task);
    input_ = task.input(0);
    output_ = task.output();
  }
  void finish() override {}

 protected:
  [[nodiscard]] const Matrix& matrix() const { return matrix_; }
  [[nodiscard]] const float* input(std::size_t row) const { return input_ + row * matrix_.size; }
  [[nodiscard]] float* output(std::size_t row) const { return output_ + row * matrix_.size; }

 private:
  Matrix matrix_;
  const float* input_ = nullptr;
  float* output_ = nullptr;
};

#ifdef __CUDACC__
/// A map on a GPU in the plain way: prepare() copies the input to the device, forward() launches kernels and
/// does not wait for them, finish() copies the result back. A variant has launch().
class DeviceMap : public DeviceOp {
 public:
  void prepare(const Task& task) override {
    matrix_ = matrix_of(task);
    DeviceOp::prepare(task);
  }

 protected:
  [[nodiscard]] const Matrix& matrix() const { return matrix_; }
  [[nodiscard]] unsigned size() const { return static_cast<unsigned>(matrix_.size); }
  [[nodiscard]] const float* input() const { return DeviceOp::input(0); }  ///< [size][size], device memory
  using DeviceOp::output;                                                  // [size][size], device memory

 private:
  Matrix matrix_;
};
#endif

}  // namespace mprof::plugin::elementwise
