// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>

namespace mprof {

/// "sha256:" and the 64 hexadecimal digits of the file's SHA-256. Throws Error(usage) that names the file
/// when it cannot be read.
[[nodiscard]] std::string sha256_of_file(const std::filesystem::path& path);

/// The same; empty where it was asked to stop before it was done.
[[nodiscard]] std::string sha256_of_file(const std::filesystem::path& path, const std::stop_token& stop);

/// The same of a text.
[[nodiscard]] std::string sha256_of_text(std::string_view text);

}  // namespace mprof
