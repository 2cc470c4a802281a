// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace mprof {

/// A first suite that works, to begin with. In it @FILE@ stands for what it will be called.
[[nodiscard]] std::string_view first_suite();

}  // namespace mprof
