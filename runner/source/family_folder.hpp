// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// A folder that is a family: family.cpp (or .cu, or a library) declares it, and each other source or library
/// beside that is a variant of it.
namespace mprof {

struct FamilyFolder {
  std::filesystem::path family{};                 ///< the file that declares it
  std::vector<std::filesystem::path> variants{};  ///< in the order of their names
};

/// The file in `folder` that declares a family; nullopt: no such file. Throws Error(usage) for several.
[[nodiscard]] std::optional<std::filesystem::path> family_file(const std::filesystem::path& folder);

/// Throws Error(usage) that names the folder, and says what it lacks or has twice.
[[nodiscard]] FamilyFolder read_family_folder(const std::filesystem::path& folder);

/// A text as part of a variant's id, which is a part of names of files too.
[[nodiscard]] std::string as_name(std::string text);
/// The variant's name: a file's name without its ending.
[[nodiscard]] std::string variant_name(const std::filesystem::path& file);

}  // namespace mprof
