#include "cli/interrupts.hpp"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace mprof::cli {
namespace {

sigset_t watched() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGINT);
  ::sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

Interrupts::Interrupts() {
  const sigset_t set = watched();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  fd_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

Interrupts::~Interrupts() {
  // Taken out first: a pending signal that is unblocked would end the process before it has said what is on
  // disk.
  signalfd_siginfo taken{};
  while (::read(fd_, &taken, sizeof taken) > 0) {
  }
  const sigset_t set = watched();
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
  ::close(fd_);
}

}  // namespace mprof::cli
