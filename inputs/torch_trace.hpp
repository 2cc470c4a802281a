// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "model/trace/trace.hpp"

/// Reads what PyTorch's profiler writes (`prof.export_chrome_trace("trace.json")`): Chrome's JSON, in which
/// kernels, copies and calls of CUDA are events like any other.
namespace mprof {

/// Annotations (`record_function`, steps of the profiler) are ranges of the default domain. PyTorch's
/// operators are ranges of a domain of their own, so that they are ops only where there is no annotation, or
/// where they are asked for.
inline constexpr const char* torch_domain = "PyTorch";

/// Parses JSON text. `name` is what messages call it. Rows have no case; times are exact to the nanosecond
/// where the file is. Throws Error(usage) for text that is no JSON, that no `traceEvents` are in, or that has
/// neither a kernel, a copy nor a call of CUDA.
[[nodiscard]] trace::Trace parse_torch_trace(std::string_view text, const std::string& name);

/// Reads a file, which gzip may have compressed. Throws Error(usage) that names it.
[[nodiscard]] trace::Trace read_torch_trace(const std::filesystem::path& file);

}  // namespace mprof
