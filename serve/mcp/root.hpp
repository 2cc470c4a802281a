// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

/// Paths below the directory that a server was given, and below no other. It is the current directory of the
/// server and of each process that it starts, so that another one in its place is not entered.
namespace mprof::mcp {

/// A directory below it that stays open.
class OpenedDirectory {
 public:
  /// Opens part after part, and follows no symbolic link: `..` and absolute paths are refused. Throws
  /// Trouble.
  explicit OpenedDirectory(const std::string& path);
  ~OpenedDirectory();
  OpenedDirectory(OpenedDirectory&& other) noexcept : descriptor_(other.descriptor_) {
    other.descriptor_ = -1;
  }
  OpenedDirectory(const OpenedDirectory&) = delete;
  OpenedDirectory& operator=(const OpenedDirectory&) = delete;
  OpenedDirectory& operator=(OpenedDirectory&&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }
  /// A name for it that no rename or link changes, as long as it is open in this process.
  [[nodiscard]] std::filesystem::path path() const;

 private:
  int descriptor_ = -1;
};

/// Throws Trouble where this is no regular file below it, of at most `largest` bytes. Gives its contents.
[[nodiscard]] std::string read_below(const std::string& path, std::size_t largest);

/// Throws Trouble where this is no regular file below it.
void require_file_below(const std::string& path);

[[nodiscard]] bool has_file_below(const std::string& path);

/// Throws Trouble where what has this name in the root is a link, or no directory. It may be absent.
void require_folder_or_nothing(const std::string& name);

struct FoundRun {
  std::string path;
  std::int64_t written = 0;  ///< when its run.json was, in seconds since 1970
};

/// Directories below it with a run.json, at most `most`, the ones that were written last first. Links are not
/// followed, and a large tree is not searched to its end, nor one beyond a folder that cannot be read:
/// `is_complete` says so.
struct FoundRuns {
  std::vector<FoundRun> runs;
  bool is_complete = true;
};
[[nodiscard]] FoundRuns find_runs(std::size_t most);

}  // namespace mprof::mcp
