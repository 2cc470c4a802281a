// SPDX-License-Identifier: MIT
#include "report/analysis/program/kernel_kinds.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace mprof {
namespace {

struct Mark {
  std::string_view text;  ///< in lower case; behind ^ at the beginning alone
  KernelKind kind;
};

using enum KernelKind;

/// The first one that a name holds tells. What is more special stands first: a convolution as a matrix
/// product has "gemm" in its name, and a generic kernel has its functor's.
constexpr std::array marks{
    Mark{"nccl", communication},
    Mark{"nvshmem", communication},
    Mark{"all_reduce", communication},
    Mark{"allreduce", communication},
    Mark{"allgather", communication},
    Mark{"reduce_scatter", communication},
    Mark{"cross_device_reduce", communication},
    Mark{"flash", attention},
    Mark{"fmha", attention},
    Mark{"attention", attention},
    Mark{"sdpa", attention},
    Mark{"multi_tensor_apply", optimizer},
    Mark{"adam", optimizer},
    Mark{"batch_norm", normalization},
    Mark{"batchnorm", normalization},
    Mark{"bn_fw", normalization},
    Mark{"bn_bw", normalization},
    Mark{"layer_norm", normalization},
    Mark{"layernorm", normalization},
    Mark{"gammabeta", normalization},  // PyTorch's backward of layer_norm
    Mark{"rms_norm", normalization},
    Mark{"rmsnorm", normalization},
    Mark{"group_norm", normalization},
    Mark{"groupnorm", normalization},
    Mark{"nchwtonhwc", layout},
    Mark{"nhwctonchw", layout},
    Mark{"converttensor", layout},
    Mark{"fprop", convolution},
    Mark{"dgrad", convolution},
    Mark{"wgrad", convolution},
    Mark{"winograd", convolution},
    Mark{"implicit_gemm", convolution},
    Mark{"convolution", convolution},
    Mark{"convolve", convolution},
    Mark{"conv2d", convolution},
    Mark{"conv_", convolution},
    Mark{"gemm", matrix_product},
    Mark{"gemv", matrix_product},
    Mark{"matmul", matrix_product},
    Mark{"nvjet", matrix_product},
    Mark{"splitkreduce", matrix_product},
    Mark{"softmax", softmax},
    Mark{"nll_loss", softmax},
    Mark{"cross_entropy", softmax},
    Mark{"pool", pooling},
    Mark{"spmv", sparse},
    Mark{"spmm", sparse},
    Mark{"csrmv", sparse},
    Mark{"fft", transform},
    Mark{"distribution", random},
    Mark{"curand", random},
    Mark{"philox", random},
    Mark{"dropout", random},
    Mark{"radixsort", sorting},
    Mark{"mergesort", sorting},
    Mark{"sort", sorting},
    Mark{"topk", sorting},
    Mark{"devicescan", sorting},
    Mark{"embedding", indexing},
    Mark{"gather", indexing},
    Mark{"scatter", indexing},
    Mark{"indexselect", indexing},
    Mark{"index", indexing},
    Mark{"transpose", layout},
    Mark{"permute", layout},
    Mark{"catarray", layout},
    Mark{"direct_copy", layout},
    Mark{"copy_kernel", layout},
    Mark{"im2col", layout},
    Mark{"col2im", layout},
    Mark{"reduce", reduction},
    Mark{"reduction", reduction},
    Mark{"triton_red", reduction},
    Mark{"triton_per", reduction},
    Mark{"elementwise", elementwise},
    Mark{"pointwise", elementwise},
    Mark{"triton_poi", elementwise},
    Mark{"^loop_", elementwise},
};

/// The first of the template arguments, without its own and without namespaces; empty where there is none.
std::string_view first_argument(std::string_view kernel) {
  const std::size_t begin = kernel.find('<');
  if (begin == std::string_view::npos) return {};
  const std::string_view rest = kernel.substr(begin + 1);
  const std::string_view argument = rest.substr(0, rest.find_first_of("<,>("));
  const std::size_t qualified = argument.rfind(':');
  return qualified == std::string_view::npos ? argument : argument.substr(qualified + 1);
}

}  // namespace

KernelKind kernel_kind(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto* const mark = std::ranges::find_if(marks, [&](const Mark& one) {
    return one.text.starts_with('^') ? lower.starts_with(one.text.substr(1))
                                     : lower.find(one.text) != lower.npos;
  });
  return mark == marks.end() ? other : mark->kind;
}

std::string_view function_name(std::string_view kernel) {
  constexpr std::array<std::string_view, 3> wrappers{"Kernel", "Kernel2", "device_kernel"};
  const std::string_view function = kernel.substr(0, kernel.find_first_of("<, "));
  const bool is_wrapper = std::ranges::find(wrappers, function) != wrappers.end() &&
                          kernel.find("cutlass") != std::string_view::npos;
  const std::string_view wrapped = first_argument(kernel);
  return is_wrapper && !wrapped.empty() ? wrapped : function;
}

}  // namespace mprof
