// SPDX-License-Identifier: MIT
#include "serve/mcp/root.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <tuple>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/mcp/answer.hpp"

namespace mprof::mcp {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_path = 1024;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Trouble("outside_root", fmt::format("'{}': {}.", foreign(path, 128), why),
                "Give a path relative to the server's root, without .. and without symbolic links.");
}

[[noreturn]] void miss(const std::string& path, const std::string& why) {
  throw Trouble("not_found", fmt::format("'{}': {}.", foreign(path, 128), why),
                "The tool machine lists the runs below the root.");
}

/// Its parts, none of which leads upwards. Throws Trouble for any other path.
std::vector<std::string> parts_of(const std::string& path) {
  if (path.size() > longest_path || path.find('\0') != std::string::npos)
    refuse(path, "this is no usable path");
  if (path.starts_with('/')) refuse(path, "it is an absolute path");
  std::vector<std::string> parts;
  for (const fs::path& part : fs::path(path)) {
    if (part == "..") refuse(path, "it leads out of the root");
    if (!part.empty() && part != ".") parts.push_back(part.string());
  }
  return parts;
}

/// A part of a path, of that kind, in an open directory. The kernel has one call for a whole path (openat2),
/// and some sandboxes forbid it. Part after part does the same everywhere.
int open_part(int directory, const std::string& part, int kind, const std::string& path) {
  const int descriptor =
      ::openat(directory, part.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | kind);
  if (descriptor >= 0) return descriptor;
  struct stat found {};
  const bool is_link =
      ::fstatat(directory, part.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(found.st_mode);
  if (is_link) refuse(path, "a part of it is a symbolic link");
  miss(path, std::strerror(errno == ELOOP ? ENOTDIR : errno));
}

/// The directory that `parts` lead to.
int open_parts(const std::vector<std::string>& parts, const std::string& path) {
  int directory = ::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) miss(path, std::strerror(errno));
  for (const std::string& part : parts) {
    const int above = directory;
    try {
      directory = open_part(above, part, O_DIRECTORY, path);
    } catch (...) {
      ::close(above);
      throw;
    }
    ::close(above);
  }
  return directory;
}

/// A regular file that is open.
class OpenedFile {
 public:
  explicit OpenedFile(const std::string& path) {
    std::vector<std::string> parts = parts_of(path);
    if (parts.empty()) miss(path, "this is no file");
    const std::string name = parts.back();
    parts.pop_back();
    const int directory = open_parts(parts, path);
    try {
      descriptor_ = open_part(directory, name, 0, path);
    } catch (...) {
      ::close(directory);
      throw;
    }
    ::close(directory);
    if (::fstat(descriptor_, &facts_) != 0 || !S_ISREG(facts_.st_mode)) {
      ::close(descriptor_);
      miss(path, "this is no regular file");
    }
  }
  ~OpenedFile() { ::close(descriptor_); }
  OpenedFile(const OpenedFile&) = delete;
  OpenedFile& operator=(const OpenedFile&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_ = -1;
  struct stat facts_ {};
};

}  // namespace

OpenedDirectory::OpenedDirectory(const std::string& path) : descriptor_(open_parts(parts_of(path), path)) {}

OpenedDirectory::~OpenedDirectory() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

fs::path OpenedDirectory::path() const {
  return fmt::format("/proc/self/fd/{}", descriptor_);
}

std::string read_below(const std::string& path, std::size_t largest) {
  const OpenedFile file(path);
  std::string contents;
  std::array<char, 65536> chunk;
  while (true) {
    const ssize_t n = ::read(file.descriptor(), chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) miss(path, std::strerror(errno));
    if (n == 0) return contents;
    contents.append(chunk.data(), static_cast<std::size_t>(n));
    if (contents.size() > largest)
      throw Trouble("bad_argument", fmt::format("'{}' is larger than {} bytes.", foreign(path, 128), largest),
                    "Give a smaller file.");
  }
}

void require_file_below(const std::string& path) {
  static_cast<void>(OpenedFile(path));
}

bool has_file_below(const std::string& path) {
  try {
    require_file_below(path);
    return true;
  } catch (const Trouble&) {
    return false;
  }
}

void require_folder_or_nothing(const std::string& name) {
  std::error_code error;
  const fs::file_status found = fs::symlink_status(name, error);
  if (found.type() != fs::file_type::not_found) static_cast<void>(OpenedDirectory(name));
}

FoundRuns find_runs(std::size_t most) {
  constexpr int deepest = 4;
  constexpr std::size_t most_entries = 20'000;
  FoundRuns found;
  std::error_code error;
  std::size_t seen = 0;
  fs::recursive_directory_iterator entry(".", fs::directory_options::skip_permission_denied, error);
  for (const fs::recursive_directory_iterator end; !error && entry != end; entry.increment(error)) {
    if (++seen > most_entries) {
      found.is_complete = false;
      break;
    }
    std::error_code ignored;
    const std::string name = entry->path().filename().string();
    const bool is_folder = fs::is_directory(entry->symlink_status(ignored));
    if (is_folder && (entry.depth() >= deepest || name.starts_with('.') || name == "node_modules"))
      entry.disable_recursion_pending();
    struct stat facts {};
    if (name == "run.json" && ::lstat(entry->path().c_str(), &facts) == 0 && S_ISREG(facts.st_mode)) {
      const fs::path folder = entry->path().parent_path().lexically_normal();
      found.runs.push_back(
          {folder.empty() ? "." : folder.lexically_relative(".").string(), facts.st_mtim.tv_sec});
    }
  }
  if (error) found.is_complete = false;
  std::ranges::sort(found.runs, [](const FoundRun& a, const FoundRun& b) {
    return std::tie(b.written, a.path) < std::tie(a.written, b.path);
  });
  if (found.runs.size() > most) {
    found.runs.resize(most);
    found.is_complete = false;
  }
  return found;
}

}  // namespace mprof::mcp
