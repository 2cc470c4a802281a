// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "kernels/common/verification.hpp"
#include "kernels/elementwise/map/matrix.hpp"

/// What is right, computed in double precision by the definition, and how far single precision may be from
/// it.
///
/// A trajectory is v(0), v(1) ... v(n): each v(i+1) = v(i) + sqrt(f(v(i)) + 1). Let r = sqrt(f + 1) and u =
/// 2^-24. One step in single precision adds at most these errors to the error that it finds:
///
/// - of f: 4 ulp, that is 8 u |f|. The CUDA C++ Programming Guide gives this for tanf, the worst of the four
///   (logf 1, cosf 2, sinf 2), and glibc's manual for all functions of its vector library.
/// - of f + 1: u (f + 1). The root makes (8 u |f| + u (f + 1)) / (2 r) of both together.
/// - of r: u r. Square roots are rounded correctly, in CUDA unless an option forbids it.
/// - of v + r: u v(i+1).
///
/// The step multiplies the error that it found with |1 + f'(v) / (2 r)|. That factor is at least 1.47 for the
/// tangent, without an upper bound near its poles; r has no lower bound near odd multiples of pi. So no
/// tolerance is right for every v(0). Start values are drawn (start_values.hpp) where this tolerance can be
/// promised: tolerance(n) = 2^(n+1) u, relative to v(n). It doubles with each iteration, somewhat faster than
/// the tangent's error grows where it grows slowly. Errors of second order are below 1e-3 of it.
///
/// What passes is therefore as good as single precision can promise. A function that is only a little coarser
/// passes as well. The sine of -use_fast_math has an error of 2^-21 within [-pi, pi], and the v that it is
/// added to is rounded to that.
namespace mprof::elementwise {

/// The largest relative error of an element that still counts as right.
[[nodiscard]] double tolerance(unsigned iterations);

/// The largest error of v(n) that single precision can make, by the sum above, relative to v(n). It is
/// infinite where the trajectory comes so close to f(v) + 1 = 0 that an error of single precision could make
/// it negative.
[[nodiscard]] double error_bound(std::size_t column, double start, unsigned iterations);

/// What becomes of one element.
[[nodiscard]] double reference(std::size_t column, double start, unsigned iterations);

/// `output` [size][size] beside the reference, element by element. Right when every element was written and
/// is finite and none has a relative error above `tolerance`.
[[nodiscard]] OutputToVerify to_verify(std::string_view op, const Matrix& matrix,
                                       std::span<const float> input, std::span<const float> output,
                                       double tolerance);

}  // namespace mprof::elementwise
