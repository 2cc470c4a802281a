// SPDX-License-Identifier: MIT
// float4 by way of shared memory, where nothing is shared.
//
// Idea        Load a tile into shared memory, compute on it, store it from there: the pattern that gains so
//             much for a convolution or a matrix product. Here each value is used once and by the thread
//             that loaded it, so there is nothing to gain.
//
// Cost        Two stores and two loads of shared memory and two barriers for four elements, some ten
//             instructions beside 800.
//
// The profile should show
//             the op time of float4 or a few percent more, the same DRAM traffic, a stall at the barrier that
//             float4 does not have.
#include "kernels/common/device/blocks.hpp"
#include "kernels/elementwise/device/device_map.hpp"
#include "kernels/elementwise/device/quads.cuh"

namespace mprof::elementwise {
namespace {

constexpr unsigned block = 256;

template <bool Aligned>
__global__ void __launch_bounds__(block)
    map_shared(const float* input, float* output, Quads<Aligned> quads, unsigned iterations) {
  __shared__ float4 tile[block];
  const std::size_t index = static_cast<std::size_t>(blockIdx.x) * block + threadIdx.x;
  const bool inside = index < quads.count();
  if (inside) tile[threadIdx.x] = quads.load(input, index);
  __syncthreads();
  if (inside) tile[threadIdx.x] = transform(tile[threadIdx.x], iterations);
  __syncthreads();
  if (inside) quads.store(output, index, tile[threadIdx.x]);
}

class Shared final : public DeviceMap {
 protected:
  void launch() override {
    with_quads(size(), [&](auto quads) {
      map_shared<<<static_cast<unsigned>(blocks_for(quads.count(), block)), block>>>(input(), output(), quads,
                                                                                     matrix().iterations);
    });
  }
};

const Register registered{Declaration{
    .title = "float4 through shared memory",
    .idea = "Each value makes a stop in shared memory. Nothing is used twice, so nothing should be gained.",
    .device = "cuda",
    .baseline = "elementwise/float4",
    .expectations = {{.metric = "op_time",
                      .op = "map",
                      .direction = Direction::unchanged,
                      .because = "No value is used twice; what is added is little beside the functions."},
                     {.metric = "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
                      .op = "map",
                      .direction = Direction::increases,
                      .because = "Two barriers a block."}},
    .references = {"CUDA C++ Best Practices Guide, Shared Memory"},
    .make = [](const Parameters&) { return std::make_unique<Shared>(); },
}};

}  // namespace
}  // namespace mprof::elementwise
