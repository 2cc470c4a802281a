// SPDX-License-Identifier: MIT
#pragma once

namespace mprof::cuda {

/// Cycles a second of one of the current GPU's multiprocessors, Hz, by its own counter and the GPU's timer:
/// it spins for a millisecond, on the default stream. NVML tells which clock was set; an H100 that was told
/// to run at 1.98 GHz ran at 1.995 for a run of 42 s. Waits for the GPU. Throws Error when it refuses.
[[nodiscard]] double measured_sm_clock();

}  // namespace mprof::cuda
