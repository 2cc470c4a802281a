// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace mprof {

/// "sha256:" and the 64 hexadecimal digits of the file's SHA-256. Throws Error(usage) that names the file
/// when it cannot be read.
[[nodiscard]] std::string sha256_of_file(const std::filesystem::path& path);

/// The same of a text.
[[nodiscard]] std::string sha256_of_text(std::string_view text);

}  // namespace mprof
