// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <mutex>
#include <string_view>

namespace mprof::mcp {

/// Standard output, a line at a time from any thread. Who does not read is waited for, but not longer than
/// the server lives, nor than a moment where its input is closed too.
class OutputLines {
 public:
  /// `interrupt_fd` becomes readable when nothing is waited for any more, `ends_fd` when no further line
  /// comes.
  OutputLines(int interrupt_fd, int ends_fd) : interrupt_fd_(interrupt_fd), ends_fd_(ends_fd) {}
  /// False where nobody reads it, now and from then on.
  bool write(std::string_view line);
  [[nodiscard]] bool is_closed() const { return is_closed_; }

 private:
  bool write_bytes(std::string_view bytes);
  [[nodiscard]] bool wait_until_writable() const;

  std::mutex mutex_;
  int interrupt_fd_;
  int ends_fd_;
  std::atomic<bool> is_closed_ = false;
};

}  // namespace mprof::mcp
