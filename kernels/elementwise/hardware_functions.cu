// SPDX-License-Identifier: MIT
// float4 with the GPU's own functions in place of the mathematical library's.
//
// Idea        A multiprocessor has units for the logarithm, sine, cosine and roots, one instruction each. The
//             logf, cosf, sinf and tanf of CUDA are polynomials instead, since these units promise an
//             absolute error, not 1 to 4 ulp. Here an absolute error is enough: each value is added to 1, and
//             then, under a root, to v. Half the angle takes that root away: sqrt(1 + cos v) is sqrt(2)
//             |cos(v / 2)|, and so of the sine, a quarter of a turn earlier. The tangent stays a polynomial
//             on [-pi/4, pi/4], where no pole is, or -1 over it: as a quotient a / b of what is next to 1,
//             whose root is a / sqrt(a b).
//
//             Neither needs its argument brought to a period around 0: the unit does that, and what it loses
//             is less than v's own rounding while v is below 20, as it is after 8 iterations.
//
// Cost        5 instructions of the special-function units a quad and iteration: logarithm and its root, two
//             cosines, a reciprocal root. The family counts 8, one for each function and root, 16 a cycle and
//             multiprocessor: 0.161 ms for 8192 x 8192 elements and 5 iterations on an H200 at 1.98 GHz. Here
//             they take 0.10 ms, the 35 instructions around them about as long, and memory 0.127 ms.
//             With all 8 (predicted 0.165 to 0.18 ms) it was 0.181; predicted 0.130 to 0.14, it is 0.133.
//
// The profile should show
//             memory the busiest unit, the XU pipe close behind, a quarter of float4's instructions.
#include <string>

#include "kernels/common/device/blocks.hpp"
#include "kernels/elementwise/device/device_map.hpp"
#include "kernels/elementwise/device/quads.cuh"

namespace mprof::elementwise {
namespace {

constexpr float half_pi = 1.57079637F;
constexpr float half_pi_rest = -4.37113883e-8F;  ///< what half_pi lacks of pi/2
/// Added to a number and subtracted again it leaves the nearest integer, whose lowest bits end the sum's.
constexpr float rounding = 12582912;  // 1.5 * 2^23

// One instruction of the special-function units each; the logarithm is that to base 2.
[[nodiscard]] __device__ float hardware_log2(float x) {
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
[[nodiscard]] __device__ float hardware_cosine(float x) {
  float y;
  asm("cos.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
[[nodiscard]] __device__ float hardware_reciprocal_root(float x) {
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
[[nodiscard]] __device__ float hardware_root(float x) {
  float y;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// v + sqrt(cos(v + 2 shift) + 1), by half the angle.
[[nodiscard]] __device__ float next_by_cosine(float v, float shift) {
  constexpr float root_2 = 1.41421356F;
  return v + fabsf(root_2 * hardware_cosine(fmaf(0.5F, v, shift)));
}

/// v + sqrt(tan v + 1). On [-pi/4, pi/4] the tangent is t = r + r^3 P(r^2), within 2 ulp, whose P
/// interpolates there in Chebyshev's nodes; one quarter further it is -1/t.
[[nodiscard]] __device__ float next_by_tangent(float v) {
  const float sum = fmaf(v, 1 / half_pi, rounding);
  const float quarters = sum - rounding;
  const float r = fmaf(-quarters, half_pi_rest, fmaf(-quarters, half_pi, v));
  const float s = r * r;
  float p = fmaf(s, 0.00825546216F, 0.00509087276F);
  p = fmaf(p, s, 0.0231653564F);
  p = fmaf(p, s, 0.053773731F);
  p = fmaf(p, s, 0.133343801F);
  p = fmaf(p, s, 0.333333254F);
  const float t = fmaf(r * s, p, r);
  const bool is_odd = (__float_as_uint(sum) & 1U) != 0;
  // tan v + 1 = a / b, with b = 1 or t, and no division
  const float a = 1.0F + (is_odd ? -t : t);
  const float b = is_odd ? -t : 1.0F;
  return fmaf(a, hardware_reciprocal_root(a * b), v);
}

/// All four elements of a quad, once.
[[nodiscard]] __device__ float4 next_quad(float4 v) {
  constexpr float ln_2 = 0.693147181F;
  v.x += hardware_root(fmaf(hardware_log2(v.x), ln_2, 1.0F));
  v.y = next_by_cosine(v.y, 0);
  v.z = next_by_cosine(v.z, -half_pi / 2);  // the cosine of what is a quarter of a turn less is the sine
  v.w = next_by_tangent(v.w);
  return v;
}

/// Two independent quads give a thread work while it waits for a result.
constexpr unsigned quads_a_thread = 2;

template <bool Aligned>
__global__ void map_hardware_functions(const float* input, float* output, Quads<Aligned> quads,
                                       unsigned iterations) {
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * blockDim.x * quads_a_thread + threadIdx.x;
  const auto index = [&](unsigned q) { return first + q * blockDim.x; };
  float4 v[quads_a_thread];
#pragma unroll
  for (unsigned q = 0; q < quads_a_thread; ++q) {
    v[q] = index(q) < quads.count() ? quads.load_once(input, index(q)) : make_float4(1, 1, 1, 1);
  }
  for (unsigned i = 0; i < iterations; ++i) {
#pragma unroll
    for (float4& quad : v) quad = next_quad(quad);
  }
#pragma unroll
  for (unsigned q = 0; q < quads_a_thread; ++q) {
    if (index(q) < quads.count()) quads.store_once(output, index(q), v[q]);
  }
}

class HardwareFunctions final : public DeviceMap {
 public:
  explicit HardwareFunctions(unsigned block) : block_(block) {}

 protected:
  void launch() override {
    with_quads(size(), [&](auto quads) {
      const auto blocks = static_cast<unsigned>(blocks_for(quads.count(), block_ * quads_a_thread));
      map_hardware_functions<<<blocks, block_>>>(input(), output(), quads, matrix().iterations);
    });
  }

 private:
  unsigned block_;
};

const Register registered{Declaration{
    .title = "Functions of the hardware",
    .idea =
        "Logarithm, cosine and roots by one instruction of the special-function units each, as far as the "
        "sum with v forgives their error. Roots of cosine and sine by half the angle, the tangent's by a "
        "polynomial.",
    .device = "cuda",
    .baseline = "elementwise/float4",
    .parameters = {{.name = "block",
                    .meaning = "threads of a block",
                    .default_value = "128",
                    .values = {"128", "256", "512", "1024"}}},
    .expectations =
        {{.metric = "op_time",
          .op = "map",
          .factor = 2.5,
          .because = "A quarter of the instructions, and five of the units for functions in place of eight."},
         {.metric = "smsp__inst_executed.sum",
          .op = "map",
          .factor = 3,
          .because = "One instruction a function, none to bring its argument to a period around 0, and no "
                     "branch for large ones."},
         {.metric = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
          .op = "map",
          .direction = Direction::increases,
          .factor = 2,
          .because = "The same bytes in less time."}},
    .references = {"CUDA C++ Programming Guide, Mathematical Functions, Intrinsic Functions",
                   "PTX ISA, Floating Point Instructions: cos, lg2, rsqrt, sqrt",
                   "W. Cody, W. Waite: Software Manual for the Elementary Functions, Prentice-Hall, 1980"},
    .special_functions = 5.0 / 8,
    .make =
        [](const Parameters& parameters) {
          return std::make_unique<HardwareFunctions>(
              static_cast<unsigned>(std::stoul(parameters.at("block"))));
        },
}};

}  // namespace
}  // namespace mprof::elementwise
