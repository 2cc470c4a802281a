// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <cuda_runtime_api.h>

#include "kernels/conv/device/device_convolution.hpp"
#include "kernels/conv/lenet/shape.hpp"

namespace mprof::conv::banded {

enum class Precision : std::uint8_t {
  tf32,
  fp16,
  split_fp16,  ///< each factor the sum of two FP16 numbers, of which three of the four products are added
};

/// A convolution as a product with a banded matrix, for any images of a shape. One object serves one shape at
/// a time.
class Product {
 public:
  virtual ~Product() = default;

  /// Brings the masks, [M][C][K][K] in host memory, to the device as the kernels read them. Has done so when
  /// it returns.
  virtual void prepare(const Shape& shape, const float* host_mask) = 0;

  /// Launches the kernel for `images` images: `input` is [images][C][H][W], `output`
  /// [images][M][H_out][W_out], both in device memory. From any thread.
  virtual void launch(const float* input, std::size_t images, float* output, cudaStream_t stream) const = 0;

  /// Frees what prepare() took.
  virtual void release() = 0;
};

/// The product for the variant `id`. Throws Error(environment) on a GPU without the instructions.
[[nodiscard]] std::unique_ptr<Product> make_product(Precision precision, const std::string& id);

/// Why this machine cannot run make_wgmma_product()'s kernel, or nullopt.
[[nodiscard]] std::optional<std::string> wgmma_unavailable();

/// The same product, whose layer 2 is a kernel of wgmma, in TF32 or FP16. Throws Error(environment) where
/// wgmma_unavailable() has a reason.
[[nodiscard]] std::unique_ptr<Product> make_wgmma_product(Precision precision, const std::string& id);

/// The product of all images at once.
class BandedConvolution final : public DeviceConvolution {
 public:
  BandedConvolution(Precision precision, const std::string& id) : product_(make_product(precision, id)) {}
  explicit BandedConvolution(std::unique_ptr<Product> product) : product_(std::move(product)) {}

 protected:
  void allocate(const float* host_mask) override { product_->prepare(shape(), host_mask); }
  void launch() override { product_->launch(input(), shape().batch, output(), nullptr); }
  void release() override { product_->release(); }

 private:
  std::unique_ptr<Product> product_;
};

}  // namespace mprof::conv::banded
