// SPDX-License-Identifier: MIT
// The product by the vendor's library, called as its documentation says to.
//
// Idea        im2col as in unroll_matmul, and cuBLAS for the product. cublasSgemmStridedBatched makes one
//             product for each image, [M][C K K] x [C K K][H_out W_out], whose result is the image's output
//             in NCHW order: with a matrix for each image there is nothing to permute, which saves reading
//             and writing the output once more. (One wide product for a section, as unroll_matmul has it,
//             would need that.) The handle, its math mode and its workspace are made once, in the
//             constructor: cublasCreate takes longer than the product. Sections are unroll_matmul's, of 1000
//             images.
//
// Cost        The unrolled matrix still goes through DRAM twice, 25 GB in layer 1, and no product can be
//             faster than reading it. cuBLAS's kernels are made for products with large sides; of a tile of
//             32 or more maps they use 4 or 16.
//
// The profile should show
//             im2col_section at the DRAM's limit with about half of the op's time, cuBLAS's kernel with the
//             other half, no permute_section. math=tf32 moves the multiplication to tensor cores, and gains
//             only where the product, not the matrix's traffic, was what took the time.
#include <algorithm>
#include <optional>
#include <string>

#include <cublas_v2.h>

#include "cuda/shared_library.hpp"
#include "kernels/conv/device/device_convolution.hpp"
#include "kernels/conv/device/im2col.cuh"
#include "system/error.hpp"

namespace mprof::conv {
namespace {

constexpr std::size_t section = 1000;                                   // unroll_matmul's default
constexpr std::size_t workspace_bytes = 32 * std::size_t{1024} * 1024;  ///< what cuBLAS asks for on Hopper

const cuda::SharedLibrary& cublas_library() {
  static const cuda::SharedLibrary library(
      cuda::toolkit_paths("libcublas.so." + std::to_string(CUBLAS_VER_MAJOR)));
  return library;
}

/// The functions of the library that this file calls.
struct Cublas {
  decltype(cublasCreate_v2)* create;
  decltype(cublasDestroy_v2)* destroy;
  decltype(cublasSetWorkspace_v2)* set_workspace;
  decltype(cublasSetMathMode)* set_math_mode;
  decltype(cublasSgemmStridedBatched)* sgemm_strided_batched;
  decltype(cublasGetStatusString)* status_string;

  explicit Cublas(const cuda::SharedLibrary& library) {
    library.import(create, "cublasCreate_v2");
    library.import(destroy, "cublasDestroy_v2");
    library.import(set_workspace, "cublasSetWorkspace_v2");
    library.import(set_math_mode, "cublasSetMathMode");
    library.import(sgemm_strided_batched, "cublasSgemmStridedBatched");
    library.import(status_string, "cublasGetStatusString");
  }
};

const Cublas& cublas() {
  static const Cublas functions(cublas_library());
  return functions;
}

void check(cublasStatus_t status, const std::string& what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(ExitCode::fault,
              "conv/cublas: " + what + " failed: " + cublas().status_string(status) +
                  ". With CUBLAS_LOGINFO_DBG=1 and CUBLAS_LOGDEST_DBG=stderr in the environment, cuBLAS says "
                  "more.");
}

std::optional<std::string> unavailable() {
  if (cublas_library().loaded()) return std::nullopt;
  return "cuBLAS was not found (" + cublas_library().error() +
         "). Install the CUDA toolkit's libcublas, or add its folder to LD_LIBRARY_PATH.";
}

std::string version() {
  using GetProperty = decltype(cublasGetProperty);
  auto* const get = reinterpret_cast<GetProperty*>(cublas_library().find("cublasGetProperty"));
  if (get == nullptr) return "not found";
  std::string text;
  for (const libraryPropertyType part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
    int value = 0;
    get(part, &value);
    if (!text.empty()) text += '.';
    text += std::to_string(value);
  }
  return text;
}

/// A cuBLAS handle with a workspace, for the default stream.
class Handle {
 public:
  explicit Handle(cublasMath_t math) {
    check(cublas().create(&handle_), "cublasCreate");
    check(cublas().set_workspace(handle_, workspace_.data(), workspace_.bytes()), "cublasSetWorkspace");
    check(cublas().set_math_mode(handle_, math), "cublasSetMathMode");
  }
  ~Handle() { cublas().destroy(handle_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  [[nodiscard]] cublasHandle_t get() const { return handle_; }

 private:
  cuda::DeviceBuffer<std::byte> workspace_{workspace_bytes};
  cublasHandle_t handle_ = nullptr;
};

class CublasConvolution final : public DeviceConvolution {
 public:
  explicit CublasConvolution(cublasMath_t math) : handle_(math) {}

 protected:
  void allocate(const float* /*host_mask*/) override {
    unrolled_ = cuda::DeviceBuffer<float>(std::min(section, shape().batch) * matrix_size());
  }

  void launch() override {
    const Shape& s = shape();
    for (std::size_t first = 0; first < s.batch; first += section) {
      const std::size_t images = std::min(section, s.batch - first);
      unroll_section(s, images, input() + first * s.image_size(), unrolled_.data(),
                     {.tap_stride = s.plane_size(), .image_stride = matrix_size()});
      multiply(images, output() + first * s.out_image_size());
    }
  }

  void release() override { unrolled_ = {}; }

 private:
  /// Elements of one image's unrolled matrix.
  [[nodiscard]] std::size_t matrix_size() const { return shape().taps() * shape().plane_size(); }

  /// cuBLAS counts columns first: to it, our row-major matrices are their own transposes, and
  /// output = masks x unrolled reads output^T [H_out W_out][M] = unrolled^T x masks^T.
  void multiply(std::size_t images, float* to) {
    const auto pixels = static_cast<int>(shape().plane_size());
    const auto maps = static_cast<int>(shape().maps);
    const auto taps = static_cast<int>(shape().taps());
    const float one = 1;
    const float zero = 0;
    check(cublas().sgemm_strided_batched(
              handle_.get(), CUBLAS_OP_N, CUBLAS_OP_N, pixels, maps, taps, &one, unrolled_.data(), pixels,
              static_cast<long long>(matrix_size()), mask(), taps, 0, &zero, to, pixels,
              static_cast<long long>(shape().out_image_size()), static_cast<int>(images)),
          "cublasSgemmStridedBatched");
  }

  Handle handle_;
  cuda::DeviceBuffer<float> unrolled_;  ///< [section][C K K][H_out W_out]
};

const Register registered{Declaration{
    .title = "im2col and cuBLAS",
    .idea = "Unroll the input, section by section, and let cuBLAS multiply it with the masks, a product for "
            "each image, which comes out in NCHW order.",
    .device = "cuda",
    .baseline = "conv/unroll_matmul",
    .parameters = {{.name = "math",
                    .meaning = "what cuBLAS may multiply with",
                    .default_value = "fp32",
                    .values = {"fp32", "tf32"}}},
    .expectations =
        {{.metric = "op_time",
          .direction = Direction::decreases,
          .factor = 1.5,
          .because =
              "cuBLAS tiles in registers and does not wait for shared memory, and nothing is permuted."},
         {.metric = "dram__bytes.sum",
          .op = "layer1",
          .direction = Direction::decreases,
          .because = "The output is written once instead of written, read and written again; the unrolled "
                     "matrix is the same."}},
    .references = {"NVIDIA: cuBLAS, cublas<t>gemmStridedBatched, https://docs.nvidia.com/cuda/cublas/",
                   "K. Chellapilla, S. Puri, P. Simard: High Performance Convolutional Neural Networks for "
                   "Document Processing, IWFHR 2006"},
    .unavailable = unavailable,
    .tolerance_of =
        [](const Parameters& parameters) {
          return parameters.at("math") == "fp32" ? 1e-5 : 2e-3;  // TF32 keeps 10 bits of a factor's mantissa
        },
    .libraries = {{"cuBLAS", version}},
    .make =
        [](const Parameters& parameters) {
          return std::make_unique<CublasConvolution>(
              parameters.at("math") == "tf32" ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_DEFAULT_MATH);
        },
}};

}  // namespace
}  // namespace mprof::conv
