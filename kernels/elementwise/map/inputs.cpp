// SPDX-License-Identifier: MIT
#include "kernels/elementwise/map/inputs.hpp"

#include "kernels/common/fingerprint.hpp"
#include "kernels/elementwise/map/start_values.hpp"

namespace mprof::elementwise {

Inputs::Inputs(const Matrix& of)
    : matrix(of),
      turning(of.size),
      values(make_input(of, turning.held())),
      fingerprint_at_load(fingerprint(values.span())) {}

}  // namespace mprof::elementwise
