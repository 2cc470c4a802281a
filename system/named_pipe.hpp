// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

namespace mprof {

/// A named pipe that is there as long as the object is, and that other processes write to.
class NamedPipe {
 public:
  /// Throws Error(environment) when it cannot be made.
  explicit NamedPipe(std::filesystem::path path);
  ~NamedPipe();
  NamedPipe(const NamedPipe&) = delete;
  NamedPipe& operator=(const NamedPipe&) = delete;

  /// Readable once a byte was written to it.
  [[nodiscard]] int fd() const { return fd_; }

 private:
  std::filesystem::path path_;
  int fd_ = -1;
};

}  // namespace mprof
