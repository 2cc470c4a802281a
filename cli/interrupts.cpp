// SPDX-License-Identifier: MIT
#include "cli/interrupts.hpp"

#include <cstdint>

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace mprof::cli {
namespace {

/// Where the handler writes. A handler, not a blocked signal and signalfd: libraries start threads before
/// main(), and a signal that one thread blocks is delivered to another.
volatile int interrupt_fd = -1;

void on_interrupt(int /*signal*/) {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(interrupt_fd, &one, sizeof one));
}

void set_handler(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  struct sigaction of_hangup {};
  ::sigaction(SIGHUP, nullptr, &of_hangup);
  if (of_hangup.sa_handler != SIG_IGN) ::sigaction(SIGHUP, &action, nullptr);
}

}  // namespace

Interrupts::Interrupts()
    : is_outermost_(interrupt_fd < 0),
      fd_(is_outermost_ ? ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : interrupt_fd) {
  if (!is_outermost_) return;
  interrupt_fd = fd_;
  set_handler(on_interrupt);
}

Interrupts::~Interrupts() {
  if (!is_outermost_) return;
  set_handler(SIG_DFL);
  interrupt_fd = -1;
  ::close(fd_);
}

}  // namespace mprof::cli
