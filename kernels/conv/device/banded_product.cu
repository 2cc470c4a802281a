// SPDX-License-Identifier: MIT
#include "kernels/conv/device/banded_product.hpp"
#include "kernels/conv/device/banded_rows.cuh"
#include "system/error.hpp"

namespace mprof::conv::banded {
namespace {

void require_compute_capability_8(const std::string& id) {
  int device = 0;
  int major = 0;
  int minor = 0;
  cuda::check(cudaGetDevice(&device));
  cuda::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  cuda::check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  if (major >= 8) return;
  throw Error(
      ExitCode::environment,
      id +
          ": its asynchronous copies and matrix instructions need a GPU of compute capability 8.0, and "
          "this one has " +
          std::to_string(major) + "." + std::to_string(minor) +
          ". Use conv/tensor_core with precision=fp16 from 7.5 on, or conv/per_layer.");
}

}  // namespace

std::unique_ptr<Product> make_product(Precision precision, const std::string& id) {
  require_compute_capability_8(id);
  switch (precision) {
    case Precision::tf32:
      return std::make_unique<LayerProduct<Precision::tf32, Layout{1, 3}, Layout{1, 4}>>();
    case Precision::fp16:
      return std::make_unique<LayerProduct<Precision::fp16, Layout{1, 3}, Layout{1, 4}>>();
    case Precision::split_fp16:
      break;
  }
  return std::make_unique<LayerProduct<Precision::split_fp16, Layout{1, 4, Stores::direct}, Layout{1, 3}>>();
}

}  // namespace mprof::conv::banded
