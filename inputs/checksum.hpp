#pragma once

#include <filesystem>
#include <string>

namespace mprof {

/// "sha256:" and the 64 hexadecimal digits of the file's SHA-256. Throws Error(usage) that names the file
/// when it cannot be read.
[[nodiscard]] std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace mprof
