#pragma once

namespace mprof::cuda {

/// Loads the machine code of every kernel of this program, which CUDA otherwise does when a kernel is
/// launched first. CUPTI tells sampled instructions of a kernel apart only where its module was there before
/// CUPTI's profiler was used for the first time in the process.
void load_own_kernels();

}  // namespace mprof::cuda
