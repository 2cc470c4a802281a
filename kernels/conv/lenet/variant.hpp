// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "kernels/common/declaration.hpp"
#include "kernels/common/op.hpp"
#include "kernels/conv/lenet/shape.hpp"

/// What a variant of the family `conv` is: everything that its file needs to include.
namespace mprof::conv {

/// One way to compute a convolution. Pointers are to host memory, whatever the variant runs on. An object
/// serves one layer of one execution. Its constructor makes what lives as long as the process (library
/// handles, streams). Then the three stages run in turn, any number of times.
class Convolution : public Op {
 public:
  /// Allocates, and brings the inputs to where forward() reads them. `input` is [B][C][H][W], `mask`
  /// [M][C][K][K], `output` [B][M][H_out][W_out]; all stay valid until finish() has returned.
  virtual void prepare(const Shape& shape, const float* input, const float* mask, float* output) = 0;

  /// Shapes besides the network's at which it must be right as well. None is timed.
  [[nodiscard]] virtual std::span<const Shape> other_shapes() const { return {}; }
};

using Declaration = mprof::Declaration<Convolution>;
using Register = mprof::Register<Convolution>;

/// The largest relative L2 error of an image's output that still counts as right, in single precision.
inline constexpr double single_precision_tolerance = 1e-5;

}  // namespace mprof::conv
