// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mprof {

/// The names of a kernel, from its symbol in the GPU's code.
struct KernelName {
  std::string whole;      ///< demangled: void mprof::(anonymous namespace)::tiled<16>(float*)
  std::string templated;  ///< with its template arguments and nothing else: tiled<16>
  std::string brief;      ///< as Nsight Compute's tables show it: tiled
};

/// A symbol that is no mangled C++ name (extern "C", a library's own) is its own name.
[[nodiscard]] KernelName kernel_name(std::string_view symbol);
/// The same from a name that is demangled already, as traces have it.
[[nodiscard]] KernelName kernel_name_of_demangled(std::string_view whole);

/// A name for each of the kernels that one op launches. It is the brief name, with its template arguments
/// where two kernels would have the same name, and with a number where even these are the same.
[[nodiscard]] std::vector<std::string> distinct_kernel_names(std::span<const std::string> symbols);
[[nodiscard]] std::vector<std::string> distinct_names(std::span<const KernelName> all);

}  // namespace mprof
