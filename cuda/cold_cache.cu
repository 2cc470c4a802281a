#include "cuda/check.hpp"
#include "cuda/cold_cache.hpp"
#include "cuda/driver.hpp"
#include "cuda/gpu.hpp"
#include "cuda/handles.hpp"

namespace mprof::cuda {
namespace {

constexpr unsigned block = 256;
constexpr unsigned blocks_per_multiprocessor = 8;

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

/// What the kernel reads, and how it is launched.
struct Reader {
  DeviceBuffer<uint4> words{2 * static_cast<std::size_t>(gpu().l2CacheSize) / sizeof(uint4)};
  DeviceBuffer<unsigned> sum{1};
  unsigned grid = static_cast<unsigned>(gpu().multiProcessorCount) * blocks_per_multiprocessor;
  cudaFunction_t function = nullptr;

  Reader() {
    check(cudaMemset(words.data(), 0, words.bytes()));
    check(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(read_beyond_cache)));
  }

  static const Reader& instance() {
    static const Reader reader;
    return reader;
  }
};

}  // namespace

void clean_cache() {
  const Reader& reader = Reader::instance();
  read_beyond_cache<<<reader.grid, block>>>(reader.words.data(), reader.words.size(), reader.sum.data());
  check_launch();
}

void clean_cache_in_callback() {
  const Reader& reader = Reader::instance();
  const uint4* words = reader.words.data();
  std::size_t count = reader.words.size();
  unsigned* sum = reader.sum.data();
  void* arguments[] = {&words, &count, &sum};
  const Driver& d = driver();
  d.check(d.launch_kernel(reader.function, reader.grid, 1, 1, block, 1, 1, 0, nullptr, arguments, nullptr));
  d.check(d.synchronize_context());
}

}  // namespace mprof::cuda
