// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace mprof::cuda {

/// Writes `pattern` to `count` 32-bit words of device memory and waits until it is done.
void fill(void* device_memory, std::size_t count, std::uint32_t pattern);

/// The same on the default stream, without waiting: for many places with one wait after them.
void begin_fill(void* device_memory, std::size_t count, std::uint32_t pattern);

}  // namespace mprof::cuda
