// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include <cublasLt.h>

#include "cuda/handles.hpp"

/// Products by cuBLASLt, which is opened at run time, with the fastest of the algorithms that it proposes.
namespace mprof::conv::cublaslt {

/// Why it is not there, or nullopt.
[[nodiscard]] std::optional<std::string> unavailable();
/// "13.1.0", or "not found".
[[nodiscard]] std::string version();

/// A handle or a descriptor, destroyed with its owner.
template <class Handle>
using Lent = std::unique_ptr<std::remove_pointer_t<Handle>, cublasStatus_t (*)(Handle)>;

[[nodiscard]] Lent<cublasLtHandle_t> make_handle();

/// The matrices, as we count: rows first. Steps are in elements.
struct ProductSizes {
  std::size_t images;         ///< products
  std::size_t pixels;         ///< columns of the unrolled matrix and of the product
  std::size_t maps;           ///< rows of the masks and of the product
  std::size_t taps;           ///< rows of the unrolled matrix, columns of the masks
  std::size_t unrolled_step;  ///< from one row of the unrolled matrix to the next; at least `pixels`

  bool operator==(const ProductSizes&) const = default;
};

/// "50 products of 16 x 196 and 196 x 1156".
[[nodiscard]] std::string name_of(const ProductSizes& sizes);

/// For each image the product of the masks [maps][taps], which are the same for all, and of the image's
/// unrolled matrix [taps][unrolled_step], both of one type: [maps][pixels] in FP32. All pointers are to
/// device memory; all is launched on the default stream.
class ImageProducts {
 public:
  ImageProducts(const ProductSizes& sizes, cudaDataType_t type, cublasComputeType_t compute);

  /// Runs what the heuristic proposes and keeps the fastest, unless it is known which that was before.
  /// `output_alignment` divides the address of every output that run() will be given. Throws Error(fault)
  /// where nothing can be run.
  void choose(cublasLtHandle_t handle, const void* unrolled, const void* masks, float* output,
              std::uint32_t output_alignment, const cuda::DeviceBuffer<std::byte>& workspace);

  void run(cublasLtHandle_t handle, const void* unrolled, const void* masks, float* output,
           const cuda::DeviceBuffer<std::byte>& workspace) const;

  [[nodiscard]] const ProductSizes& sizes() const { return sizes_; }

 private:
  static constexpr std::size_t most_proposals = 16;
  using Proposals = std::array<cublasLtMatmulHeuristicResult_t, most_proposals>;

  /// Fills `found` and returns how many there are.
  [[nodiscard]] std::size_t propose(cublasLtHandle_t handle, std::uint32_t output_alignment,
                                    std::size_t workspace_bytes, Proposals& found) const;
  [[nodiscard]] cublasStatus_t multiply(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t& algorithm,
                                        const void* unrolled, const void* masks, float* output,
                                        const cuda::DeviceBuffer<std::byte>& workspace) const;
  [[nodiscard]] double time(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t& algorithm,
                            const void* unrolled, const void* masks, float* output,
                            const cuda::DeviceBuffer<std::byte>& workspace, double least) const;

  ProductSizes sizes_;
  Lent<cublasLtMatmulDesc_t> operation_;
  Lent<cublasLtMatrixLayout_t> unrolled_;
  Lent<cublasLtMatrixLayout_t> masks_;
  Lent<cublasLtMatrixLayout_t> output_;
  cublasLtMatmulAlgo_t algorithm_{};
};

}  // namespace mprof::conv::cublaslt
