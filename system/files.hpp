// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace mprof {

/// Writes a file durably, bit by bit: temporary file, fsync, rename, fsync of the directory. It stands under
/// its name only after commit(); without one the file of that name stays as it was. The directory is made
/// when it is missing. The temporary file is new, and lies beside the file under a name that nobody can
/// guess. What a killed mprof of this user left there is removed.
class FileWriter {
 public:
  explicit FileWriter(const std::filesystem::path& path);
  /// `name` may have folders. `root` is opened as it is; no symbolic link below it is followed: a directory
  /// that came from anywhere leads nobody out of it. Throws Error(usage) where a folder is such a link.
  FileWriter(const std::filesystem::path& root, const std::filesystem::path& name);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  /// Throws Error(environment) when the disk is full; then nothing is left behind.
  void write(std::string_view contents);
  void commit();

  /// Where the file is until commit(), for a library that writes by name.
  [[nodiscard]] std::filesystem::path temporary() const;

 private:
  FileWriter(std::filesystem::path path, const std::filesystem::path& root,
             const std::filesystem::path& name);
  void open_temporary();
  void flush();
  void remove_temporary();
  [[noreturn]] void give_up(int error);

  std::filesystem::path path_;
  std::string name_;       ///< in its folder
  std::string temporary_;  ///< the same
  std::string buffer_;
  int folder_ = -1;  ///< descriptor
  int file_ = -1;    ///< descriptor; -1: not open any more
};

/// Whether a file of this name is one that a FileWriter has not finished.
[[nodiscard]] bool is_temporary_name(std::string_view name);

/// The same of a text at hand. Throws Error(environment) when the disk is full or the directory not writable.
void write_file(const std::filesystem::path& path, std::string_view contents);

/// The same below a directory, as FileWriter(root, name) does.
void write_file_below(const std::filesystem::path& root, const std::filesystem::path& name,
                      std::string_view contents);

/// Makes a directory and those above it. Nobody else may write there, whatever the umask is.
[[nodiscard]] std::error_code make_folders(const std::filesystem::path& path);

/// The same for a file that the user named, which may be anything. A symbolic link stays, and what it leads
/// to is written, also where nothing is there yet. A device, a named pipe and a descriptor (/dev/stdout,
/// /dev/fd/3) stay and are written into. In a directory that may have come from anywhere, links must not be
/// followed: use write_file() there, which replaces them.
void write_output(const std::filesystem::path& path, std::string_view contents);

/// Throws what write_output() would, where it can be known beforehand: long work must not be lost for it.
void require_writable(const std::filesystem::path& path);

/// Why nothing can be made in this directory, be it there or still to be made; no error where it can. Leaves
/// nothing behind.
[[nodiscard]] std::error_code obstacle_to_writing(const std::filesystem::path& directory);

/// No file that mprof reads as a whole is larger.
inline constexpr std::uintmax_t largest_input = std::uintmax_t{4} << 30;

/// Throws Error(usage) that says why, unless this is a regular file that can be read and is not larger. A
/// named pipe, a socket or a device, which may have no end, is not waited for.
void require_readable(const std::filesystem::path& path, std::uintmax_t largest = largest_input);

/// The whole file. Throws Error(usage) like require_readable(), and std::bad_alloc where memory is out.
[[nodiscard]] std::string read_file(const std::filesystem::path& path,
                                    std::uintmax_t largest = largest_input);

/// Whether `file` lies below `directory` when every symbolic link on its way is followed. What is not there
/// is judged by the part of its path that is.
[[nodiscard]] bool is_within(const std::filesystem::path& directory, const std::filesystem::path& file);

/// Throws Error(usage) that says so, and what to do, when `file` does not lie within `directory`.
void require_within(const std::filesystem::path& directory, const std::filesystem::path& file);

/// Throws Error(usage) when this itself is a symbolic link, which is not followed where something is written.
void require_no_link(const std::filesystem::path& path);

/// The whole file of a directory that came from anywhere: like read_file(), but a symbolic link that leads
/// out of `directory` is not followed, and throws Error(usage).
[[nodiscard]] std::string read_file_within(const std::filesystem::path& directory,
                                           const std::filesystem::path& file,
                                           std::uintmax_t largest = largest_input);

}  // namespace mprof
