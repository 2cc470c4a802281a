#pragma once

#include <map>
#include <string>
#include <string_view>

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

/// What OpenBLAS reads when it is loaded, which is before main().
[[nodiscard]] std::map<std::string, std::string> openblas_environment();

}  // namespace mprof
