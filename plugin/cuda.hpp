// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cuda_runtime.h>
#include <mprof/variant.hpp>

/// What variants for a GPU need on their side of the C boundary.
namespace mprof::plugin {

/// Throws what CUDA says, with the line that asked.
inline void check(cudaError_t result, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (result == cudaSuccess) return;
  throw std::runtime_error(std::string(file) + ":" + std::to_string(line) +
                           ": CUDA error: " + cudaGetErrorString(result));
}

/// Floats in device memory, freed with their object.
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(std::size_t size) : size_(size) { check(cudaMalloc(&data_, size * sizeof(float))); }
  DeviceArray(DeviceArray&& other) noexcept { swap(other); }
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    swap(other);
    return *this;
  }
  ~DeviceArray() { cudaFree(data_); }

  void copy_from(const float* host) {
    check(cudaMemcpy(data_, host, size_ * sizeof(float), cudaMemcpyHostToDevice));
  }
  void copy_to(float* host) const {
    check(cudaMemcpy(host, data_, size_ * sizeof(float), cudaMemcpyDeviceToHost));
  }
  [[nodiscard]] float* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  void swap(DeviceArray& other) {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }
  float* data_ = nullptr;
  std::size_t size_ = 0;
};

static __global__ void mprof_fill(std::uint32_t* words, std::size_t count, std::uint32_t pattern) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
    words[i] = pattern;
}

/// Writes `pattern` to `count` words of device memory, and waits until it is done.
inline void fill(void* words, std::size_t count, std::uint32_t pattern) {
  constexpr unsigned blocks = 1024;
  constexpr unsigned threads = 256;
  mprof_fill<<<blocks, threads>>>(static_cast<std::uint32_t*>(words), count, pattern);
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
}

/// An op on a GPU in the plain way: prepare() copies the inputs to the device, forward() launches kernels and
/// does not wait for them, finish() copies the result back. A variant has launch().
class DeviceOp : public Op {
 public:
  void prepare(const Task& task) override {
    task_ = std::make_unique<Task>(task);
    inputs_.clear();
    for (std::size_t i = 0; i < task.inputs(); ++i) {
      inputs_.emplace_back(task.input_elements(i));
      inputs_.back().copy_from(task.input(i));
    }
    output_ = DeviceArray(task.output_elements());
  }

  void forward() override {
    launch();
    check(cudaGetLastError());
  }

  void finish() override {
    output_.copy_to(task_->output());
    inputs_.clear();
    output_ = {};
  }

  void poison_output(std::uint32_t pattern) override { fill(output_.data(), output_.size(), pattern); }

 protected:
  /// Launches all kernels, on the default stream, from input(0), input(1) and so on to output().
  virtual void launch() = 0;

  [[nodiscard]] std::size_t size(std::string_view name) const { return task_->size(name); }
  /// In device memory, as the task's are in the host's.
  [[nodiscard]] const float* input(std::size_t index) const { return inputs_[index].data(); }
  [[nodiscard]] const std::int32_t* integers(std::size_t index) const {
    return reinterpret_cast<const std::int32_t*>(input(index));
  }
  [[nodiscard]] float* output() const { return output_.data(); }

 private:
  std::unique_ptr<Task> task_;
  std::vector<DeviceArray> inputs_;
  DeviceArray output_;
};

}  // namespace mprof::plugin
