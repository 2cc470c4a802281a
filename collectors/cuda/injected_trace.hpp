// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "collectors/injection.hpp"
#include "model/trace/journal_reader.hpp"

namespace mprof {

/// The trace that the journals of a program's processes hold together. A journal of another CUPTI than this
/// build's gives a note alone.
[[nodiscard]] InjectedPass read_injected_trace(std::span<const journal::Journal> journals);

}  // namespace mprof
