// The definition: a thread computes one element of C, a sum over a row of A and a column of B, all of it read
// from global memory.
#include <mprof/cuda.hpp>

namespace {

__global__ void product(const float* a, const float* b, float* c, unsigned n) {
  const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || column >= n) return;
  float sum = 0;
  for (unsigned k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

class Product final : public mprof::plugin::DeviceOp {
  void launch() override {
    const auto n = static_cast<unsigned>(size("size"));
    const dim3 block(16, 16);
    const dim3 grid((n + block.x - 1) / block.x, (n + block.y - 1) / block.y);
    product<<<grid, block>>>(input(0), input(1), output(), n);
  }
};

}  // namespace

MPROF_VARIANT(
        .family = "@NAME@", .title = "A thread an element",
        .idea = "Each thread reads its row and its column.", .device = "cuda",
        .make = [](const mprof::plugin::Parameters&) { return std::make_unique<Product>(); })
