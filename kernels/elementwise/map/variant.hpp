// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/common/declaration.hpp"
#include "kernels/common/op.hpp"
#include "kernels/elementwise/map/matrix.hpp"

/// What a variant of the family `elementwise` is: everything that its file needs to include.
namespace mprof::elementwise {

/// One way to compute the map. Pointers are to host memory, whatever the variant runs on. An object serves
/// one execution: its constructor makes what lives as long as the process, and then the three stages run in
/// turn, any number of times.
class Map : public Op {
 public:
  /// Allocates, and brings the input to where forward() reads it. `input` and `output` are [size][size] and
  /// do not overlap, so that forward() finds its input whenever it is repeated; both stay valid until
  /// finish() has returned.
  virtual void prepare(const Matrix& matrix, const float* input, float* output) = 0;
};

using Declaration = mprof::Declaration<Map>;
using Register = mprof::Register<Map>;

}  // namespace mprof::elementwise
