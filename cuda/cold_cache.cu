// SPDX-License-Identifier: MIT
#include "cuda/check.hpp"
#include "cuda/cold_cache.hpp"
#include "cuda/driver.hpp"
#include "cuda/gpu.hpp"
#include "cuda/handles.hpp"

namespace mprof::cuda {
namespace {

constexpr unsigned block = 256;
constexpr unsigned blocks_per_multiprocessor = 8;
constexpr unsigned warp = 32;
constexpr unsigned warps_that_fetch = 4;  ///< of an SM, one for each of its schedulers

/// Adds all words, which are 0: the sum is written nowhere, and the compiler does not know that.
__global__ void read_beyond_cache(const uint4* words, std::size_t count, unsigned* sum) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  unsigned part = 0;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step) {
    const uint4 word = words[i];
    part += word.x + word.y + word.z + word.w;
  }
  if (part != 0) *sum = part;
}

#define MPROF_4_TIMES(code) code code code code

/// 256 KiB of code that each SM runs through once: its instruction caches hold 128 KiB at the most (Z. Jia
/// and others: Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking, 2018), and then nothing
/// but this. Launched with a zero, so that nothing is written, which the compiler does not know.
__global__ void run_beyond_instruction_cache(float factor, unsigned* sum) {
  float value = factor;
  MPROF_4_TIMES(MPROF_4_TIMES(MPROF_4_TIMES(
      MPROF_4_TIMES(MPROF_4_TIMES(MPROF_4_TIMES(MPROF_4_TIMES(asm volatile("fma.rn.f32 %0, %0, %1, %1;"
                                                                           : "+f"(value)
                                                                           : "f"(factor));)))))))
  if (value != 0) *sum = 1;
}

#undef MPROF_4_TIMES

/// What the kernels read, and how they are launched.
struct Reader {
  DeviceBuffer<uint4> words{2 * static_cast<std::size_t>(gpu().l2CacheSize) / sizeof(uint4)};
  DeviceBuffer<unsigned> sum{1};
  unsigned processors = static_cast<unsigned>(gpu().multiProcessorCount);
  unsigned grid = processors * blocks_per_multiprocessor;
  cudaFunction_t read = nullptr;
  cudaFunction_t run_code = nullptr;

  Reader() {
    check(cudaMemset(words.data(), 0, words.bytes()));
    check(cudaGetFuncBySymbol(&read, reinterpret_cast<const void*>(read_beyond_cache)));
    check(cudaGetFuncBySymbol(&run_code, reinterpret_cast<const void*>(run_beyond_instruction_cache)));
  }

  static const Reader& instance() {
    static const Reader reader;
    return reader;
  }
};

/// Lets the driver take memory away again, upon which it empties the TLBs. Where none is left to give they
/// stay as they are: a count with warm TLBs is better than none.
void renew_mappings(const Driver& d) {
  constexpr std::size_t enough_for_its_own_mapping = std::size_t{64} << 20;
  CUdeviceptr memory = 0;
  if (d.allocate(&memory, enough_for_its_own_mapping) == CUDA_SUCCESS) d.check(d.free(memory));
}

}  // namespace

void clean_cache() {
  const Reader& reader = Reader::instance();
  read_beyond_cache<<<reader.grid, block>>>(reader.words.data(), reader.words.size(), reader.sum.data());
  check_launch();
}

void start_cold_in_callback() {
  const Reader& reader = Reader::instance();
  const Driver& d = driver();
  const auto launch = [&](cudaFunction_t function, unsigned grid, unsigned threads, void** arguments) {
    d.check(d.launch_kernel(function, grid, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr));
  };
  d.check(d.synchronize_context());
  renew_mappings(d);
  float factor = 0;
  unsigned* sum = reader.sum.data();
  void* of_code[] = {&factor, &sum};
  launch(reader.run_code, reader.processors, warps_that_fetch * warp, of_code);
  const uint4* words = reader.words.data();
  std::size_t count = reader.words.size();
  void* of_read[] = {&words, &count, &sum};
  launch(reader.read, reader.grid, block, of_read);
  d.check(d.synchronize_context());
}

}  // namespace mprof::cuda
