// SPDX-License-Identifier: MIT
#pragma once

namespace mprof::cli {

/// Turns SIGINT, SIGTERM and, unless it is ignored (nohup), SIGHUP into a readable file descriptor for as
/// long as it lives, so that a run can end cleanly. One within another shares its descriptor: what interrupts
/// a part of the work interrupts the whole.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
  [[nodiscard]] int fd() const { return fd_; }

 private:
  bool is_outermost_;
  int fd_;
};

}  // namespace mprof::cli
