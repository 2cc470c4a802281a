// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "kernels/common/loaded/openblas.h"

namespace mprof {

/// What a CPU has that OpenBLAS has kernels for.
struct VectorExtensions {
  bool avx2_and_fma = false;
  bool avx512 = false;  ///< F, CD, BW, DQ and VL: what Skylake's servers brought
  bool amd = false;
};

/// Of the CPU that this runs on.
[[nodiscard]] VectorExtensions vector_extensions();

/// The set of kernels that OpenBLAS should take on such a CPU. By itself it goes by model numbers, and on a
/// model that is younger than it is it takes those for SSE3. Empty where it should choose by itself.
[[nodiscard]] std::string_view openblas_core_type(const VectorExtensions& extensions);

/// What OpenBLAS reads when it is loaded.
[[nodiscard]] std::map<std::string, std::string> openblas_environment();

/// OpenBLAS, which stays on the calling thread. It is loaded at the first use: it starts threads then, and no
/// process that does without it has them.
class OpenBlas {
 public:
  /// Throws Error(environment) that says why it cannot be loaded.
  static const OpenBlas& instance();

  /// c [m][n] = a [m][k] x b [k][n], row by row.
  void multiply(int m, int n, int k, const float* a, const float* b, float* c) const {
    multiply_(m, n, k, a, b, c);
  }

  /// What it says of itself, or why it cannot be loaded.
  static std::string config();
  static std::string core_type();

 private:
  OpenBlas();

  decltype(&mprof_openblas_sgemm) multiply_;
  decltype(&mprof_openblas_config) config_;
  decltype(&mprof_openblas_core_type) core_type_;
};

}  // namespace mprof
