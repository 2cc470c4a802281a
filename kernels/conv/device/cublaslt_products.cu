// SPDX-License-Identifier: MIT
#include <algorithm>
#include <limits>

#include "cuda/shared_library.hpp"
#include "kernels/choices.hpp"
#include "kernels/conv/device/cublaslt_products.hpp"
#include "system/error.hpp"

namespace mprof::conv::cublaslt {
namespace {

const cuda::SharedLibrary& library() {
  static const cuda::SharedLibrary opened(
      cuda::toolkit_paths("libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR)));
  return opened;
}

/// The functions of the library that this file calls.
struct CublasLt {
  decltype(cublasLtCreate)* create;
  decltype(cublasLtDestroy)* destroy;
  decltype(cublasLtGetStatusString)* status_string;
  decltype(cublasLtMatmulDescCreate)* create_operation;
  decltype(cublasLtMatmulDescDestroy)* destroy_operation;
  decltype(cublasLtMatrixLayoutCreate)* create_layout;
  decltype(cublasLtMatrixLayoutSetAttribute)* set_layout;
  decltype(cublasLtMatrixLayoutDestroy)* destroy_layout;
  decltype(cublasLtMatmulPreferenceCreate)* create_preference;
  decltype(cublasLtMatmulPreferenceSetAttribute)* set_preference;
  decltype(cublasLtMatmulPreferenceDestroy)* destroy_preference;
  decltype(cublasLtMatmulAlgoGetHeuristic)* heuristic;
  decltype(cublasLtMatmul)* multiply;

  explicit CublasLt(const cuda::SharedLibrary& opened) {
    opened.import(create, "cublasLtCreate");
    opened.import(destroy, "cublasLtDestroy");
    opened.import(status_string, "cublasLtGetStatusString");
    opened.import(create_operation, "cublasLtMatmulDescCreate");
    opened.import(destroy_operation, "cublasLtMatmulDescDestroy");
    opened.import(create_layout, "cublasLtMatrixLayoutCreate");
    opened.import(set_layout, "cublasLtMatrixLayoutSetAttribute");
    opened.import(destroy_layout, "cublasLtMatrixLayoutDestroy");
    opened.import(create_preference, "cublasLtMatmulPreferenceCreate");
    opened.import(set_preference, "cublasLtMatmulPreferenceSetAttribute");
    opened.import(destroy_preference, "cublasLtMatmulPreferenceDestroy");
    opened.import(heuristic, "cublasLtMatmulAlgoGetHeuristic");
    opened.import(multiply, "cublasLtMatmul");
  }
};

const CublasLt& light() {
  static const CublasLt functions(library());
  return functions;
}

void check(cublasStatus_t status, const std::string& what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(ExitCode::fault, "conv/cublaslt: " + what + " failed: " + light().status_string(status) +
                                   ". With CUBLASLT_LOG_LEVEL=5 in the environment, cuBLASLt says more.");
}

Lent<cublasLtMatmulDesc_t> make_operation(cublasComputeType_t compute) {
  cublasLtMatmulDesc_t operation = nullptr;
  check(light().create_operation(&operation, compute, CUDA_R_32F), "cublasLtMatmulDescCreate");
  return {operation, light().destroy_operation};
}

Lent<cublasLtMatrixLayout_t> make_layout(cudaDataType_t type, std::size_t rows, std::size_t columns,
                                         std::size_t column_step, std::size_t images,
                                         std::size_t image_step) {
  cublasLtMatrixLayout_t layout = nullptr;
  check(light().create_layout(&layout, type, rows, columns, static_cast<std::int64_t>(column_step)),
        "cublasLtMatrixLayoutCreate");
  Lent<cublasLtMatrixLayout_t> owned(layout, light().destroy_layout);
  const auto count = static_cast<std::int32_t>(images);
  const auto step = static_cast<std::int64_t>(image_step);
  check(light().set_layout(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
        "setting the number of products");
  check(light().set_layout(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &step, sizeof step),
        "setting the distance of matrices");
  return owned;
}

}  // namespace

std::optional<std::string> unavailable() {
  if (library().loaded()) return std::nullopt;
  return "cuBLASLt was not found (" + library().error() +
         "). Install the CUDA toolkit's libcublas, or add its folder to LD_LIBRARY_PATH.";
}

std::string version() {
  auto* const get = reinterpret_cast<decltype(cublasLtGetProperty)*>(library().find("cublasLtGetProperty"));
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

Lent<cublasLtHandle_t> make_handle() {
  cublasLtHandle_t handle = nullptr;
  check(light().create(&handle), "cublasLtCreate");
  return {handle, light().destroy};
}

std::string name_of(const ProductSizes& s) {
  return std::to_string(s.images) + " products of " + std::to_string(s.maps) + " x " +
         std::to_string(s.taps) + " and " + std::to_string(s.taps) + " x " + std::to_string(s.pixels);
}

/// cuBLAS counts columns first, so that row-major matrices are their own transposes:
/// product^T [pixels][maps] = unrolled^T x masks^T.
ImageProducts::ImageProducts(const ProductSizes& sizes, cudaDataType_t type, cublasComputeType_t compute)
    : sizes_(sizes),
      operation_(make_operation(compute)),
      unrolled_(make_layout(type, sizes.pixels, sizes.taps, sizes.unrolled_step, sizes.images,
                            sizes.taps * sizes.unrolled_step)),
      masks_(make_layout(type, sizes.taps, sizes.maps, sizes.taps, sizes.images, 0)),
      output_(make_layout(CUDA_R_32F, sizes.pixels, sizes.maps, sizes.pixels, sizes.images,
                          sizes.maps * sizes.pixels)) {}

void ImageProducts::choose(cublasLtHandle_t handle, const void* unrolled, const void* masks, float* output,
                           std::uint32_t output_alignment, const cuda::DeviceBuffer<std::byte>& workspace) {
  Proposals found{};
  const std::size_t count = propose(handle, output_alignment, workspace.bytes(), found);
  const std::string problem = name_of(sizes_);
  const auto name = [&](std::size_t i) {
    return "proposal " + std::to_string(i + 1) + " of " + std::to_string(count);
  };
  const std::optional<std::string> known = choices::known(problem);
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < count; ++i) {
    const cublasLtMatmulHeuristicResult_t& proposal = found[i];
    if (proposal.state != CUBLAS_STATUS_SUCCESS) continue;
    if (known != name(i)) continue;
    constexpr double any = std::numeric_limits<double>::infinity();
    if (time(handle, proposal.algo, unrolled, masks, output, workspace, any) == any) break;
    algorithm_ = proposal.algo;
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const cublasLtMatmulHeuristicResult_t& proposal = found[i];
    if (proposal.state != CUBLAS_STATUS_SUCCESS) continue;
    const double seconds = time(handle, proposal.algo, unrolled, masks, output, workspace, least);
    if (seconds >= least) continue;
    least = seconds;
    algorithm_ = proposal.algo;
    choices::keep(problem, name(i));
  }
  if (least < std::numeric_limits<double>::infinity()) return;
  throw Error(ExitCode::fault,
              "conv/cublaslt: none of the " + std::to_string(count) +
                  " algorithms that cuBLASLt proposes multiplies matrices of these sizes. Try another value "
                  "of math, or conv/cublas.");
}

void ImageProducts::run(cublasLtHandle_t handle, const void* unrolled, const void* masks, float* output,
                        const cuda::DeviceBuffer<std::byte>& workspace) const {
  check(multiply(handle, algorithm_, unrolled, masks, output, workspace), "cublasLtMatmul");
}

std::size_t ImageProducts::propose(cublasLtHandle_t handle, std::uint32_t output_alignment,
                                   std::size_t workspace_bytes, Proposals& found) const {
  cublasLtMatmulPreference_t preference = nullptr;
  check(light().create_preference(&preference), "cublasLtMatmulPreferenceCreate");
  const Lent<cublasLtMatmulPreference_t> owned(preference, light().destroy_preference);
  const auto bytes = static_cast<std::uint64_t>(workspace_bytes);
  check(light().set_preference(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes),
        "setting the workspace");
  for (const auto attribute :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
    check(light().set_preference(preference, attribute, &output_alignment, sizeof output_alignment),
          "setting the output's alignment");
  }
  int count = 0;
  const cublasStatus_t status =
      light().heuristic(handle, operation_.get(), unrolled_.get(), masks_.get(), output_.get(), output_.get(),
                        preference, static_cast<int>(found.size()), found.data(), &count);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED) return 0;
  check(status, "cublasLtMatmulAlgoGetHeuristic");
  return static_cast<std::size_t>(count);
}

/// The epilogue stores FP32, whatever the factors' type is.
cublasStatus_t ImageProducts::multiply(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t& algorithm,
                                       const void* unrolled, const void* masks, float* output,
                                       const cuda::DeviceBuffer<std::byte>& workspace) const {
  const float one = 1;
  const float zero = 0;
  return light().multiply(handle, operation_.get(), &one, unrolled, unrolled_.get(), masks, masks_.get(),
                          &zero, output, output_.get(), output, output_.get(), &algorithm, workspace.data(),
                          workspace.bytes(), nullptr);
}

/// The shortest of a few runs, after one that warms up; infinite where it cannot be run. What is far behind
/// is not run again.
double ImageProducts::time(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t& algorithm,
                           const void* unrolled, const void* masks, float* output,
                           const cuda::DeviceBuffer<std::byte>& workspace, double least) const {
  constexpr int runs = 5;
  double shortest = std::numeric_limits<double>::infinity();
  for (int run = 0; run <= runs; ++run) {
    const cuda::Event start;
    const cuda::Event stop;
    start.record();
    const cublasStatus_t status = multiply(handle, algorithm, unrolled, masks, output, workspace);
    stop.record();
    stop.synchronize();
    if (status != CUBLAS_STATUS_SUCCESS) {
      static_cast<void>(cudaGetLastError());  // a launch that cuBLASLt gave up is no error of ours
      return std::numeric_limits<double>::infinity();
    }
    if (run == 0) continue;
    const double seconds = stop.seconds_since(start);
    shortest = std::min(shortest, seconds);
    if (seconds > 2 * least) break;
  }
  return shortest;
}

}  // namespace mprof::conv::cublaslt
