// SPDX-License-Identifier: MIT
#include "inputs/checksum.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include <sys/types.h>
// After what defines its integers.
#include <fmt/format.h>
#include <sha2.h>

#include "system/error.hpp"

namespace mprof {

namespace {

[[noreturn]] void refuse_unreadable(const std::filesystem::path& path, int error) {
  throw Error(ExitCode::usage,
              fmt::format("{}: {}. Its checksum is part of the run's record: check that it can be read.",
                          path.string(), std::strerror(error)));
}

}  // namespace

std::string sha256_of_file(const std::filesystem::path& path) {
  return sha256_of_file(path, std::stop_token());
}

std::string sha256_of_file(const std::filesystem::path& path, const std::stop_token& stop) {
  constexpr std::size_t bytes_at_once = std::size_t{1} << 18;
  struct Closing {
    void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
  };
  const std::unique_ptr<std::FILE, Closing> file(std::fopen(path.c_str(), "rbe"));
  if (!file) refuse_unreadable(path, errno);
  SHA2_CTX sum;
  SHA256Init(&sum);
  std::vector<std::uint8_t> bytes(bytes_at_once);
  while (!stop.stop_requested()) {
    const std::size_t size = std::fread(bytes.data(), 1, bytes.size(), file.get());
    if (std::ferror(file.get()) != 0) refuse_unreadable(path, errno);
    SHA256Update(&sum, bytes.data(), size);
    if (size < bytes.size()) {
      std::array<char, SHA256_DIGEST_STRING_LENGTH> digits{};
      SHA256End(&sum, digits.data());
      return fmt::format("sha256:{}", digits.data());
    }
  }
  return {};
}

std::string sha256_of_text(std::string_view text) {
  std::array<char, SHA256_DIGEST_STRING_LENGTH> digits{};
  SHA256Data(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), digits.data());
  return fmt::format("sha256:{}", digits.data());
}

}  // namespace mprof
