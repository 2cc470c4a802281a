// SPDX-License-Identifier: MIT
// One thread a column, walking down the rows: too few threads, and divergent ones.
//
// Idea        A thread owns a column and applies its column's function to one row after the other. The first
//             thing that comes to mind to whoever sees that columns differ and rows do not.
//
// Cost        Not coalescing, though a thread walks down a column: in each step a warp reads and writes 32
//             neighbouring columns of one row, 128 bytes of which each is used. But at 8192 columns there are
//             256 warps, in blocks of 256 threads on 32 of an H200's 132 multiprocessors, two a scheduler;
//             and each goes through some 130 dependent instructions an iteration, since the four functions
//             run one after the other with a quarter of the threads each. About 5500 cycles a row, of which a
//             load takes some 700: 20 to 25 ms for 8192 x 8192 and 5 iterations.
//
// The profile should show
//             an occupancy of an eighth on the multiprocessors that have a block at all, every byte of each
//             sector used (data bytes a sector 32), DRAM nearly idle, a third of a warp's threads active, and
//             the stall wait or the scoreboards in front: latency, and nothing else. Blocks of 64 or 32
//             threads spread the same warps over more multiprocessors, and change little, since each warp
//             waits for itself.
#include <string>

#include "kernels/common/device/blocks.hpp"
#include "kernels/elementwise/device/device_map.hpp"
#include "kernels/elementwise/device/functions.cuh"

namespace mprof::elementwise {
namespace {

__global__ void map_baseline(const float* input, float* output, unsigned size, unsigned iterations) {
  const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= size) return;
  for (unsigned row = 0; row < size; ++row) {
    const std::size_t element = static_cast<std::size_t>(row) * size + column;
    output[element] = transform(column, input[element], iterations);
  }
}

class Baseline final : public DeviceMap {
 public:
  explicit Baseline(unsigned block) : block_(block) {}

 protected:
  void launch() override {
    map_baseline<<<static_cast<unsigned>(blocks_for(size(), block_)), block_>>>(input(), output(), size(),
                                                                                matrix().iterations);
  }

 private:
  unsigned block_;
};

const Register registered{Declaration{
    .title = "Baseline: one thread a column",
    .idea =
        "One thread walks down a column. Neighbouring threads read neighbouring columns, but take different "
        "functions, and there are too few of them. Every other variant is compared with it.",
    .device = "cuda",
    .baseline = "",
    .parameters = {{.name = "block",
                    .meaning = "threads of a block",
                    .default_value = "256",
                    .values = {"32", "64", "128", "256"}}},
    .references = {"CUDA C++ Best Practices Guide, Coalesced Access to Global Memory; Occupancy"},
    .make =
        [](const Parameters& parameters) {
          return std::make_unique<Baseline>(static_cast<unsigned>(std::stoul(parameters.at("block"))));
        },
}};

}  // namespace
}  // namespace mprof::elementwise
