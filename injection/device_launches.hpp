// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace mprof::injection {

/// Whether a module has the functions by which kernels launch kernels.
[[nodiscard]] bool launches_from_device(const char* cubin, std::size_t size);

}  // namespace mprof::injection
