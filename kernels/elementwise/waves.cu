// SPDX-License-Identifier: MIT
// float4 in as many launches as there are waves of blocks.
//
// Idea        Launch as many blocks as all multiprocessors hold at the same time, and when they are done the
//             next: the scheduler of blocks has nothing to do.
//
// Cost        8192 x 8192 elements are 63 waves of 1056 blocks on an H200. Each is about 8 us of work, behind
//             which the GPU drains, a launch passes, and all blocks wait for their first load together: 3 to
//             5 us more. 0.65 to 0.85 ms, where float4 takes about 0.5.
//
// The profile should show
//             63 kernels in place of one, the same instructions in sum, gaps of a microsecond between
//             kernels in the trace, less issue utilization within each.
#include <algorithm>

#include "kernels/common/device/blocks.hpp"
#include "kernels/elementwise/device/device_map.hpp"
#include "kernels/elementwise/device/quads.cuh"

namespace mprof::elementwise {
namespace {

constexpr unsigned block = 256;

template <bool Aligned>
__global__ void __launch_bounds__(block) map_waves(const float* input, float* output, Quads<Aligned> quads,
                                                   std::size_t first_block, unsigned iterations) {
  const std::size_t index = (first_block + blockIdx.x) * block + threadIdx.x;
  if (index >= quads.count()) return;
  quads.store(output, index, transform(quads.load(input, index), iterations));
}

/// Blocks of `kernel` that all multiprocessors hold at the same time.
template <class Kernel>
std::size_t blocks_of_a_wave(Kernel kernel) {
  int device = 0;
  int multiprocessors = 0;
  int blocks = 0;
  cuda::check(cudaGetDevice(&device));
  cuda::check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, block, 0));
  return static_cast<std::size_t>(multiprocessors) * static_cast<std::size_t>(blocks);
}

class Waves final : public DeviceMap {
 public:
  Waves() : aligned_wave_(blocks_of_a_wave(map_waves<true>)), odd_wave_(blocks_of_a_wave(map_waves<false>)) {}

 protected:
  void launch() override {
    with_quads(size(), [&](auto quads) { launch_waves(quads); });
  }

 private:
  template <bool Aligned>
  void launch_waves(Quads<Aligned> quads) const {
    const std::size_t blocks = blocks_for(quads.count(), block);
    const std::size_t wave = Aligned ? aligned_wave_ : odd_wave_;
    for (std::size_t first = 0; first < blocks; first += wave) {
      map_waves<<<static_cast<unsigned>(std::min(wave, blocks - first)), block>>>(input(), output(), quads,
                                                                                  first, matrix().iterations);
    }
  }

  std::size_t aligned_wave_;
  std::size_t odd_wave_;
};

const Register registered{Declaration{
    .title = "A launch for each wave of blocks",
    .idea = "As many blocks a launch as the multiprocessors hold at the same time. Blocks are scheduled well "
            "without, "
            "so nothing should be gained.",
    .device = "cuda",
    .baseline = "elementwise/float4",
    .expectations = {{.metric = "op_time",
                      .op = "map",
                      .direction = Direction::increases,
                      .because =
                          "Between two launches the GPU drains, and loads no longer overlap arithmetic "
                          "across waves."},
                     {.metric = "smsp__inst_executed.sum",
                      .op = "map",
                      .direction = Direction::unchanged,
                      .because = "The same work, in more launches."}},
    .references = {"M. Harris: CUDA Pro Tip: Write Flexible Kernels with Grid-Stride Loops, NVIDIA Technical "
                   "Blog, 2013"},
    .make = [](const Parameters&) { return std::make_unique<Waves>(); },
}};

}  // namespace
}  // namespace mprof::elementwise
