// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

namespace mprof {

/// Writes a first family of the user's own that works, with variants for the device: all of its files, or
/// none. Throws Error(environment) where they cannot be written.
void write_first_family(const std::filesystem::path& folder, const std::string& name,
                        const std::string& device);

}  // namespace mprof
