// SPDX-License-Identifier: MIT
#pragma once

#include <signal.h>
#include <sys/resource.h>

namespace mprof::test {

/// While it lives, no file of this process grows: each write fails with EFBIG, as on a full disk.
class LimitOnFiles {
 public:
  LimitOnFiles() {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit none{.rlim_cur = 0, .rlim_max = before_.rlim_max};
    handler_ = ::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &none);
  }
  ~LimitOnFiles() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }
  LimitOnFiles(const LimitOnFiles&) = delete;
  LimitOnFiles& operator=(const LimitOnFiles&) = delete;

 private:
  rlimit before_{};
  sighandler_t handler_ = SIG_DFL;
};

}  // namespace mprof::test
