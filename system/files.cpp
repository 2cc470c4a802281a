#include "system/files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
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

[[noreturn]] void fail_to_write(const fs::path& path, int error) {
  const char* next = error == ENOSPC || error == EDQUOT ? "free some space, or write elsewhere with --out"
                                                        : "choose another place with --out";
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

}  // namespace

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

}  // namespace mprof
