// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace mprof {

/// 16 hexadecimal digits that nobody can guess, from the kernel's random numbers.
[[nodiscard]] std::string random_name();

}  // namespace mprof
