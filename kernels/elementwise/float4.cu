// SPDX-License-Identifier: MIT
// Four neighbouring columns a thread: every thread of a warp has the same work.
//
// Idea        The functions repeat every four columns. A thread that computes four of them evaluates all four
//             functions, and so do its neighbours: no divergence. The four values are one load and one store
//             of 16 bytes.
//
// Cost        About 155 instructions a warp and iteration for 128 elements, where coalesced issues 130
// for 32.
//             8192 x 8192 elements and 5 iterations are 0.42 G instructions of warps, 0.40 ms if every slot
//             were used: 0.45 to 0.55 ms. The special-function units would allow 0.16 ms, memory 0.13 ms.
//
// The profile should show
//             against coalesced, a third of the instructions and all 32 threads active; issue utilization
//             near its limit, DRAM throughput a quarter of the peak. A block of 32 threads leaves half of the
//             warps unused (32 blocks a multiprocessor), 1024 lets a multiprocessor empty before the next
//             block enters; between 64 and 512 there should be little to choose.
#include <string>

#include "kernels/common/device/blocks.hpp"
#include "kernels/elementwise/device/device_map.hpp"
#include "kernels/elementwise/device/quads.cuh"

namespace mprof::elementwise {
namespace {

template <bool Aligned>
__global__ void map_float4(const float* input, float* output, Quads<Aligned> quads, unsigned iterations) {
  const std::size_t index = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= quads.count()) return;
  quads.store(output, index, transform(quads.load(input, index), iterations));
}

class Float4 final : public DeviceMap {
 public:
  explicit Float4(unsigned block) : block_(block) {}

 protected:
  void launch() override {
    with_quads(size(), [&](auto quads) {
      map_float4<<<static_cast<unsigned>(blocks_for(quads.count(), block_)), block_>>>(
          input(), output(), quads, matrix().iterations);
    });
  }

 private:
  unsigned block_;
};

const Register registered{Declaration{
    .title = "Four columns a thread",
    .idea = "A thread computes four neighbouring columns, one with each function: no divergence, and "
            "accesses of 16 "
            "bytes.",
    .device = "cuda",
    .baseline = "elementwise/coalesced",
    .parameters = {{.name = "block",
                    .meaning = "threads of a block",
                    .default_value = "256",
                    .values = {"32", "64", "128", "256", "512", "1024"}}},
    .expectations = {{.metric = "op_time",
                      .op = "map",
                      .factor = 2.5,
                      .because = "A third of the instructions: no warp issues code for threads that do not "
                                 "need it."},
                     {.metric = "smsp__inst_executed.sum",
                      .op = "map",
                      .factor = 2.5,
                      .because = "155 instructions for 128 elements in place of 130 for 32."},
                     {.metric = "smsp__thread_inst_executed_per_inst_executed.ratio",
                      .op = "map",
                      .direction = Direction::increases,
                      .factor = 2,
                      .because = "All threads of a warp take the same way."}},
    .references = {"J. Luitjens: CUDA Pro Tip: Increase Performance with Vectorized Memory Access, NVIDIA "
                   "Technical Blog, 2013",
                   "CUDA C++ Programming Guide, Arithmetic Instructions; Mathematical Functions"},
    .make =
        [](const Parameters& parameters) {
          return std::make_unique<Float4>(static_cast<unsigned>(std::stoul(parameters.at("block"))));
        },
}};

}  // namespace
}  // namespace mprof::elementwise
