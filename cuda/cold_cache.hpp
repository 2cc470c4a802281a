#pragma once

/// An L2 cache that holds nothing of use and nothing dirty, so that what runs next neither finds its data
/// there nor pays for writing back another's.
namespace mprof::cuda {

/// Reads twice as many bytes as the L2 cache holds; both functions do. What was dirty there is written back
/// on the way. Queued on the default stream.
void clean_cache();

/// The same from within a callback of the driver, where the runtime is in the middle of a call; waits for it.
/// clean_cache() must have been called before.
void clean_cache_in_callback();

}  // namespace mprof::cuda
