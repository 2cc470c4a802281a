#include "system/temporary_folder.hpp"

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/error.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "mprof-";
constexpr std::string_view ending = ".XXXXXX";  // the dot: they are held by locks, as older ones were not

int open_folder(const fs::path& path) {
  return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

bool is_named_so(const std::string& name) {
  return name.starts_with(prefix) && name.size() > ending.size() && name[name.size() - ending.size()] == '.';
}

/// Removes a folder of this user's whose process is gone, and its lock with it.
void remove_if_abandoned(const fs::path& path) {
  const int fd = open_folder(path);
  if (fd < 0) return;
  struct stat status {};
  const bool is_own = ::fstat(fd, &status) == 0 && status.st_uid == ::geteuid();
  std::error_code ignored;
  if (is_own && ::flock(fd, LOCK_EX | LOCK_NB) == 0) fs::remove_all(path, ignored);
  ::close(fd);
}

/// A new folder, held by its lock; -1 where somebody who took it for abandoned was faster.
int make_folder(std::string& path) {
  const auto refuse = [&] {
    throw Error(ExitCode::environment,
                fmt::format("cannot make the temporary folder {}: {}. Let TMPDIR name a folder that can be "
                            "written.",
                            path, std::strerror(errno)));
  };
  if (::mkdtemp(path.data()) == nullptr) refuse();
  const int fd = open_folder(path);
  if (fd < 0 && errno != ENOENT) refuse();
  if (fd < 0) return -1;
  // Where the file system has no locks nobody else gets one either.
  static_cast<void>(::flock(fd, LOCK_EX));
  struct stat status {};
  if (::fstat(fd, &status) == 0 && status.st_nlink > 0) return fd;
  ::close(fd);
  return -1;
}

}  // namespace

TemporaryFolder::TemporaryFolder(std::string_view name) {
  while (fd_ < 0) {
    std::string path = (fs::temp_directory_path() / fmt::format("{}{}", name, ending)).string();
    fd_ = make_folder(path);
    path_ = path;
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  ::close(fd_);
}

void remove_abandoned_folders() {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    if (is_named_so(entry->path().filename().string())) remove_if_abandoned(entry->path());
  }
}

}  // namespace mprof
