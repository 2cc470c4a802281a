// SPDX-License-Identifier: MIT
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cuda/ceiling_timing.hpp"
#include "cuda/ceilings.hpp"
#include "cuda/gpu.hpp"
#include "cuda/handles.hpp"
#include "cuda/tensor_ceilings.hpp"

namespace mprof::cuda {
namespace {

constexpr unsigned block = 256;
constexpr double gibi = 1 << 30;

/// Sixteen bytes a thread, neighbours side by side: as much of the bandwidth as a copy can have. With fewer
/// threads, which loop over the arrays, it is 7 % less (H200: 3.97 TB/s, here 4.27).
__global__ void copy_vectors(const float4* from, float4* to, std::size_t count) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) to[i] = from[i];
}

constexpr unsigned chains =
    8;  // independent, since a multiply-add takes four cycles and each cycle starts one
constexpr unsigned links = 4096;

__global__ void fma_chains(float* result, float factor, float term) {
  float x[chains];
#pragma unroll
  for (unsigned i = 0; i < chains; ++i) x[i] = static_cast<float>(threadIdx.x + i);
#pragma unroll 16
  for (unsigned n = 0; n < links; ++n) {
#pragma unroll
    for (unsigned i = 0; i < chains; ++i) x[i] = fmaf(x[i], factor, term);
  }
  float sum = 0;
#pragma unroll
  for (unsigned i = 0; i < chains; ++i) sum += x[i];
  if (sum == -1.0F) result[threadIdx.x] = sum;  // never, but the compiler cannot know
}

constexpr unsigned special_links = 512;

/// Each link is two evaluations that only the special-function units make, the second the inverse of the
/// first, so that values stay what they are.
__global__ void special_chains(float* result) {
  float x[chains];
#pragma unroll
  for (unsigned i = 0; i < chains; ++i) x[i] = 1.0F + static_cast<float>((threadIdx.x + i) % 16) / 16.0F;
#pragma unroll 8
  for (unsigned n = 0; n < special_links; ++n) {
#pragma unroll
    for (unsigned i = 0; i < chains; ++i) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x[i]));
#pragma unroll
    for (unsigned i = 0; i < chains; ++i) asm volatile("lg2.approx.ftz.f32 %0, %0;" : "+f"(x[i]));
  }
  float sum = 0;
#pragma unroll
  for (unsigned i = 0; i < chains; ++i) sum += x[i];
  if (sum == -1.0F) result[threadIdx.x] = sum;  // never, but the compiler cannot know
}

Ceiling ceiling(std::string id, std::string method, const std::function<double()>& measure) {
  Ceiling result{
      .id = std::move(id), .device = "cuda", .value = {}, .absent = {}, .method = std::move(method)};
  try {
    result.value = measure();
  } catch (const std::exception& error) {
    result.absent = error.what();
    cudaGetLastError();  // what failed here is no error of the next measurement
  }
  return result;
}

unsigned multiprocessors() {
  return static_cast<unsigned>(gpu().multiProcessorCount);
}

/// Elements for an array of `bytes`, or of an eighth of the free memory where that is less.
template <class T>
std::size_t elements_of(double bytes) {
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total));
  return static_cast<std::size_t>(std::min(bytes, static_cast<double>(free) / 8)) / sizeof(T);
}

double memory_bandwidth(double seconds) {
  const std::size_t count = elements_of<float4>(2 * gibi);
  const DeviceBuffer<float4> from(count);
  const DeviceBuffer<float4> to(count);
  check(cudaMemset(from.data(), 0, from.bytes()));
  const double by_kernel = shortest(seconds / 2, [&] {
    copy_vectors<<<static_cast<unsigned>((count + block - 1) / block), block>>>(from.data(), to.data(),
                                                                                count);
    check_launch();
  });
  const double by_driver = shortest(seconds / 2, [&] {
    check(cudaMemcpyAsync(to.data(), from.data(), from.bytes(), cudaMemcpyDeviceToDevice));
  });
  return static_cast<double>(from.bytes() + to.bytes()) / std::min(by_kernel, by_driver);
}

double fp32_flop_rate(double seconds) {
  const unsigned blocks = multiprocessors() * 32;
  const DeviceBuffer<float> result(block);
  const double time = shortest(seconds, [&] {
    fma_chains<<<blocks, block>>>(result.data(), 0.5F, 1.0F);
    check_launch();
  });
  return 2.0 * chains * links * block * blocks / time;
}

double special_function_rate(double seconds) {
  const unsigned blocks = multiprocessors() * 32;
  const DeviceBuffer<float> result(block);
  const double time = shortest(seconds, [&] {
    special_chains<<<blocks, block>>>(result.data());
    check_launch();
  });
  return 2.0 * chains * special_links * block * blocks / time;
}

double copy_bandwidth(double seconds, void* host, std::size_t bytes, cudaMemcpyKind kind) {
  const DeviceBuffer<char> device(bytes);
  check(cudaMemset(device.data(), 0, bytes));
  const double time = shortest(seconds, [&] {
    const bool in = kind == cudaMemcpyHostToDevice;
    check(cudaMemcpy(in ? device.data() : host, in ? host : device.data(), bytes, kind));
  });
  return static_cast<double>(bytes) / time;
}

}  // namespace

std::vector<Ceiling> measure_ceilings(double seconds) {
  constexpr std::size_t copied = std::size_t{256} << 20;
  const double share = seconds / 9;
  std::vector<Ceiling> ceilings;
  ceilings.push_back(ceiling(
      "fp32_flop_rate", "independent chains of FFMA on every multiprocessor; shortest of several launches",
      [&] { return fp32_flop_rate(share); }));
  ceilings.push_back(ceiling("special_function_rate",
                             "independent chains of exponentials and logarithms (MUFU) on every "
                             "multiprocessor; shortest of several launches",
                             [&] { return special_function_rate(share); }));
  ceilings.push_back(ceiling("tf32_tensor_flop_rate",
                             "the faster of independent chains of mma.sync (TF32, FP32 sums) on every "
                             "multiprocessor and a product of large matrices by cuBLAS, both of one constant "
                             "value; shortest of several launches",
                             [&] { return tf32_tensor_flop_rate(share); }));
  ceilings.push_back(ceiling("fp16_tensor_flop_rate",
                             "the faster of independent chains of mma.sync (FP16, FP32 sums) on every "
                             "multiprocessor and a product of large matrices by cuBLAS, both of one constant "
                             "value; shortest of several launches",
                             [&] { return fp16_tensor_flop_rate(share); }));
  ceilings.push_back(ceiling("memory_bandwidth",
                             "the faster of a kernel and cudaMemcpy that copy 2 GiB within the device, bytes "
                             "read and written counted; shortest of several",
                             [&] { return memory_bandwidth(share); }));
  for (const std::string memory : {"pinned", "pageable"}) {
    for (const cudaMemcpyKind kind : {cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost}) {
      const std::string way = kind == cudaMemcpyHostToDevice ? "host_to_device" : "device_to_host";
      const auto measure = [&] {
        if (memory == "pinned") {
          const PinnedBuffer<char> host(copied);
          std::fill_n(host.data(), copied, '\0');
          return copy_bandwidth(share, host.data(), copied, kind);
        }
        const auto host = std::make_unique<char[]>(copied);
        return copy_bandwidth(share, host.get(), copied, kind);
      };
      ceilings.push_back(ceiling(memory + "_" + way + "_bandwidth",
                                 "cudaMemcpy of 256 MiB, " + memory + " host memory; shortest of several",
                                 measure));
    }
  }
  return ceilings;
}

}  // namespace mprof::cuda
