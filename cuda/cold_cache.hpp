// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

/// Caches that hold nothing of use and nothing dirty, so that what runs next neither finds its data there nor
/// pays for writing back another's.
namespace mprof::cuda {

/// Reads twice as many bytes as the L2 cache holds; both functions do. What was dirty there is written back
/// on the way. Queued on the default stream.
void clean_cache();

/// For a kernel that is launched again and again, and each time must find what it finds in a program. The
/// instruction caches hold nothing of it either, and the TLBs none of its pages. It is called from within a
/// callback of the driver, where the runtime is in the middle of a call. It waits until it is done.
/// clean_cache() must have been called before.
void start_cold_in_callback();

/// How many kernels start_cold_in_callback() launches.
inline constexpr std::size_t cold_start_launches = 2;

}  // namespace mprof::cuda
