// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

/// What the names of NVTX ranges say of what a program does in them.
namespace mprof {

/// "gc", "Python GC", "garbage collection".
[[nodiscard]] bool is_garbage_collection(std::string_view range);

/// "load", "next data", PyTorch's "enumerate(DataLoader)#...": the part of a step that gets its input.
[[nodiscard]] bool is_loader(std::string_view range);

}  // namespace mprof
