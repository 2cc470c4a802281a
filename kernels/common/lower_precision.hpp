// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

/// How far an output may be off whose factors, or whose sums, are kept in fewer bits than FP32 has. An output
/// is right in such an arithmetic where each of its elements stays within what the arithmetic can do to it.
namespace mprof {

/// An element is the sum of products of two factors, each rounded to `format` before.
struct Arithmetic {
  std::string_view format{};     ///< in which an output is as exact (model/precision.hpp)
  double factor_roundoff = 0;    ///< largest relative error of a factor
  double factor_underflow = 0;   ///< largest absolute error of one below the smallest normal number
  double sum_roundoff = 0;       ///< largest relative error of an addition
  double sum_underflow = 0;      ///< largest absolute error of a product that is kept in the sum's format
  bool sums_as_factors = false;  ///< the sums are in the factors' format too
  double tolerance = 0;  ///< relative L2 error of an item that counts as right, as built-in variants have it
};

/// Those in which an output of this precision may be right, the tightest first: of "" all that mprof looks
/// for, of "fp32" none.
[[nodiscard]] std::vector<Arithmetic> arithmetics_of(std::string_view precision);

/// The magnitudes of an element's products, added up: of the factors as they are, and of the factors as large
/// as `grown()` makes them.
struct Magnitude {
  double exact = 0;
  double grown = 0;
};

/// The largest magnitude that a factor of this value has in the arithmetic. A factor of 0 stays 0.
[[nodiscard]] double grown(const Arithmetic& arithmetic, double factor);

/// How far an element of this value may be off: a sum of `terms` products with this magnitude.
[[nodiscard]] double allowance(const Arithmetic& arithmetic, const Magnitude& magnitude, double value,
                               std::size_t terms);

}  // namespace mprof
