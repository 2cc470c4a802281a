#include "kernels/common/openblas.hpp"

namespace mprof {

VectorExtensions vector_extensions() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return {.avx2_and_fma = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"),
          .avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
                    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl"),
          .amd = static_cast<bool>(__builtin_cpu_is("amd"))};
#else
  return {};
#endif
}

std::string_view openblas_core_type(const VectorExtensions& extensions) {
  if (extensions.avx512) return "SkylakeX";
  if (!extensions.avx2_and_fma) return "";
  return extensions.amd ? "Zen" : "Haswell";
}

std::map<std::string, std::string> openblas_environment() {
  const std::string_view core_type = openblas_core_type(vector_extensions());
  if (core_type.empty()) return {};
  return {{"OPENBLAS_CORETYPE", std::string(core_type)}};
}

}  // namespace mprof
