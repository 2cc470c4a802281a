// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "runner/coordinator.hpp"

namespace mprof::cli {

enum class ProgressStyle {
  bar,    ///< one line of a terminal, rewritten in place
  lines,  ///< a line for each finished case: pipes and logs
  quiet,  ///< nothing but what went wrong
};

/// What fits standard error, unless the user asked for quiet.
[[nodiscard]] ProgressStyle style_of(bool quiet);

/// Writes to standard error, so that standard output stays for results.
[[nodiscard]] std::unique_ptr<Progress> make_progress(ProgressStyle style, const Clock& clock);

}  // namespace mprof::cli
