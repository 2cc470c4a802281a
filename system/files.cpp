// SPDX-License-Identifier: MIT
#include "system/files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/error.hpp"
#include "system/numbers.hpp"
#include "system/output_writer.hpp"
#include "system/owned.hpp"
#include "system/random_name.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

constexpr int most_links = 40;  // that Linux follows, too

/// Of a folder that is made: nobody else may write there.
constexpr mode_t folder_mode = 0755;

/// The name of a file until it is whole.
constexpr std::string_view temporary_beginning = ".mprof-", temporary_ending = ".tmp";

bool is_full(int error) {
  return error == ENOSPC || error == EDQUOT;
}

[[noreturn]] void fail_to_write(const fs::path& path, int error) {
  const char* next = is_full(error)   ? "free some space, or write elsewhere"
                     : error == EFBIG ? "raise the limit on the size of files (ulimit -f)"
                                      : "choose another place";
  throw Error(ExitCode::environment,
              fmt::format("cannot write {}: {}. What was there before is unchanged; {}.", path.string(),
                          std::strerror(error), next));
}

int write_all(int fd, std::string_view contents) {
  while (!contents.empty()) {
    const ssize_t written = ::write(fd, contents.data(), contents.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    contents.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// `folder` may be open for its path alone, which cannot be synchronized.
void sync_directory(int folder) {
  const int handle = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (handle < 0) return;
  ::fsync(handle);
  ::close(handle);
}

fs::path directory_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// A folder below `root`, made where it is missing. It must be closed.
int open_below(const fs::path& target, const fs::path& root, const fs::path& folder) {
  constexpr int flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  int above = ::open(root.c_str(), flags);
  if (above < 0) fail_to_write(target, errno);
  fs::path reached = root;
  for (const fs::path& part : folder) {
    reached /= part;
    const bool is_plain = !part.empty() && part != "." && part != ".." && !part.has_root_path();
    if (is_plain && ::mkdirat(above, part.c_str(), folder_mode) != 0 && errno != EEXIST) {
      const int error = errno;
      ::close(above);
      fail_to_write(target, error);
    }
    const int next = is_plain ? ::openat(above, part.c_str(), flags | O_NOFOLLOW) : -1;
    const int error = is_plain ? errno : EINVAL;
    ::close(above);
    if (next < 0) {
      require_no_link(reached);
      fail_to_write(target, error);
    }
    above = next;
  }
  return above;
}

/// What killed processes of this user did not finish in a folder: once for each folder, as it is called,
/// before this process writes there.
void remove_abandoned_once(int folder, const fs::path& called) {
  static std::mutex mutex;
  static std::set<fs::path> done;
  {
    const std::lock_guard lock(mutex);
    if (!done.insert(called).second) return;
  }
  const int readable = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const entries = readable < 0 ? nullptr : ::fdopendir(readable);
  if (entries == nullptr) {
    if (readable >= 0) ::close(readable);
    return;
  }
  while (const dirent* entry = ::readdir(entries)) {
    const char* const name = static_cast<const char*>(entry->d_name);
    if (!is_temporary_name(name)) continue;
    const int file = ::openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) continue;
    if (owned::is_abandoned(file)) ::unlinkat(folder, name, 0);
    ::close(file);
  }
  ::closedir(entries);
}

std::string_view kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a named pipe";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "something else";
}

[[noreturn]] void fail_to_read(const fs::path& path, std::string_view why) {
  throw Error(ExitCode::usage, fmt::format("cannot read {}: {}", path.string(), why));
}

[[noreturn]] void fail_as_too_large(const fs::path& path, std::uintmax_t largest) {
  fail_to_read(path, fmt::format("it is larger than {} MiB", largest >> 20U));
}

/// A file that is open for reading.
struct Opened {
  int fd = -1;
  std::uintmax_t size = 0;
  Opened(int opened, std::uintmax_t bytes) : fd(opened), size(bytes) {}
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() { ::close(fd); }
};

/// O_NONBLOCK: to open a named pipe would wait for somebody to write into it.
Opened open_to_read(const fs::path& path, std::uintmax_t largest) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  struct stat found {};
  if (fd < 0 && errno == ENXIO) fail_to_read(path, "it is a socket, not a file");
  if (fd < 0 || ::fstat(fd, &found) != 0) {
    const int error = errno;
    if (fd >= 0) ::close(fd);
    fail_to_read(path, std::strerror(error));
  }
  const auto size = static_cast<std::uintmax_t>(found.st_size);
  if (S_ISREG(found.st_mode) && size <= largest) return {fd, size};
  ::close(fd);
  if (S_ISREG(found.st_mode)) fail_as_too_large(path, largest);
  fail_to_read(path, fmt::format("it is {}, not a file", kind_of(found.st_mode)));
}

/// The descriptor of this process that names such as /dev/fd/3 stand for. To open it anew would begin at its
/// start, and a socket cannot be opened.
std::optional<int> own_descriptor(const fs::path& path) {
  std::error_code error;
  const fs::path folder = fs::canonical("/proc/self/fd", error);
  if (error || fs::canonical(directory_of(path), error) != folder) return std::nullopt;
  const std::string name = path.filename().string();
  return parse_as<int>(name);
}

/// Where symbolic links lead, of descriptors to their names. Nothing need be there.
fs::path behind_links(const fs::path& path) {
  std::error_code error;
  fs::path target = path;
  for (int i = 0; fs::is_symlink(target, error) && !own_descriptor(target); ++i) {
    if (i == most_links) fail_to_write(path, ELOOP);
    const fs::path next = fs::read_symlink(target, error);
    if (error) fail_to_write(path, error.value());
    target = directory_of(target) / next;
  }
  return target;
}

}  // namespace

std::error_code obstacle_to_writing(const fs::path& directory) {
  std::error_code error;
  fs::path there = fs::absolute(directory, error);
  while (!fs::exists(there, error) && there.has_relative_path()) there = there.parent_path();
  // Permissions do not tell: a file system may be read-only, or take no directories from anybody.
  std::string attempt = (there / ".mprof-XXXXXX").string();
  if (::mkdtemp(attempt.data()) == nullptr) return {errno, std::generic_category()};
  ::rmdir(attempt.c_str());
  return {};
}

void require_readable(const fs::path& path, std::uintmax_t largest) {
  const Opened file = open_to_read(path, largest);
}

std::string read_file(const fs::path& path, std::uintmax_t largest) {
  const Opened file = open_to_read(path, largest);
  std::string contents;
  contents.resize(static_cast<std::size_t>(file.size));
  std::size_t read = 0;
  while (true) {
    // Files of the kernel say that they are empty, and others may grow.
    if (read == contents.size()) contents.resize(read + (read == file.size ? 1 : std::size_t{1} << 16));
    const ssize_t more = ::read(file.fd, contents.data() + read, contents.size() - read);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) fail_to_read(path, std::strerror(errno));
    if (more == 0) break;
    read += static_cast<std::size_t>(more);
    if (read > largest) fail_as_too_large(path, largest);
  }
  contents.resize(read);
  return contents;
}

namespace {

/// Whether a file lies below a directory, or why that is not known.
struct Placed {
  bool is_within = false;
  std::error_code error{};
};

/// Whether a file is named below a directory, and no part of its name there is a symbolic link. It tells of
/// the many files of a record in two questions to the system each.
bool is_plainly_below(const fs::path& directory, const fs::path& file) {
  const std::string &root = directory.native(), &whole = file.native();
  if (root.empty() || !whole.starts_with(root) || whole.size() <= root.size() + 1) return false;
  if (root.back() != '/' && whole[root.size()] != '/') return false;
  for (std::size_t end = root.size(); end < whole.size();) {
    const std::size_t begin = end + (whole[end] == '/' ? 1 : 0);
    end = std::min(whole.find('/', begin), whole.size());
    const std::string_view part(whole.data() + begin, end - begin);
    struct stat status {};
    if (part.empty() || part == "." || part == "..") return false;
    if (::lstat(whole.substr(0, end).c_str(), &status) != 0 || S_ISLNK(status.st_mode)) return false;
  }
  return true;
}

Placed place(const fs::path& directory, const fs::path& file) {
  if (is_plainly_below(directory, file)) return {.is_within = true};
  Placed placed;
  const fs::path root = fs::canonical(directory, placed.error);
  if (placed.error) return placed;
  const fs::path target = fs::weakly_canonical(file, placed.error);
  if (placed.error) return placed;
  const auto [end_of_root, rest] = std::mismatch(root.begin(), root.end(), target.begin(), target.end());
  placed.is_within = end_of_root == root.end() && rest != target.end();
  return placed;
}

}  // namespace

bool is_within(const fs::path& directory, const fs::path& file) {
  return place(directory, file).is_within;
}

void require_within(const fs::path& directory, const fs::path& file) {
  const Placed placed = place(directory, file);
  if (placed.is_within) return;
  if (placed.error) fail_to_read(file, placed.error.message());
  throw Error(ExitCode::usage,
              fmt::format("{} leads out of {} by a symbolic link, which is not followed; put the file itself "
                          "there, or remove the link",
                          file.string(), directory.string()));
}

void require_no_link(const fs::path& path) {
  std::error_code error;
  if (!fs::is_symlink(fs::symlink_status(path, error))) return;
  throw Error(
      ExitCode::usage,
      fmt::format("cannot write {}: it is a symbolic link, which is not followed. Remove it, or write "
                  "elsewhere.",
                  path.string()));
}

std::string read_file_within(const fs::path& directory, const fs::path& file, std::uintmax_t largest) {
  require_within(directory, file);
  return read_file(file, largest);
}

std::error_code make_folders(const fs::path& path) {
  std::error_code error;
  fs::path made;
  for (const fs::path& part : path) {
    made /= part;
    if (fs::is_directory(made, error)) continue;
    if (::mkdir(made.c_str(), folder_mode) != 0 && errno != EEXIST) return {errno, std::generic_category()};
  }
  if (!fs::is_directory(path, error)) return std::make_error_code(std::errc::not_a_directory);
  return {};
}

bool is_temporary_name(std::string_view name) {
  return name.starts_with(temporary_beginning) && name.ends_with(temporary_ending);
}

FileWriter::FileWriter(const fs::path& path) : FileWriter(path, directory_of(path), path.filename()) {}

FileWriter::FileWriter(const fs::path& root, const fs::path& name) : FileWriter(root / name, root, name) {}

FileWriter::FileWriter(fs::path path, const fs::path& root, const fs::path& name)
    : path_(std::move(path)), name_(name.filename().string()) {
  const fs::path top = root.empty() ? fs::path(".") : root;
  if (const std::error_code error = make_folders(top)) fail_to_write(path_, error.value());
  folder_ = open_below(path_, top, name.parent_path());
  try {
    remove_abandoned_once(folder_, directory_of(path_));
    open_temporary();
  } catch (...) {
    ::close(folder_);
    throw;
  }
}

void FileWriter::open_temporary() {
  while (file_ < 0) {
    temporary_ = fmt::format("{}{}{}", temporary_beginning, random_name(), temporary_ending);
    file_ = ::openat(folder_, temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (file_ < 0 && errno != EEXIST) fail_to_write(path_, errno);
    if (file_ >= 0 && !owned::take(file_)) ::close(std::exchange(file_, -1));
  }
}

fs::path FileWriter::temporary() const {
  return directory_of(path_) / temporary_;
}

void FileWriter::remove_temporary() {
  ::unlinkat(folder_, temporary_.c_str(), 0);
}

FileWriter::~FileWriter() {
  if (file_ >= 0) {
    remove_temporary();
    ::close(file_);
  }
  ::close(folder_);
}

void FileWriter::give_up(int error) {
  remove_temporary();
  if (file_ >= 0) ::close(std::exchange(file_, -1));
  fail_to_write(path_, error);
}

void FileWriter::flush() {
  if (const int error = write_all(file_, buffer_)) give_up(error);
  buffer_.clear();
}

void FileWriter::write(std::string_view contents) {
  constexpr std::size_t enough = std::size_t{1} << 18;
  buffer_ += contents;
  if (buffer_.size() >= enough) flush();
}

void FileWriter::commit() {
  flush();
  if (::fsync(file_) != 0) give_up(errno);
  // While it is open and locked, nobody removes it.
  if (::renameat(folder_, temporary_.c_str(), folder_, name_.c_str()) != 0) give_up(errno);
  // close() itself can report a write that failed late.
  if (::close(std::exchange(file_, -1)) != 0) fail_to_write(path_, errno);
  sync_directory(folder_);
}

void write_file(const fs::path& path, std::string_view contents) {
  FileWriter file(path);
  file.write(contents);
  file.commit();
}

void write_file_below(const fs::path& root, const fs::path& name, std::string_view contents) {
  FileWriter file(root, name);
  file.write(contents);
  file.commit();
}

void require_writable(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) fail_to_write(path, EISDIR);
  if (fs::exists(status) && !fs::is_regular_file(status)) return;
  if (const std::error_code obstacle = obstacle_to_writing(directory_of(behind_links(path))))
    fail_to_write(path, obstacle.value());
}

OutputWriter::OutputWriter(const fs::path& path) : path_(path) {
  const fs::path target = behind_links(path);
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (const std::optional<int> own = own_descriptor(target)) {
    std::fflush(stdout);  // what was printed before comes before it
    descriptor_ = ::dup(*own);
  } else if (fs::is_directory(status)) {
    fail_to_write(path, EISDIR);
  } else if (fs::exists(status) && !fs::is_regular_file(status)) {
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  } else {
    file_.emplace(target);
  }
  if (!file_ && descriptor_ < 0) require_written(errno);
}

OutputWriter::~OutputWriter() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void OutputWriter::write(std::string_view contents) {
  if (file_) {
    file_->write(contents);
  } else {
    require_written(write_all(descriptor_, contents));
  }
}

void OutputWriter::commit() {
  if (file_) {
    file_->commit();
  } else {
    require_written(::close(std::exchange(descriptor_, -1)) == 0 ? 0 : errno);
  }
}

void OutputWriter::require_written(int error) const {
  if (error == 0) return;
  throw Error(ExitCode::environment,
              fmt::format("cannot write {}: {}; {}.", path_.string(), std::strerror(error),
                          is_full(error) ? "free some space, or write elsewhere" : "write elsewhere"));
}

void write_output(const fs::path& path, std::string_view contents) {
  OutputWriter output(path);
  output.write(contents);
  output.commit();
}

}  // namespace mprof
