#include "system/folder_lock.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "system/error.hpp"

namespace mprof {
namespace {

/// is_held() has it for microseconds: whoever has it longer means it.
constexpr int attempts = 5;
constexpr std::chrono::milliseconds pause{50};

int open_folder(const std::filesystem::path& folder) {
  return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder) : fd_(open_folder(folder)) {
  if (fd_ < 0)
    throw Error(ExitCode::environment, fmt::format("cannot open the result directory {}: {}", folder.string(),
                                                   std::strerror(errno)));
  for (int i = 1; ::flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; ++i) {
    if (i == attempts) {
      ::close(fd_);
      throw Error(ExitCode::usage,
                  fmt::format("another mprof is writing to {}; wait for it, or choose another --out",
                              folder.string()));
    }
    std::this_thread::sleep_for(pause);
  }
}

FolderLock::~FolderLock() {
  ::close(fd_);
}

bool FolderLock::is_held(const std::filesystem::path& folder) {
  const int fd = open_folder(folder);
  if (fd < 0) return false;
  const bool held = ::flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(fd);
  return held;
}

}  // namespace mprof
