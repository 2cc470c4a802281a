// SPDX-License-Identifier: MIT
#pragma once

#include <mprof/conv/shape.hpp>
#include <mprof/variant.hpp>

#ifdef __CUDACC__
#include <mprof/cuda.hpp>
#endif

/// What a variant of the family conv needs, outside of mprof's own sources: a forward convolution without
/// padding, input [B][C][H][W], mask [M][C][K][K], output [B][M][H_out][W_out].
namespace mprof::plugin::conv {

using mprof::conv::Shape;

/// The shape, from the sizes that the family gives.
inline Shape shape_of(const Task& task) {
  return {task.size("batch"), task.size("channels"), task.size("height"), task.size("width"),
          task.size("maps"),  task.size("mask"),     task.size("stride")};
}

/// A convolution that reads and writes the host's memory in place: a variant has forward() alone.
class HostConvolution : public Op {
 public:
  void prepare(const Task& task) override {
    shape_ = shape_of(task);
    input_ = task.input(0);
    mask_ = task.input(1);
    output_ = task.output();
  }
  void finish() override {}

 protected:
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] const float* mask() const { return mask_; }
  /// One image: [C][H][W] and [M][H_out][W_out].
  [[nodiscard]] const float* input(std::size_t image) const { return input_ + image * shape_.image_size(); }
  [[nodiscard]] float* output(std::size_t image) const { return output_ + image * shape_.out_image_size(); }

 private:
  Shape shape_;
  const float* input_ = nullptr;
  const float* mask_ = nullptr;
  float* output_ = nullptr;
};

#ifdef __CUDACC__
/// A convolution on a GPU in the plain way. In prepare() it copies the input and the mask to the device. In
/// forward() it launches kernels and does not wait for them. In finish() it copies the result back. A variant
/// has launch().
class DeviceConvolution : public Op {
 public:
  void prepare(const Task& task) override {
    shape_ = shape_of(task);
    host_output_ = task.output();
    input_ = DeviceArray(task.input_elements(0));
    mask_ = DeviceArray(task.input_elements(1));
    output_ = DeviceArray(task.output_elements());
    input_.copy_from(task.input(0));
    mask_.copy_from(task.input(1));
    allocate(task.input(1));
  }

  void forward() override {
    launch();
    check(cudaGetLastError());
  }

  void finish() override {
    output_.copy_to(host_output_);
    release();
    input_ = {};
    mask_ = {};
    output_ = {};
  }

  void poison_output(std::uint32_t pattern) override { fill(output_.data(), output_.size(), pattern); }

 protected:
  /// What else is needed in device or constant memory, before forward(). `host_mask` is [M][C][K][K].
  virtual void allocate(const float* /*host_mask*/) {}
  /// Launches all kernels, on the default stream, from input() and mask() to output().
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
  DeviceArray input_;
  DeviceArray mask_;
  DeviceArray output_;
};
#endif

}  // namespace mprof::plugin::conv
