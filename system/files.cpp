#include "system/files.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include "system/error.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

constexpr int most_links = 40;  // that Linux follows, too

bool is_full(int error) {
  return error == ENOSPC || error == EDQUOT;
}

[[noreturn]] void fail_to_write(const fs::path& path, int error) {
  const char* next = is_full(error) ? "free some space, or write elsewhere" : "choose another place";
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

void sync_directory(const fs::path& directory) {
  const int handle = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (handle < 0) return;
  ::fsync(handle);
  ::close(handle);
}

fs::path directory_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// The descriptor of this process that names such as /dev/fd/3 stand for. To open it anew would begin at its
/// start, and a socket cannot be opened.
std::optional<int> own_descriptor(const fs::path& path) {
  std::error_code error;
  const fs::path folder = fs::canonical("/proc/self/fd", error);
  if (error || fs::canonical(directory_of(path), error) != folder) return std::nullopt;
  const std::string name = path.filename().string();
  int number = -1;
  const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (problem != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  return number;
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

/// Into what is there, and closes it. `file` is below 0 where it could not be opened.
void write_into(const fs::path& path, int file, std::string_view contents) {
  int error = file < 0 ? errno : write_all(file, contents);
  if (file >= 0 && ::close(file) != 0 && error == 0) error = errno;
  if (error == 0) return;
  throw Error(ExitCode::environment,
              fmt::format("cannot write {}: {}; {}.", path.string(), std::strerror(error),
                          is_full(error) ? "free some space, or write elsewhere" : "write elsewhere"));
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

std::string read_file(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    throw Error(ExitCode::usage, fmt::format("cannot read {}: it is a directory, not a file", path.string()));
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream contents;
  if (file) contents << file.rdbuf();
  if (!file && errno != 0) {
    throw Error(ExitCode::usage, fmt::format("cannot read {}: {}", path.string(), std::strerror(errno)));
  }
  return std::move(contents).str();
}

bool is_within(const fs::path& directory, const fs::path& file) {
  std::error_code error;
  const fs::path root = fs::canonical(directory, error);
  if (error) return false;
  const fs::path target = fs::weakly_canonical(file, error);
  if (error) return false;
  const auto [end_of_root, rest] = std::mismatch(root.begin(), root.end(), target.begin(), target.end());
  return end_of_root == root.end() && rest != target.end();
}

void require_within(const fs::path& directory, const fs::path& file) {
  if (is_within(directory, file)) return;
  throw Error(ExitCode::usage,
              fmt::format("{} leads out of {} by a symbolic link, which is not followed; put the file itself "
                          "there, or remove the link",
                          file.string(), directory.string()));
}

std::string read_file_within(const fs::path& directory, const fs::path& file) {
  require_within(directory, file);
  return read_file(file);
}

FileWriter::FileWriter(fs::path path) : path_(std::move(path)), temporary_(path_.string() + ".tmp") {
  std::error_code error;
  fs::create_directories(directory_of(path_), error);
  if (error) fail_to_write(path_, error.value());
  file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file_ < 0) give_up(errno);
}

FileWriter::~FileWriter() {
  if (file_ < 0) return;
  ::close(file_);
  ::unlink(temporary_.c_str());
}

void FileWriter::give_up(int error) {
  if (file_ >= 0) ::close(std::exchange(file_, -1));
  ::unlink(temporary_.c_str());
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
  // close() itself can report a write that failed late.
  if (::close(std::exchange(file_, -1)) != 0) give_up(errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) give_up(errno);
  sync_directory(directory_of(path_));
}

void write_file(const fs::path& path, std::string_view contents) {
  FileWriter file(path);
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

void write_output(const fs::path& path, std::string_view contents) {
  const fs::path target = behind_links(path);
  if (const std::optional<int> own = own_descriptor(target)) {
    std::fflush(stdout);  // what was printed before comes before it
    write_into(path, ::dup(*own), contents);
    return;
  }
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) fail_to_write(path, EISDIR);
  if (fs::exists(status) && !fs::is_regular_file(status))
    write_into(path, ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY), contents);
  else
    write_file(target, contents);
}

}  // namespace mprof
