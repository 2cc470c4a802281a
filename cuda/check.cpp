// SPDX-License-Identifier: MIT
#include "cuda/check.hpp"

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "system/error.hpp"

namespace mprof::cuda {
namespace {

/// What to do about an error, as far as one can say it in a sentence.
std::string_view next_step(cudaError_t result) {
  switch (result) {
    case cudaErrorMemoryAllocation:
      return " Run a smaller problem, or end what else uses the GPU (nvidia-smi lists it).";
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorIllegalInstruction:
      return " Run this case alone under compute-sanitizer, which names the kernel and the thread.";
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
      return " This build has no code for this GPU: build mprof on this machine, or set "
             "CMAKE_CUDA_ARCHITECTURES.";
    case cudaErrorInsufficientDriver:
      return " Update NVIDIA's driver: it is older than the CUDA version that mprof was built with.";
    case cudaErrorLaunchOutOfResources:
      return " The block needs more registers or shared memory than a multiprocessor has: take a smaller "
             "block or tile.";
    default:
      return "";
  }
}

/// The path as a reader of this repository knows it: without what stands before the repository's folder.
std::string_view short_path(std::string_view path) {
  for (const std::string_view folder : {"/kernels/", "/cuda/", "/collectors/", "/tests/"}) {
    if (const auto at = path.rfind(folder); at != std::string_view::npos) return path.substr(at + 1);
  }
  return path;
}

}  // namespace

void check(cudaError_t result, const char* file, int line) {
  if (result == cudaSuccess) return;
  throw Error(ExitCode::fault, fmt::format("{}:{}: CUDA error {} ({}): {}.{}", short_path(file), line,
                                           static_cast<int>(result), cudaGetErrorName(result),
                                           cudaGetErrorString(result), next_step(result)));
}

void check_launch(const char* file, int line) {
  check(cudaGetLastError(), file, line);
}

}  // namespace mprof::cuda
