// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include "model/run.hpp"

namespace mprof {

/// What `mprof run` prints at its end: a line a case with its medians, then what went wrong, in words. Plain
/// text of at most `width` columns.
[[nodiscard]] std::string render_summary(const Run& run, std::size_t width);

/// Seconds in which all of its passes measured and verified so far, an earlier session included.
[[nodiscard]] double measuring_time(const Run& run);

/// How long a session took, and how much of it measured and verified, both in seconds. Empty where nothing
/// was measured.
[[nodiscard]] std::string render_spent(double seconds, double measuring);

/// The same of each of several devices that a run went over; as a whole it took what the longest one did.
[[nodiscard]] std::string render_spent_on_devices(const Run& run);

}  // namespace mprof
