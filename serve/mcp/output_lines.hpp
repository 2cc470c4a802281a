// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <string_view>

namespace mprof::mcp {

/// Standard output, a line at a time from any thread. Who does not read is waited for, but not longer than
/// the server lives, nor than a moment where its input is closed too.
class OutputLines {
 public:
  /// `stop_fds`: one of them becomes readable when nothing needs to be waited for any more.
  explicit OutputLines(std::array<int, 2> stop_fds) : stop_fds_(stop_fds) {}
  /// False where nobody reads it, now and from then on.
  bool write(std::string_view line);
  [[nodiscard]] bool is_closed() const { return is_closed_; }

 private:
  bool write_bytes(std::string_view bytes);
  [[nodiscard]] bool wait_until_writable() const;

  std::mutex mutex_;
  std::array<int, 2> stop_fds_;
  std::atomic<bool> is_closed_ = false;
};

}  // namespace mprof::mcp
