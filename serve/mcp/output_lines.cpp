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

/// False where nobody will read. A client that has closed its input may be slow to read the rest of its
/// answers; one that reads nothing for so long has gone. An interruption waits for nobody.
bool OutputLines::wait_until_writable() const {
  constexpr int patience_ms = 5000;
  std::array<pollfd, 4> watched{pollfd{STDOUT_FILENO, POLLOUT, 0}, pollfd{interrupt_fd_, POLLIN, 0},
                                pollfd{ends_fd_, POLLIN, 0}, pollfd{STDIN_FILENO, POLLRDHUP, 0}};
  bool has_left = false;
  while (true) {
    const int ready = ::poll(watched.data(), has_left ? 2 : 4, has_left ? patience_ms : -1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    if (watched[0].revents != 0) return true;
    if (watched[1].revents != 0) return false;
    has_left = true;
  }
}

/// A pipe that can be written takes as much as PIPE_BUF at once: the write does not block.
bool OutputLines::write_bytes(std::string_view bytes) {
  while (!bytes.empty()) {
    if (!wait_until_writable()) return false;
    const ssize_t n = ::write(STDOUT_FILENO, bytes.data(), std::min(bytes.size(), std::size_t{PIPE_BUF}));
    if (n < 0 && errno != EINTR && errno != EAGAIN) return false;
    if (n > 0) bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace mprof::mcp
