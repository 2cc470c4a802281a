// SPDX-License-Identifier: MIT
#include "inputs/checksum.hpp"

#include <array>
#include <cerrno>
#include <cstring>

#include <sys/types.h>
// After what defines its integers.
#include <fmt/format.h>
#include <sha2.h>

#include "system/error.hpp"

namespace mprof {

std::string sha256_of_file(const std::filesystem::path& path) {
  std::array<char, SHA256_DIGEST_STRING_LENGTH> digits{};
  if (SHA256File(path.c_str(), digits.data()) == nullptr) {
    throw Error(ExitCode::usage,
                fmt::format("{}: {}. Its checksum is part of the run's record: check that it can be read.",
                            path.string(), std::strerror(errno)));
  }
  return fmt::format("sha256:{}", digits.data());
}

std::string sha256_of_text(std::string_view text) {
  std::array<char, SHA256_DIGEST_STRING_LENGTH> digits{};
  SHA256Data(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), digits.data());
  return fmt::format("sha256:{}", digits.data());
}

}  // namespace mprof
