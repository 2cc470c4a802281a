// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace mprof::injection {

/// When this process began, in ns since 1970, as exactly as the kernel tells it: to 10 ms. 0: it does not.
[[nodiscard]] std::int64_t process_start();

}  // namespace mprof::injection
