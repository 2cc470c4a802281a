#pragma once

#include <cstdint>

/// Copies between global and shared memory that go on while threads compute. Two classes with one interface,
/// and AsyncCopy, the better one of those that the GPU has. All addresses and pitches are multiples of 16
/// bytes.
///
///   begin            by all threads of a block: starts copying `floats` floats to shared memory
///   wait             by all threads of the block: after it they see these floats
///   store            by a warp or a block: copies `rows` x `floats` floats that its threads have written to
///                    shared memory
///   wait_until_read  by the same threads, before they write there again, and before they return
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

/// Threads copy 16 bytes each: to shared memory by cp.async (compute capability 8.0), from there through
/// registers.
class ThreadCopy {
 public:
  template <unsigned threads>
  __device__ void begin(float* to, const float* from, unsigned floats) {
#if __CUDA_ARCH__ >= 800
    for (unsigned i = threadIdx.x * 4; i < floats; i += threads * 4) {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to + i)), "l"(from + i)
                   : "memory");
    }
#endif
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

/// The steps of bulk copies (compute capability 9.0), each by one thread. `barrier` lies in shared memory and
/// counts the bytes that arrive; it is used again and again, with parity 0, 1, 0, ...
inline __device__ void make_barrier(std::uint64_t* barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

inline __device__ void bulk_load(float* to, const float* from, unsigned bytes, std::uint64_t* barrier) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(bytes)
               : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}

/// By any number of whole warps, which see the bytes then.
inline __device__ void wait_for_bytes(std::uint64_t* barrier, unsigned parity) {
  unsigned done = 0;
  while (done == 0) {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(shared_address(barrier)), "r"(parity)
        : "memory");
  }
  __syncwarp();  // lanes may have left the loop one after another
}

/// By all threads that wrote what bulk_store copies or wgmma multiplies, before they synchronize with the one
/// that asks for it.
inline __device__ void show_to_copies() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

inline __device__ void bulk_store(float* to, const float* from, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
               "r"(shared_address(from)), "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/// By the thread that asked for the stores: what they copy has been read.
inline __device__ void wait_until_bulk_read() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

/// One thread asks for a whole copy, which takes no registers and no further instructions (compute capability
/// 9.0). An object of it lies in shared memory.
class BulkCopy {
 public:
  template <unsigned /*threads*/>
  __device__ void begin(float* to, const float* from, unsigned floats) {
    if (threadIdx.x != 0) return;
    make_barrier(&arrived_);
    bulk_load(to, from, static_cast<unsigned>(floats * sizeof(float)), &arrived_);
  }

  /// Ends because begin() has arrived already, and asked for as many bytes as the barrier expects.
  __device__ void wait() {
    __syncthreads();  // the barrier is initialised
    wait_for_bytes(&arrived_, 0);
  }

  template <unsigned threads, unsigned rows, unsigned floats>
  static __device__ void store(float* to, unsigned to_pitch, const float* from, unsigned from_pitch) {
    static_assert(rows <= 32);
    show_to_copies();
    synchronize<threads>();
    const unsigned row = threadIdx.x % threads;
    if (row < rows) {
      bulk_store(to + row * to_pitch, from + row * from_pitch, static_cast<unsigned>(floats * sizeof(float)));
    }
    __syncwarp();
  }

  template <unsigned threads>
  static __device__ void wait_until_read() {
    wait_until_bulk_read();
    synchronize<threads>();
  }

 private:
  std::uint64_t arrived_;  // an mbarrier
};

#if __CUDA_ARCH__ >= 900
using AsyncCopy = BulkCopy;
#else
using AsyncCopy = ThreadCopy;
#endif

}  // namespace mprof::conv
