// float4 with the GPU's own functions in place of the mathematical library's.
//
// Idea        A multiprocessor has units for the logarithm, sine, cosine, reciprocal and square root, one
//             instruction each. CUDA's logf, cosf, sinf and tanf are polynomials instead, since these units
//             promise an absolute error, not 1 to 4 ulp. Here an absolute error is enough: each value is
//             added to 1, and then, under a root, to v. The argument of sine and cosine is brought to a
//             period around 0 first, where the units' error of 2^-21 holds. The tangent is another matter
//             near its poles: it stays a polynomial on [-pi/4, pi/4], and outside of it takes one reciprocal.
//
// Cost        8 instructions of the special-function units a quad and iteration: logarithm, cosine, sine,
//             reciprocal, four roots. That is what the family counts, 16 a cycle and multiprocessor: 0.161 ms
//             for 8192 x 8192 elements and 5 iterations on an H200 at 1.98 GHz, and a bound for whoever takes
//             these units for each function. Around them about 45 other instructions, of 64 slots that pass
//             meanwhile. Memory needs 0.126 ms beside it. 0.165 to 0.18 ms.
//
// The profile should show
//             the XU pipe busy 90 % of the time and more, a third of float4's instructions, half to three
//             quarters of the DRAM's peak.
#include <string>

#include "kernels/common/device/blocks.hpp"
#include "kernels/elementwise/device/device_map.hpp"
#include "kernels/elementwise/device/quads.cuh"

namespace mprof::elementwise {
namespace {

constexpr float two_pi = 6.28318548F;
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
[[nodiscard]] __device__ float hardware_sine(float x) {
  float y;
  asm("sin.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
[[nodiscard]] __device__ float hardware_cosine(float x) {
  float y;
  asm("cos.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
[[nodiscard]] __device__ float hardware_reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
[[nodiscard]] __device__ float hardware_root(float x) {
  float y;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// v less whole periods: in [-pi, pi], to within the rounding of v.
[[nodiscard]] __device__ float around_zero(float v) {
  const float periods = fmaf(v, 1 / two_pi, rounding) - rounding;
  return fmaf(-periods, two_pi, v);
}

/// Within 2 ulp: on [-pi/4, pi/4] r + r^3 P(r^2), whose P interpolates there in Chebyshev's nodes; one
/// quarter further it is -1/tan.
[[nodiscard]] __device__ float tangent(float v) {
  const float sum = fmaf(v, 1 / half_pi, rounding);
  const float quarters = sum - rounding;
  const float r = fmaf(-quarters, half_pi_rest, fmaf(-quarters, half_pi, v));
  const float s = r * r;
  float p = fmaf(s, 0.00825546216F, 0.00509087276F);
  p = fmaf(p, s, 0.0231653564F);
  p = fmaf(p, s, 0.053773731F);
  p = fmaf(p, s, 0.133343801F);
  p = fmaf(p, s, 0.333333254F);
  const float near_zero = fmaf(r * s, p, r);
  const float near_pole = hardware_reciprocal(-near_zero);
  return (__float_as_uint(sum) & 1U) != 0 ? near_pole : near_zero;
}

/// All four elements of a quad, once.
[[nodiscard]] __device__ float4 next_quad(float4 v) {
  constexpr float ln_2 = 0.693147181F;
  v.x += hardware_root(fmaf(hardware_log2(v.x), ln_2, 1.0F));
  v.y += hardware_root(hardware_cosine(around_zero(v.y)) + 1.0F);
  v.z += hardware_root(hardware_sine(around_zero(v.z)) + 1.0F);
  v.w += hardware_root(tangent(v.w) + 1.0F);
  return v;
}

template <bool Aligned>
__global__ void map_hardware_functions(const float* input, float* output, Quads<Aligned> quads,
                                       unsigned iterations) {
  const std::size_t index = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= quads.count()) return;
  float4 v = quads.load(input, index);
  for (unsigned i = 0; i < iterations; ++i) v = next_quad(v);
  quads.store(output, index, v);
}

class HardwareFunctions final : public DeviceMap {
 public:
  explicit HardwareFunctions(unsigned block) : block_(block) {}

 protected:
  void launch() override {
    with_quads(size(), [&](auto quads) {
      map_hardware_functions<<<static_cast<unsigned>(blocks_for(quads.count(), block_)), block_>>>(
          input(), output(), quads, matrix().iterations);
    });
  }

 private:
  unsigned block_;
};

const Register registered{Declaration{
    .title = "Functions of the hardware",
    .idea = "Logarithm, sine, cosine and root by one instruction of the special-function units each, as far "
            "as the sum with v forgives their error; the tangent by a polynomial.",
    .device = "cuda",
    .baseline = "elementwise/float4",
    .parameters = {{.name = "block",
                    .meaning = "threads of a block",
                    .default_value = "256",
                    .values = {"128", "256", "512", "1024"}}},
    .expectations =
        {{.metric = "op_time",
          .op = "map",
          .factor = 2,
          .because =
              "A third of the instructions: the units for functions are the limit, no longer the issue "
              "slots."},
         {.metric = "smsp__inst_executed.sum",
          .op = "map",
          .factor = 2.5,
          .because = "One instruction a function, a few to bring its argument to a period around 0, and no "
                     "branch for large ones."},
         {.metric = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
          .op = "map",
          .direction = Direction::increases,
          .factor = 2,
          .because = "The same bytes in less time."}},
    .references = {"CUDA C++ Programming Guide, Mathematical Functions, Intrinsic Functions",
                   "PTX ISA, Floating Point Instructions: sin, cos, lg2, rcp, sqrt",
                   "W. Cody, W. Waite: Software Manual for the Elementary Functions, Prentice-Hall, 1980"},
    .make =
        [](const Parameters& parameters) {
          return std::make_unique<HardwareFunctions>(
              static_cast<unsigned>(std::stoul(parameters.at("block"))));
        },
}};

}  // namespace
}  // namespace mprof::elementwise
