// SPDX-License-Identifier: MIT
#include "system/folder_lock.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/error.hpp"

namespace mprof {
namespace {

/// is_held() has it for microseconds: whoever has it longer means it.
constexpr int attempts = 5;
constexpr std::chrono::milliseconds pause{50};
constexpr int patient_attempts = 600;

FolderLock::Obstacle told_of_obstacle;

int open_folder(const std::filesystem::path& folder) {
  return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/// What this process holds.
class OwnLocks {
 public:
  void add(int fd) {
    const std::lock_guard lock(mutex_);
    held_.insert(identity(fd));
  }
  void remove(int fd) {
    const std::lock_guard lock(mutex_);
    held_.erase(identity(fd));
  }
  bool has(int fd) {
    const std::lock_guard lock(mutex_);
    return held_.contains(identity(fd));
  }

 private:
  using Identity = std::pair<dev_t, ino_t>;
  static Identity identity(int fd) {
    struct stat found {};
    return ::fstat(fd, &found) == 0 ? Identity(found.st_dev, found.st_ino) : Identity();
  }
  std::mutex mutex_;
  std::set<Identity> held_;
};

OwnLocks& own_locks() {
  static OwnLocks all;
  return all;
}

bool is_held_as(int fd, bool by_another) {
  if (fd < 0) return false;
  const bool held = ::flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  const bool counts = held && !(by_another && own_locks().has(fd));
  ::close(fd);
  return counts;
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder, const std::function<void()>& waiting)
    : fd_(open_folder(folder)) {
  if (fd_ < 0) {
    throw Error(ExitCode::environment,
                fmt::format("cannot open the directory {}: {}", folder.string(), std::strerror(errno)));
  }
  const int most = waiting ? patient_attempts : attempts;
  for (int i = 1; ::flock(fd_, LOCK_EX | LOCK_NB) != 0; ++i) {
    if (errno != EWOULDBLOCK) {
      if (told_of_obstacle) told_of_obstacle(folder, std::strerror(errno));
      return;
    }
    if (i == most) {
      ::close(fd_);
      throw Error(ExitCode::usage,
                  fmt::format("another mprof is writing to {}; wait for it, or choose another --out",
                              folder.string()));
    }
    if (i == attempts) waiting();
    std::this_thread::sleep_for(pause);
  }
  own_locks().add(fd_);
}

void FolderLock::on_obstacle(Obstacle told) {
  told_of_obstacle = std::move(told);
}

FolderLock::~FolderLock() {
  own_locks().remove(fd_);
  ::close(fd_);
}

bool FolderLock::is_held(const std::filesystem::path& folder) {
  return is_held_as(open_folder(folder), false);
}

bool FolderLock::is_held_by_another(const std::filesystem::path& folder) {
  return is_held_as(open_folder(folder), true);
}

}  // namespace mprof
