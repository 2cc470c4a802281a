// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <span>

#include "collectors/injection.hpp"
#include "model/trace/journal_reader.hpp"

namespace mprof {

/// The lines of source at which the warps of a program's kernels stood, from the journals of its processes:
/// the most sampled ones of each kernel, all of the op whole_program. CUPTI does not say of which launch a
/// sample is. `folder` has the machine code that the processes kept.
[[nodiscard]] InjectedPass read_injected_source(std::span<const journal::Journal> journals,
                                                const std::filesystem::path& folder);

}  // namespace mprof
