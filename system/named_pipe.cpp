// SPDX-License-Identifier: MIT
#include "system/named_pipe.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/error.hpp"

namespace mprof {

NamedPipe::NamedPipe(std::filesystem::path path) : path_(std::move(path)) {
  constexpr mode_t own = 0600;
  // Opened for writing too, so that it is not at its end before anybody writes.
  if (::mkfifo(path_.c_str(), own) == 0) fd_ = ::open(path_.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (fd_ < 0)
    throw Error(ExitCode::environment,
                fmt::format("{}: a named pipe cannot be made: {}.", path_.string(), std::strerror(errno)));
}

NamedPipe::~NamedPipe() {
  ::close(fd_);
  std::error_code error;
  std::filesystem::remove(path_, error);
}

}  // namespace mprof
