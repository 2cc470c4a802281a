// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

/// Copies between global and shared memory that go on while threads compute. Two classes have one interface,
/// and AsyncCopy is the better one that the GPU has. All addresses and pitches are multiples of 16 bytes.
///
/// - `begin`, by all threads of a block: starts copying `floats` floats to shared memory
/// - `wait`, by all threads of the block: after it they see these floats
/// - `store`, by a warp or a block: copies `rows` x `floats` floats that its threads have written to shared
///   memory
/// - `wait_until_read`, by the same threads, before they write there again, and before they return
///
/// `threads` is how many call: 32 are a warp, more are the block.
namespace mprof::conv {

template <unsigned threads>
__device__ void synchronize() {
  if constexpr (threads == 32) {
    __syncwarp();
  } else {
    __syncthreads();
  }
}

inline __device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

/// Threads copy 16 bytes each: to shared memory by cp.async where the GPU has it (compute capability 8.0),
/// from there through registers.
class ThreadCopy {
 public:
  template <unsigned threads>
  __device__ void begin(float* to, const float* from, unsigned floats) {
    for (unsigned i = threadIdx.x * 4; i < floats; i += threads * 4) {
#if __CUDA_ARCH__ >= 800
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to + i)), "l"(from + i)
                   : "memory");
#else
      *reinterpret_cast<float4*>(to + i) = *reinterpret_cast<const float4*>(from + i);
#endif
    }
  }

  __device__ void wait() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
    __syncthreads();
  }

  /// Each store of a warp but the first of a row begins with a line of 128 bytes.
  template <unsigned threads, unsigned rows, unsigned floats>
  static __device__ void store(float* to, unsigned to_pitch, const float* from, unsigned from_pitch) {
    constexpr unsigned line = 128 / sizeof(float4);
    synchronize<threads>();
#pragma unroll
    for (unsigned row = 0; row < rows; ++row) {
      auto* const fours = reinterpret_cast<float4*>(to + row * to_pitch);
      const unsigned shift = reinterpret_cast<std::uintptr_t>(fours) / sizeof(float4) % line;
#pragma unroll
      for (unsigned i = 0; i < floats / 4 + line - 1; i += threads) {
        const unsigned at = i + threadIdx.x % threads - shift;  // wraps around to a large number before row
        if (at < floats / 4) fours[at] = reinterpret_cast<const float4*>(from + row * from_pitch)[at];
      }
    }
  }

  template <unsigned threads>
  static __device__ void wait_until_read() {
    synchronize<threads>();
  }
};

/// Counts the bytes of bulk copies to shared memory (compute capability 9.0). An object of it lies there.
class ArrivalBarrier {
 public:
  /// By one thread, before a barrier of the block.
  __device__ void init() {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&state_)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }

  /// By one thread: begins the only copy of a phase.
  __device__ void begin(float* to, const float* from, unsigned floats) {
    const auto bytes = static_cast<unsigned>(floats * sizeof(float));
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&state_)),
                 "r"(bytes)
                 : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            shared_address(to)),
        "l"(from), "r"(bytes), "r"(shared_address(&state_))
        : "memory");
  }

  /// By whole warps: until a phase of this parity is complete, of which the first is 0. Ends because begin()
  /// has arrived already, and asked for as many bytes as the barrier expects.
  __device__ void wait(unsigned parity) {
    unsigned done = 0;
    while (done == 0) {
      asm volatile(
          "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
          : "=r"(done)
          : "r"(shared_address(&state_)), "r"(parity)
          : "memory");
    }
    __syncwarp();  // lanes may have left the loop one after another
  }

 private:
  std::uint64_t state_;
};

/// One thread asks for a whole copy, which takes no registers and no further instructions (compute capability
/// 9.0). An object of it lies in shared memory.
class BulkCopy {
 public:
  template <unsigned /*threads*/>
  __device__ void begin(float* to, const float* from, unsigned floats) {
    if (threadIdx.x == 0) arrived_.init();
    __syncthreads();
    if (threadIdx.x == 0) arrived_.begin(to, from, floats);
  }

  __device__ void wait() { arrived_.wait(0); }

  /// By one thread, after fence(): begins a copy from shared memory. commit() after it, or after several.
  static __device__ void begin_store(float* to, const float* from, unsigned floats) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
                 "r"(shared_address(from)), "r"(static_cast<unsigned>(floats * sizeof(float)))
                 : "memory");
  }
  static __device__ void commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

  /// By each thread: what it has read and written in shared memory comes before copies, and before products
  /// of a group of warps, that begin later.
  static __device__ void fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

  template <unsigned threads, unsigned rows, unsigned floats>
  static __device__ void store(float* to, unsigned to_pitch, const float* from, unsigned from_pitch) {
    static_assert(rows <= 32);
    fence();
    synchronize<threads>();
    const unsigned row = threadIdx.x % threads;
    if (row < rows) {
      begin_store(to + row * to_pitch, from + row * from_pitch, floats);
      commit();
    }
    __syncwarp();
  }

  /// By the thread that began the stores: what they copy has been read.
  static __device__ void wait_until_own_read() {
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
  }

  template <unsigned threads>
  static __device__ void wait_until_read() {
    wait_until_own_read();
    synchronize<threads>();
  }

 private:
  ArrivalBarrier arrived_;
};

#if __CUDA_ARCH__ >= 900
using AsyncCopy = BulkCopy;
#else
using AsyncCopy = ThreadCopy;
#endif

}  // namespace mprof::conv
