// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/conv/device/async_copy.cuh"
#include "kernels/conv/device/banded_layers.cuh"
#include "kernels/conv/lenet/lenet.hpp"
#include "system/error.hpp"

/// Layer 2 by wgmma, for the variant `banded_wgmma`, whose file tells the idea.
///
/// The factors of an instruction, of a warpgroup (4 warps): 64 rows, each a window,
/// from registers; 32 columns, the two pixels of all 16 maps, from shared memory. A warp has 16 of the rows,
/// in the order of mma.sync; so a lane has the windows g and g + 8 of them, and of the columns 8 j + 2 t and
/// 8 j + 2 t + 1, both pixels of map(j, t).
///
/// Input row r of a band adds to its output row y by row r - y of the mask.
namespace mprof::conv::banded {
namespace {

using L = Layer2;

constexpr unsigned groups = 2;  ///< of a block; each has an image
constexpr unsigned group_threads = 256;
constexpr unsigned band_rows = 5;  ///< output rows of a window's band; their sums are 80 registers
constexpr unsigned input_rows = band_rows + mask_side - 1;
constexpr unsigned row_windows = L::out_side / 2;
constexpr unsigned bands = (L::out_side + band_rows - 1) / band_rows;
constexpr unsigned windows = bands * row_windows;
static_assert(windows <= group_threads / 2, "two warpgroups have 128 rows");
static_assert(L::out_side % 2 == 0 && L::maps == 16);

constexpr unsigned plane = L::out_side * L::out_side;
constexpr unsigned in_floats = L::unit_size;
constexpr unsigned out_floats = L::maps * plane;
static_assert(in_floats * sizeof(float) % 128 == 0 && out_floats * sizeof(float) % 16 == 0);

constexpr unsigned column_groups = 4;    ///< of 8 columns, which are together in an instruction's memory
constexpr unsigned step_words = 32 * 8;  ///< of weights: 32 columns, 8 inputs or 8 pairs of them
constexpr unsigned half_bytes = 8 * 16;  ///< from a column group's first half of the inputs to the second
constexpr unsigned column_group_bytes = 256;  ///< from a column group to the next

template <Precision precision>
constexpr unsigned weight_words_of = Steps<L, precision>::count* step_words;
template <Precision precision>
constexpr unsigned block_shared_bytes = (weight_words_of<precision> + groups * (in_floats + out_floats)) *
                                        sizeof(float);

/// The last band ends with the image, and its first row is the band before's last, too.
constexpr __host__ __device__ unsigned first_row(unsigned window) {
  const unsigned row = window / row_windows * band_rows;
  return row < L::out_side - band_rows ? row : L::out_side - band_rows;
}
constexpr unsigned rows_twice = bands * band_rows - L::out_side;
static_assert(rows_twice <= 1);

/// So that lanes of a warp write to different banks.
constexpr __host__ __device__ unsigned map_of(unsigned j, unsigned t) {
  return j % 2 + j / 2 * 8 + 2 * t;
}

// --- the instruction --------------------------------------------------------------------------------

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// sum = a * b, plus sum where `adds`.
template <Precision precision, bool adds>
__device__ void multiply_group(float (&sum)[16], const unsigned (&a)[4], std::uint64_t b) {
  if constexpr (precision == Precision::tf32) {
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %21, 0; "
        "wgmma.mma_async.sync.aligned.m64n32k8.f32.tf32.tf32 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, "
        "{%16, %17, %18, %19}, %20, p, 1, 1; }"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]),
          "+f"(sum[7]), "+f"(sum[8]), "+f"(sum[9]), "+f"(sum[10]), "+f"(sum[11]), "+f"(sum[12]),
          "+f"(sum[13]), "+f"(sum[14]), "+f"(sum[15])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "n"(static_cast<int>(adds)));
  } else {
    asm volatile(
        "{ .reg .pred p; setp.ne.b32 p, %21, 0; "
        "wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, "
        "{%16, %17, %18, %19}, %20, p, 1, 1, 0; }"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]), "+f"(sum[4]), "+f"(sum[5]), "+f"(sum[6]),
          "+f"(sum[7]), "+f"(sum[8]), "+f"(sum[9]), "+f"(sum[10]), "+f"(sum[11]), "+f"(sum[12]),
          "+f"(sum[13]), "+f"(sum[14]), "+f"(sum[15])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "n"(static_cast<int>(adds)));
  }
}

/// Before the instructions that read registers which were written since.
__device__ void fence_registers() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ void commit_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Until no more than `count` of the sets that were committed are under way.
template <int count>
__device__ void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(count) : "memory");
}
__device__ void synchronize_group(unsigned group) {
  asm volatile("bar.sync %0, %1;" ::"r"(group + 1), "n"(group_threads) : "memory");
}

/// An image's sums: what a thread has of them.
template <Precision precision>
class Bands {
  using S = Steps<L, precision>;
  static constexpr unsigned step_channels = L::channels / S::groups;

 public:
  /// `in` is where the image lies, `weights` the shared address of all weights.
  __device__ Bands(const float* in, unsigned thread, unsigned weights) : weights_(weights) {
#pragma unroll
    for (unsigned h = 0; h < 2; ++h) {
      const unsigned window = min(window_of(thread, h), windows - 1);
      from_[h] = in + first_row(window) * L::side + 2 * (window % row_windows) + thread % 4 * 2;
    }
    load<0>();
    [this]<int... step>(std::integer_sequence<int, step...>) {
      (add<step>(), ...);
    }
    (std::make_integer_sequence<int, static_cast<int>(input_rows * S::groups)>{});
    wait_for_products<0>();
  }

  /// To shared memory, [maps][rows][columns].
  __device__ void store(float* out, unsigned thread) const {
#pragma unroll
    for (unsigned h = 0; h < 2; ++h) {
      const unsigned window = window_of(thread, h);
      if (window >= windows) continue;
      float* const to = out + first_row(window) * L::out_side + 2 * (window % row_windows);
#pragma unroll
      for (unsigned y = 0; y < band_rows; ++y) {
        if (y < rows_twice && window >= windows - row_windows) continue;
#pragma unroll
        for (unsigned j = 0; j < column_groups; ++j) {
          *reinterpret_cast<float2*>(to + map_of(j, thread % 4) * plane + y * L::out_side) =
              make_float2(sums_[y][j * 4 + h * 2], sums_[y][j * 4 + h * 2 + 1]);
        }
      }
    }
  }

 private:
  static __device__ unsigned window_of(unsigned thread, unsigned h) {
    return thread / lanes * tile_windows + thread % lanes / 4 + h * 8;
  }

  /// The inputs of a step, as they lie in memory: a row of one channel (TF32) or two.
  template <int step>
  __device__ void load() {
    constexpr unsigned row = static_cast<unsigned>(step) / S::groups;
    constexpr unsigned channel = static_cast<unsigned>(step) % S::groups * step_channels;
#pragma unroll
    for (unsigned i = 0; i < step_channels * 2; ++i) {
      next_[i] =
          *reinterpret_cast<const float2*>(from_[i % 2] + ((channel + i / 2) * L::side + row) * L::side);
    }
  }

  template <int step>
  __device__ void add() {
    constexpr int row = step / static_cast<int>(S::groups);
    constexpr int k = step % static_cast<int>(S::groups);
    wait_for_products<2>();
    unsigned a[4];
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      if constexpr (precision == Precision::tf32) {
        a[i] = tf32_word(i < 2 ? next_[i].x : next_[i - 2].y);
      } else {
        a[i] = half_word(__float22half2_rn(next_[i]));
      }
    }
    if constexpr (step + 1 < static_cast<int>(input_rows * S::groups)) load<step + 1>();
    fence_registers();
    // A matrix in shared memory, without swizzling: its address and, in bits 16 and 32, two distances, all in
    // units of 16 bytes. The address is hidden from the compiler: it would otherwise compute the descriptors
    // of all steps before the loop over images, and spill them.
    unsigned low = weights_ / 16 | half_bytes / 16 << 16;
    asm volatile("" : "+r"(low));
#pragma unroll
    for (int y = 0; y < static_cast<int>(band_rows); ++y) {
      const int p = row - y;
      if (p < 0 || p >= static_cast<int>(mask_side)) continue;
      const unsigned at = static_cast<unsigned>(k * static_cast<int>(S::row_steps) + p) * step_words / 4;
      const std::uint64_t b = std::uint64_t{column_group_bytes / 16} << 32 | (low + at);
      if (p == 0 && k == 0) {
        multiply_group<precision, false>(sums_[y], a, b);
      } else {
        multiply_group<precision, true>(sums_[y], a, b);
      }
    }
    commit_products();
  }

  unsigned weights_;
  const float* from_[2];
  float2 next_[step_channels * 2];
  float sums_[band_rows][16];
};

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

/// Group i of a block computes the images of every grid * groups, one after another. While it stages the sums
/// of one, the next one's inputs arrive; while those sums leave, it multiplies. `weights` as shared_weights()
/// has them.
template <Precision precision>
__global__ void __launch_bounds__(groups* group_threads, 1)
    conv_banded_wgmma(const float* __restrict__ input, const uint4* __restrict__ weights,
                      float* __restrict__ output, unsigned images) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(128) float shared[];
  __shared__ ArrivalBarrier arrived[groups];
  const unsigned group = threadIdx.x / group_threads;
  const unsigned thread = threadIdx.x % group_threads;
  float* const in = shared + weight_words_of<precision> + group * (in_floats + out_floats);
  float* const out = in + in_floats;

  const unsigned first = blockIdx.x * groups + group;
  const unsigned step = gridDim.x * groups;
  const auto begin = [&](unsigned image) {
    if (image >= images) return;
    arrived[group].begin(in, input + std::size_t{image} * in_floats, in_floats);
  };
  if (thread == 0) {
    arrived[group].init();
    begin(first);
  }
  for (unsigned i = threadIdx.x; i < weight_words_of<precision> / 4; i += groups * group_threads) {
    reinterpret_cast<uint4*>(shared)[i] = weights[i];
  }
  BulkCopy::fence();
  __syncthreads();

  unsigned parity = 0;
#pragma unroll 1
  for (unsigned image = first; image < images; image += step) {
    arrived[group].wait(parity);
    parity ^= 1;
    unsigned again = thread;
    asm volatile("" : "+r"(again));  // what follows from it is computed anew: registers are for sums
    const Bands<precision> sums(in, again, shared_address(shared));
    if (thread == 0) BulkCopy::wait_until_own_read();
    synchronize_group(group);
    if (thread == 0) begin(image + step);
    asm volatile("" : "+r"(again));
    sums.store(out, again);
    BulkCopy::fence();
    synchronize_group(group);
    if (thread == 0) {
      BulkCopy::begin_store(output + std::size_t{image} * out_floats, out, out_floats);
      BulkCopy::commit();
    }
  }
  if (thread == 0) BulkCopy::wait_until_own_read();
#endif
}

// --- what the host prepares -------------------------------------------------------------------------

/// The masks as the instruction reads them, [steps][column groups][halves of the inputs][8 columns][4 words].
/// Input 2t of a window is number t of the first half in TF32, as lanes have it, and input 2t + 1 of the
/// second; in FP16 a half is a channel.
template <Precision precision>
std::vector<std::uint32_t> shared_weights(const std::vector<float>& mask) {
  using S = Steps<L, precision>;
  static_assert(step_words == column_groups * column_group_bytes / 4 && column_group_bytes == 2 * half_bytes);
  std::vector<std::uint32_t> result(weight_words_of<precision>);
  for (unsigned i = 0; i < result.size(); ++i) {
    const unsigned word = i % 4;
    const unsigned column = i / 4 % 8;
    const unsigned half = i / 32 % 2;
    const unsigned m = map_of(i / 64 % column_groups, column / 2);
    const unsigned k = i / step_words / S::row_steps;
    const unsigned p = i / step_words % S::row_steps;
    const unsigned q = 2 * word - column % 2;  // wraps around to a large number left of the mask
    if constexpr (precision == Precision::tf32) {
      result[i] = tf32_bits(tap<L>(mask, m, k, p, q + half));
    } else {
      const unsigned c = 2 * k + half;
      result[i] = half_bits(tap<L>(mask, m, c, p, q)) | half_bits(tap<L>(mask, m, c, p, q + 1)) << 16U;
    }
  }
  return result;
}

/// Layer 2 by the kernel above, all else by `rest`.
template <Precision precision>
class WgmmaProduct final : public Product {
 public:
  explicit WgmmaProduct(std::unique_ptr<Product> rest) : rest_(std::move(rest)) {}

  void prepare(const Shape& shape, const float* host_mask) override {
    Shape one_image = shape;
    one_image.batch = 1;
    is_layer2_ = one_image == layers[1].one_image;
    if (!is_layer2_) return rest_->prepare(shape, host_mask);

    const auto words = shared_weights<precision>({host_mask, host_mask + shape.mask_size()});
    weights_ = cuda::DeviceBuffer<unsigned>(words.size());
    cuda::check(cudaMemcpy(weights_.data(), words.data(), weights_.bytes(), cudaMemcpyHostToDevice));
    int device = 0;
    int multiprocessors = 0;
    cuda::check(cudaGetDevice(&device));
    cuda::check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    multiprocessors_ = static_cast<unsigned>(multiprocessors);
    cuda::check(cudaFuncSetAttribute(conv_banded_wgmma<precision>,
                                     cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     block_shared_bytes<precision>));
  }

  void launch(const float* input, std::size_t images, float* output, cudaStream_t stream) const override {
    if (!is_layer2_) return rest_->launch(input, images, output, stream);
    const auto count = static_cast<unsigned>(images);
    const unsigned grid = std::min((count + groups - 1) / groups, multiprocessors_);
    conv_banded_wgmma<precision><<<grid, groups * group_threads, block_shared_bytes<precision>, stream>>>(
        input, reinterpret_cast<const uint4*>(weights_.data()), output, count);
  }

  void release() override {
    rest_->release();
    weights_ = {};
  }

 private:
  std::unique_ptr<Product> rest_;
  bool is_layer2_ = false;
  unsigned multiprocessors_ = 0;
  cuda::DeviceBuffer<unsigned> weights_;
};

}  // namespace

std::optional<std::string> wgmma_unavailable() {
  int device = 0;
  int major = 0;
  int minor = 0;
  cudaError_t result = cudaGetDevice(&device);
  if (result == cudaSuccess) {
    result = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  }
  if (result == cudaSuccess) {
    result = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  }
  if (result != cudaSuccess) {
    return std::string("The GPU's compute capability could not be read: ") + cudaGetErrorString(result) + ".";
  }
  if (major == 9 && minor == 0) return std::nullopt;
  return "Only GPUs of compute capability 9.0 (H100, H200) have its instructions, wgmma, and this one has " +
         std::to_string(major) + "." + std::to_string(minor) + ". Use conv/banded.";
}

std::unique_ptr<Product> make_wgmma_product(Precision precision, const std::string& id) {
  if (const auto reason = wgmma_unavailable()) throw Error(ExitCode::environment, id + ": " + *reason);
  if (precision == Precision::fp16) {
    return std::make_unique<WgmmaProduct<Precision::fp16>>(make_product(precision, id));
  }
  return std::make_unique<WgmmaProduct<Precision::tf32>>(make_product(Precision::tf32, id));
}

}  // namespace mprof::conv::banded
