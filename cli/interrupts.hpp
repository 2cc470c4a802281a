#pragma once

namespace mprof::cli {

/// Turns SIGINT and SIGTERM into a readable file descriptor for as long as it lives, so that a run can end
/// cleanly. One at a time.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_ = -1;
};

}  // namespace mprof::cli
