// SPDX-License-Identifier: MIT
#include "kernels/common/lower_precision.hpp"

#include <array>
#include <cmath>
#include <string>

#include "model/precision.hpp"

// Sources. Rounding of factors: |fl(x) - x| <= u |x| + e (N. Higham: Accuracy and Stability of Numerical
// Algorithms, 2nd edition, chapter 2). So a sum of products of rounded factors is within
// sum(x^ w^) - sum(|x w|) of the exact one, where x^ = (1 + u) |x| + e. Sums of n terms in FP32 add at most
// n v / (1 - n v) of the magnitude (chapter 3). Tensor cores cut off what they add, so v is 2^-23 and not
// 2^-24 (M. Fasi, N. Higham, M. Mikaitis, S. Pranesh: Numerical behavior of NVIDIA tensor cores, 2021).
// The bound of products with rounded factors and sums in FP32 is that of P. Blanchard, N. Higham, F. Lopez,
// T. Mary, S. Pranesh: Mixed precision block fused multiply-add, 2020. For sums in FP16 that worst case says
// nothing: 196 u is a tenth. There the bound is exp(lambda sqrt(n) v) - 1, which holds with a probability
// that lambda sets (N. Higham, T. Mary: A new approach to probabilistic rounding error analysis, 2019).
namespace mprof {
namespace {

constexpr double half_roundoff = 0x1p-11;   ///< FP16 and TF32 keep 10 bits of a mantissa
constexpr double half_underflow = 0x1p-25;  ///< half the distance of FP16's smallest numbers
constexpr double float_sum = 0x1p-23;
constexpr double lambda = 4;

constexpr std::array arithmetics{
    Arithmetic{half_or_tf32.format, half_roundoff, half_underflow, float_sum, 0, false,
               half_or_tf32.tolerance},
    // A tensor core ignores the low bits of a factor that nobody has rounded to TF32.
    Arithmetic{"tf32", 2 * half_roundoff, 0, float_sum, 0, false, half_or_tf32.tolerance},
    Arithmetic{half_sums.format, half_roundoff, half_underflow, half_roundoff, half_underflow, true,
               half_sums.tolerance},
    Arithmetic{bfloat.format, 0x1p-8, 0, float_sum, 0, false, bfloat.tolerance},
};

bool names(std::string_view formats, std::string_view format) {
  return formats == format || formats.starts_with(std::string(format) + "/") ||
         formats.ends_with("/" + std::string(format));
}

}  // namespace

std::vector<Arithmetic> arithmetics_of(std::string_view precision) {
  std::vector<Arithmetic> found;
  for (const Arithmetic& one : arithmetics) {
    if (!precision.empty() && !names(one.format, precision)) continue;
    found.push_back(one);
  }
  return found;
}

double grown(const Arithmetic& arithmetic, double factor) {
  if (factor == 0) return 0;
  return std::abs(factor) * (1 + arithmetic.factor_roundoff) + arithmetic.factor_underflow;
}

double allowance(const Arithmetic& arithmetic, const Magnitude& magnitude, double value, std::size_t terms) {
  const auto n = static_cast<double>(terms);
  const double v = arithmetic.sum_roundoff;
  const double summing =
      arithmetic.sums_as_factors ? std::expm1(lambda * std::sqrt(n) * v) : n * v / (1 - n * v);
  // The result may be stored in the factors' format.
  const double storing = arithmetic.factor_roundoff * std::abs(value) + arithmetic.factor_underflow;
  return magnitude.grown - magnitude.exact + summing * magnitude.grown + n * arithmetic.sum_underflow +
         storing;
}

}  // namespace mprof
