// A block of threads brings a tile of A and one of B to shared memory, and each of its threads reads both
// from there: what is read from global memory is read once a block and not once a thread.
#include <mprof/cuda.hpp>

namespace {

constexpr unsigned tile = 32;

__global__ void product(const float* a, const float* b, float* c, unsigned n) {
  __shared__ float tile_of_a[tile][tile];
  __shared__ float tile_of_b[tile][tile];
  const unsigned column = blockIdx.x * tile + threadIdx.x;
  const unsigned row = blockIdx.y * tile + threadIdx.y;
  float sum = 0;
  for (unsigned first = 0; first < n; first += tile) {
    const bool has_a = row < n && first + threadIdx.x < n;
    const bool has_b = first + threadIdx.y < n && column < n;
    tile_of_a[threadIdx.y][threadIdx.x] = has_a ? a[row * n + first + threadIdx.x] : 0.0F;
    tile_of_b[threadIdx.y][threadIdx.x] = has_b ? b[(first + threadIdx.y) * n + column] : 0.0F;
    __syncthreads();
    for (unsigned k = 0; k < tile; ++k) sum += tile_of_a[threadIdx.y][k] * tile_of_b[k][threadIdx.x];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}

class Product final : public mprof::plugin::DeviceOp {
  void launch() override {
    const auto n = static_cast<unsigned>(size("size"));
    const dim3 grid((n + tile - 1) / tile, (n + tile - 1) / tile);
    product<<<grid, dim3(tile, tile)>>>(input(0), input(1), output(), n);
  }
};

}  // namespace

MPROF_VARIANT(
        .family = "@NAME@", .title = "Tiles in shared memory",
        .idea = "A block of threads reads each tile of A and B once, and shares it.", .device = "cuda",
        .baseline = "@NAME@/naive",
        .make = [](const mprof::plugin::Parameters&) { return std::make_unique<Product>(); })
