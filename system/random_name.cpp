// SPDX-License-Identifier: MIT
#include "system/random_name.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>
#include <sys/random.h>

#include "system/error.hpp"

namespace mprof {

std::string random_name() {
  std::uint64_t number = 0;
  ssize_t size = 0;
  do size = ::getrandom(&number, sizeof number, 0);
  while (size < 0 && errno == EINTR);
  if (size != sizeof number) {
    throw Error(ExitCode::environment,
                fmt::format("cannot get random numbers from the kernel: {}", std::strerror(errno)));
  }
  return fmt::format("{:016x}", number);
}

}  // namespace mprof
