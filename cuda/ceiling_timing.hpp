// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

namespace mprof::cuda {

/// Seconds of the GPU for `work`, which launches on the default stream. It is the shortest of as many rounds
/// as fit into `seconds`, and of at least three. One more comes first and is left out: it loads the kernel
/// and wakes the clocks. Throws Error when the GPU refuses.
[[nodiscard]] double shortest(double seconds, const std::function<void()>& work);

}  // namespace mprof::cuda
