// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

#include "kernels/registry.hpp"

namespace mprof {

/// Whether --against names a variant, before anything is compiled: by its id, or by what stands behind the
/// family in an id. A source beside `file` may be meant where a family of the user's own lies there; `file`:
/// empty for none. Throws Error(usage) with what is spelled like it.
void require_against(const std::string& against, const std::filesystem::path& file, const Registry& registry);

/// The same for a class, whose --against is one variant, whatever a hand-in declares. Throws Error(usage) too
/// where variants of several families are called so.
void require_one_against(const std::string& against, const Registry& registry);

}  // namespace mprof
