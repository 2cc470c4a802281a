// SPDX-License-Identifier: MIT
#include "kernels/common/openblas.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "system/error.hpp"
#include "system/programs.hpp"

namespace mprof {
namespace {

constexpr const char* library_name = "libmprof_openblas.so";

void* open_library() {
  const auto library = own_library(library_name);
  if (!library) {
    throw Error(ExitCode::environment,
                fmt::format("{} is missing, which an installation of mprof has in lib/mprof", library_name));
  }
  void* const handle = ::dlopen(library->c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    throw Error(ExitCode::environment, fmt::format("OpenBLAS cannot be loaded: {}", ::dlerror()));
  return handle;
}

template <class Function>
Function* find(void* library, const char* name) {
  void* const found = ::dlsym(library, name);
  if (found == nullptr)
    throw Error(ExitCode::environment,
                fmt::format("{} is of another mprof: it has no {}", library_name, name));
  return reinterpret_cast<Function*>(found);
}

std::string of_openblas(const auto& ask) {
  try {
    return ask(OpenBlas::instance());
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

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

const OpenBlas& OpenBlas::instance() {
  static const OpenBlas openblas;
  return openblas;
}

OpenBlas::OpenBlas() {
  void* const library = open_library();
  multiply_ = find<decltype(mprof_openblas_sgemm)>(library, "mprof_openblas_sgemm");
  config_ = find<decltype(mprof_openblas_config)>(library, "mprof_openblas_config");
  core_type_ = find<decltype(mprof_openblas_core_type)>(library, "mprof_openblas_core_type");
  find<decltype(mprof_openblas_use_one_thread)>(library, "mprof_openblas_use_one_thread")();
}

std::string OpenBlas::config() {
  return of_openblas([](const OpenBlas& openblas) { return openblas.config_(); });
}

std::string OpenBlas::core_type() {
  return of_openblas([](const OpenBlas& openblas) { return openblas.core_type_(); });
}

}  // namespace mprof
