// SPDX-License-Identifier: MIT
#pragma once

namespace mprof::conv {

/// Division by a number that is known when a kernel is launched, as a multiplication and a shift: a GPU has
/// no instruction that divides integers. Exact for dividends below 2^31 (T. Granlund, P. Montgomery: Division
/// by Invariant Integers using Multiplication, PLDI 1994, figure 4.1).
class Divisor {
 public:
  explicit Divisor(unsigned divisor) : divisor_(divisor) {
    while ((1ULL << shift_) < divisor) ++shift_;
    multiplier_ = static_cast<unsigned>((((1ULL << shift_) - divisor) << 32) / divisor + 1);
  }

  [[nodiscard]] __device__ unsigned quotient(unsigned dividend) const {
    return (__umulhi(dividend, multiplier_) + dividend) >> shift_;
  }
  [[nodiscard]] __device__ unsigned remainder(unsigned dividend) const {
    return dividend - quotient(dividend) * divisor_;
  }

 private:
  unsigned divisor_;
  unsigned multiplier_ = 0;
  unsigned shift_ = 0;
};

}  // namespace mprof::conv
