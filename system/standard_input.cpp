// SPDX-License-Identifier: MIT
#include "system/standard_input.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/error.hpp"

namespace mprof {
namespace {

constexpr std::size_t most_kept = std::size_t{256} << 20;  // B
constexpr int first_byte = 2000;                           // ms, for the first byte

int kept_input = -1;  ///< a file in memory

bool is_pipe() {
  struct stat status {};
  return ::fstat(STDIN_FILENO, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ExitCode::usage,
              fmt::format("Standard input is a pipe, which mprof keeps for each execution: {}. Write it to a "
                          "file, and give that: < FILE.",
                          why));
}

void write_all(int file, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(file, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) refuse(fmt::format("it cannot be kept: {}", std::strerror(errno)));
    data += written;
    size -= static_cast<std::size_t>(written);
  }
}

/// Up to the end of the pipe.
void copy_pipe_to(int file) {
  std::array<char, std::size_t{64} << 10> buffer{};
  std::size_t all = 0;
  while (true) {
    const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) {
      pollfd ready{STDIN_FILENO, POLLIN, 0};
      ::poll(&ready, 1, -1);
      continue;
    }
    if (got < 0) refuse(fmt::format("it cannot be read: {}", std::strerror(errno)));
    if (got == 0) return;
    all += static_cast<std::size_t>(got);
    if (all > most_kept) refuse(fmt::format("it gives more than {} MiB", most_kept >> 20U));
    write_all(file, buffer.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

KeptInput keep_standard_input() {
  if (!is_pipe()) return KeptInput::no_pipe;
  if (kept_input >= 0) return KeptInput::kept;
  pollfd ready{STDIN_FILENO, POLLIN, 0};
  if (::poll(&ready, 1, first_byte) <= 0) return KeptInput::silent;
  kept_input = ::memfd_create("standard-input", MFD_CLOEXEC);
  if (kept_input < 0) refuse(fmt::format("it cannot be kept: {}", std::strerror(errno)));
  copy_pipe_to(kept_input);
  return KeptInput::kept;
}

int open_standard_input() {
  struct stat status {};
  int source = kept_input;
  if (::fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode)) source = STDIN_FILENO;
  if (source >= 0) {
    const int file = ::open(fmt::format("/proc/self/fd/{}", source).c_str(), O_RDONLY | O_CLOEXEC);
    if (file >= 0) return file;
  }
  return ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}

}  // namespace mprof
