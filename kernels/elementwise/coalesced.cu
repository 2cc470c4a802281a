// SPDX-License-Identifier: MIT
// One thread an element, along the rows: threads enough for every multiprocessor.
//
// Idea        Blocks of 256 neighbouring columns of one row. A warp's accesses are the 128 bytes that they
//             were in baseline; what changes is that there are 67 million threads, so that a scheduler that
//             must wait for one warp has others.
//
// Cost        Divergence, as before: neighbouring columns take different functions, so each warp issues all
//             four, about 130 instructions an iteration for 32 elements. 8192 x 8192 elements and 5
//             iterations are 1.4 G instructions of warps, 1.35 ms if every slot of 132 x 4 schedulers were
//             used: 1.6 to 1.8 ms.
//
// The profile should show
//             against baseline, about the same number of instructions and of sectors; occupancy up from an
//             eighth to nearly full, and that on all multiprocessors in place of a quarter of them; issue
//             utilization with it. Still a third of a warp's threads are active in an average instruction.
//             DRAM throughput stays below a tenth.
#include "kernels/common/device/blocks.hpp"
#include "kernels/elementwise/device/device_map.hpp"
#include "kernels/elementwise/device/functions.cuh"

namespace mprof::elementwise {
namespace {

constexpr unsigned block = 256;

__global__ void __launch_bounds__(block)
    map_coalesced(const float* input, float* output, unsigned size, unsigned iterations) {
  const unsigned column = blockIdx.x * block + threadIdx.x;
  if (column >= size) return;
  const std::size_t element = static_cast<std::size_t>(blockIdx.y) * size + column;
  output[element] = transform(column, input[element], iterations);
}

class Coalesced final : public DeviceMap {
 protected:
  void launch() override {
    const dim3 grid(static_cast<unsigned>(blocks_for(size(), block)), size());
    map_coalesced<<<grid, block>>>(input(), output(), size(), matrix().iterations);
  }
};

const Register registered{Declaration{
    .title = "One thread an element",
    .idea =
        "Threads along the rows, in blocks of 256: enough of them to hide every latency. Their warps still "
        "diverge.",
    .device = "cuda",
    .baseline = "elementwise/baseline",
    .expectations = {{.metric = "op_time",
                      .op = "map",
                      .factor = 5,
                      .because = "67 million threads in place of 8192: latencies are hidden."},
                     {.metric = "sm__warps_active.avg.pct_of_peak_sustained_active",
                      .op = "map",
                      .direction = Direction::increases,
                      .factor = 3,
                      .because = "Each multiprocessor is full of warps where it had eight, or none."},
                     {.metric = "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio",
                      .op = "map",
                      .direction = Direction::unchanged,
                      .because = "The baseline's loads are coalesced already: a warp reads one row."}},
    .references = {"CUDA C++ Best Practices Guide, Occupancy; Branching and Divergence"},
    .make = [](const Parameters&) { return std::make_unique<Coalesced>(); },
}};

}  // namespace
}  // namespace mprof::elementwise
