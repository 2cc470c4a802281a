// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "kernels/conv/device/async_copy.cuh"

namespace mprof::conv {

/// What the warps of a block know of its ring together. Lies in shared memory.
template <unsigned slots>
struct RingState {
  ArrivalBarrier arrived[slots];
  unsigned left[slots];  ///< warps that need the image no more
};

/// A range of images that come to shared memory one after another. Each image takes the slot of the one
/// `slots` before it, as soon as all warps that need that one have left it. No warp waits for another there:
/// whichever is the last to leave an image has the next one brought (compute capability 9.0).
template <unsigned image_size, unsigned slots>
class ImageRing {
 public:
  using State = RingState<slots>;

  /// The images from `first` to `last` of `images` in global memory. `memory` is slots * image_size floats.
  __device__ ImageRing(State& state, float* memory, const float* images, unsigned first, unsigned last)
      : state_(state), memory_(memory), images_(images), first_(first), last_(last) {}

  /// By one thread of the block, before a barrier of it: the first images.
  __device__ void begin() {
    for (unsigned i = 0; i < slots; ++i) {
      state_.arrived[i].init();
      state_.left[i] = 0;
    }
    for (unsigned image = first_; image <= last_ && image < first_ + slots; ++image) copy(image);
  }

  /// By a warp that is not `slots` or more images ahead of what it has last waited for.
  __device__ void wait(unsigned image) {
    const unsigned n = image - first_;
    state_.arrived[n % slots].wait(n / slots % 2);
  }

  [[nodiscard]] __device__ const float* operator[](unsigned image) const {
    return memory_ + (image - first_) % slots * image_size;
  }

  /// By each of the `warps` warps that need the image, after it has read it.
  __device__ void leave(unsigned image, unsigned warps) {
    __syncwarp();
    if (threadIdx.x % 32 != 0) return;
    unsigned& left = state_.left[(image - first_) % slots];
    __threadfence_block();
    if (atomicAdd(&left, 1) + 1 != warps) return;
    left = 0;
    __threadfence_block();
    if (image + slots > last_) return;
    BulkCopy::fence();
    copy(image + slots);
  }

 private:
  __device__ void copy(unsigned image) {
    const unsigned slot = (image - first_) % slots;
    state_.arrived[slot].begin(memory_ + slot * image_size,
                               images_ + static_cast<std::size_t>(image) * image_size, image_size);
  }

  State& state_;
  float* memory_;
  const float* images_;
  unsigned first_;
  unsigned last_;
};

}  // namespace mprof::conv
