// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/registry.hpp"

/// Variants whose source is several files, which are compiled apart and linked into one library.
namespace mprof {

/// The files of "a.cu+b.cu": the first one is the variant, and gives its name. A path that is a file is one.
[[nodiscard]] std::vector<std::filesystem::path> parts_of(const std::filesystem::path& source);

/// How such a variant is named.
[[nodiscard]] std::filesystem::path joined(const std::vector<std::filesystem::path>& parts);

/// The first symbol that a linker or a loader says is undefined, as C++ writes it; nullopt where none is.
[[nodiscard]] std::optional<std::string> undefined_symbol(std::string_view message);

/// The sources beside the first of these that define a function of this name and are no variants themselves.
[[nodiscard]] std::vector<std::filesystem::path> definers(const std::string& symbol,
                                                          const std::vector<std::filesystem::path>& parts,
                                                          const Registry& registry);

/// What to add for this symbol: an option, or a file. Sentences.
[[nodiscard]] std::string advice_on_symbol(const std::string& symbol,
                                           const std::vector<std::filesystem::path>& parts,
                                           const std::vector<std::filesystem::path>& definers);

/// What to do about what a compiler wrote; empty where its words say it all.
[[nodiscard]] std::string advice_on_compiler(std::string_view message);

}  // namespace mprof
