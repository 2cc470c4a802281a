// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace mprof {

/// A time in the unit that suits it, to three digits: "1.3 µs", "100 µs", "2.51 ms", "12 s".
[[nodiscard]] std::string seconds_text(double seconds);

}  // namespace mprof
