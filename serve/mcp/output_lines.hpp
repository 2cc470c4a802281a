// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <mutex>
#include <string_view>

namespace mprof::mcp {

/// Standard output, a line at a time from any thread. Who does not read is waited for, but not longer than
/// the server lives.
class OutputLines {
 public:
  /// `stop_fd`: becomes readable when nothing needs to be written any more.
  explicit OutputLines(int stop_fd) : stop_fd_(stop_fd) {}
  /// False where nobody reads it, now and from then on.
  bool write(std::string_view line);
  [[nodiscard]] bool is_closed() const { return is_closed_; }

 private:
  bool write_bytes(std::string_view bytes);

  std::mutex mutex_;
  int stop_fd_;
  std::atomic<bool> is_closed_ = false;
};

}  // namespace mprof::mcp
