// @NAME@: say here what it does otherwise, what that should cost, and what a profile should show.
//
//   mprof run --source @FILE@          # builds it, verifies it, times it beside its baseline
#include <mprof/elementwise.hpp>

namespace {

__device__ float function_of(std::size_t column, float v) {
  switch (column % mprof::plugin::elementwise::functions) {
    case 0:
      return logf(v);
    case 1:
      return cosf(v);
    case 2:
      return sinf(v);
    default:
      return tanf(v);
  }
}

// v becomes v + sqrt(f(v) + 1), `iterations` times; f depends on the column. One thread an element.
__global__ void map(const float* input, float* output, unsigned size, unsigned iterations) {
  const std::size_t column = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::size_t row = blockIdx.y;
  if (column >= size) return;
  float v = input[row * size + column];
  for (unsigned i = 0; i < iterations; ++i) v += sqrtf(function_of(column, v) + 1.0F);
  output[row * size + column] = v;
}

class Map final : public mprof::plugin::elementwise::DeviceMap {
 protected:
  void launch() override {
    constexpr unsigned block = 256;
    map<<<dim3((size() + block - 1) / block, size()), block>>>(input(), output(), size(),
                                                               matrix().iterations);
  }
};

}  // namespace

MPROF_VARIANT(
        .family = "elementwise", .title = "@NAME@", .idea = "One thread an element.", .device = "cuda",
        .baseline = "elementwise/baseline",
        .make = [](const mprof::plugin::Parameters&) { return std::make_unique<Map>(); })
