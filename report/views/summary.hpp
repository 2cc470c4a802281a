// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include "model/run.hpp"

namespace mprof {

/// What `mprof run` prints at its end: a line a case with its medians, then what went wrong, in words. Plain
/// text of at most `width` columns.
[[nodiscard]] std::string render_summary(const Run& run, std::size_t width);

/// What mprof itself spent, pass by pass, and on what, in a line. Empty where it is not known.
[[nodiscard]] std::string render_spent(const Run& run, double seconds);

/// The same of each of several devices that a run went over; as a whole it took what the longest one did.
[[nodiscard]] std::string render_spent_on_devices(const Run& run);

}  // namespace mprof
