// SPDX-License-Identifier: MIT
#include "system/temporary_folder.hpp"

#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/error.hpp"
#include "system/owned.hpp"
#include "system/random_name.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

/// Of each folder. Folders of others that begin alike do not end so.
constexpr std::string_view ending = ".mprof-tmp";

int open_own(const fs::path& path) {
  return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

[[noreturn]] void fail_to_make(const std::string& folder, int error) {
  throw Error(ExitCode::environment,
              fmt::format("cannot make the temporary folder {}: {}. Let TMPDIR name a folder that can be "
                          "written.",
                          folder, std::strerror(error)));
}

void remove_abandoned(const fs::path& parent) {
  std::error_code error;
  for (fs::directory_iterator entry(parent, error), end; entry != end; entry.increment(error)) {
    if (!entry->path().filename().string().ends_with(ending)) continue;
    const int folder = open_own(entry->path());
    if (folder < 0) continue;
    std::error_code ignored;  // the next one tries again
    if (owned::is_abandoned(folder)) fs::remove_all(entry->path(), ignored);
    ::close(folder);
  }
}

void remove_abandoned_once(const fs::path& parent) {
  static std::once_flag done;
  std::call_once(done, remove_abandoned, parent);
}

}  // namespace

TemporaryFolder::TemporaryFolder(std::string_view name) {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) fail_to_make("below TMPDIR", error.value());
  remove_abandoned_once(parent);
  while (lock_ < 0) {
    path_ = parent / fmt::format("{}-{}{}", name, random_name(), ending);
    if (::mkdir(path_.c_str(), S_IRWXU) != 0) {
      if (errno == EEXIST) continue;
      fail_to_make(path_.string(), errno);
    }
    lock_ = open_own(path_);
    if (lock_ < 0 && errno != ENOENT) fail_to_make(path_.string(), errno);
    if (lock_ >= 0 && !owned::take(lock_)) ::close(std::exchange(lock_, -1));
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  ::close(lock_);
}

void remove_abandoned_folders() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (!error) remove_abandoned_once(parent);
}

}  // namespace mprof
