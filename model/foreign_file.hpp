// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace mprof {

/// What a file is that a reader cannot read, by its name and its first bytes, and what to do with it. Empty
/// where it is nothing that people mistake for a profile. "this is a Git LFS pointer, not the file itself.
/// Fetch the file: `git lfs pull`."
[[nodiscard]] std::string what_it_is(std::string_view bytes, const std::filesystem::path& file);

/// The same of a file that can be read. Only its beginning is looked at.
[[nodiscard]] std::string what_it_is(const std::filesystem::path& file);

}  // namespace mprof
