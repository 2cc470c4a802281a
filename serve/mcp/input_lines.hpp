// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mprof::mcp {

/// Makes lines of what comes bit by bit. A line beyond the limit is left out as it comes, and counted.
class InputLines {
 public:
  explicit InputLines(std::size_t longest) : longest_(longest) {}

  /// Calls `on_line` with each whole line, and `on_too_long` for each that is too long.
  template <class OnLine, class OnTooLong>
  void add(std::string_view bytes, const OnLine& on_line, const OnTooLong& on_too_long) {
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      const std::string_view part = bytes.substr(0, end);
      if (!is_too_long_ && kept_.size() + part.size() > longest_) {
        is_too_long_ = true;
        kept_ = std::string();
      }
      if (!is_too_long_) kept_ += part;
      if (end == std::string_view::npos) return;
      bytes.remove_prefix(end + 1);
      if (is_too_long_) {
        is_too_long_ = false;
        on_too_long();
      } else {
        const std::string line = std::move(kept_);
        kept_ = std::string();
        on_line(std::string_view(line));
      }
    }
  }

 private:
  std::size_t longest_;
  std::string kept_;
  bool is_too_long_ = false;
};

}  // namespace mprof::mcp
