// SPDX-License-Identifier: MIT
#include "serve/mcp/output_lines.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include <limits.h>
#include <poll.h>
#include <unistd.h>

namespace mprof::mcp {

bool OutputLines::write(std::string_view line) {
  const std::lock_guard lock(mutex_);
  if (!is_closed_) is_closed_ = !write_bytes(line) || !write_bytes("\n");
  return !is_closed_;
}

/// A pipe that can be written takes as much as PIPE_BUF at once: the write does not block.
bool OutputLines::write_bytes(std::string_view bytes) {
  while (!bytes.empty()) {
    std::array<pollfd, 2> watched{pollfd{STDOUT_FILENO, POLLOUT, 0}, pollfd{stop_fd_, POLLIN, 0}};
    if (::poll(watched.data(), watched.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    if (watched[1].revents != 0) return false;
    const ssize_t n = ::write(STDOUT_FILENO, bytes.data(), std::min(bytes.size(), std::size_t{PIPE_BUF}));
    if (n < 0 && errno != EINTR && errno != EAGAIN) return false;
    if (n > 0) bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace mprof::mcp
