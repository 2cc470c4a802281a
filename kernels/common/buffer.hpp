// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>

#include "kernels/common/parallel.hpp"

namespace mprof {

/// Floats whose pages are in memory: they are written once here, so that no later write pays for a page
/// fault.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t size) : values_(std::make_unique_for_overwrite<float[]>(size)), size_(size) {
    fill(0.0F);
  }

  void fill(float value) {
    parallel_for(size_, hardware_threads(), [&](std::size_t begin, std::size_t end) {
      std::fill(values_.get() + begin, values_.get() + end, value);
    });
  }

  [[nodiscard]] float* data() { return values_.get(); }
  [[nodiscard]] const float* data() const { return values_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<float> span() { return {values_.get(), size_}; }
  [[nodiscard]] std::span<const float> span() const { return {values_.get(), size_}; }

 private:
  std::unique_ptr<float[]> values_;
  std::size_t size_ = 0;
};

}  // namespace mprof
