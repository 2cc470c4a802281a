#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace mprof {

/// Writes a file durably, bit by bit: temporary file, fsync, rename, fsync of the directory. It stands under
/// its name only after commit(); without one the file of that name stays as it was. The directory is made
/// when it is missing.
class FileWriter {
 public:
  explicit FileWriter(std::filesystem::path path);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  /// Throws Error(environment) when the disk is full; then nothing is left behind.
  void write(std::string_view contents);
  void commit();

 private:
  void flush();
  [[noreturn]] void give_up(int error);

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  std::string buffer_;
  int file_ = -1;  ///< descriptor; -1: not open any more
};

/// The same of a text at hand. Throws Error(environment) when the disk is full or the directory not writable.
void write_file(const std::filesystem::path& path, std::string_view contents);

/// The same of a file that the user named, which may be anything: a symbolic link stays, and what it leads to
/// is written, also where nothing is there yet; a device, a named pipe and a descriptor (/dev/stdout,
/// /dev/fd/3) stay and are written into. In a directory that may have come from anywhere, links are not to be
/// followed: that is for write_file(), which replaces them.
void write_output(const std::filesystem::path& path, std::string_view contents);

/// Throws what write_output() would, where it can be known beforehand: long work shall not be lost for it.
void require_writable(const std::filesystem::path& path);

/// Why nothing can be made in this directory, be it there or still to be made; no error where it can. Leaves
/// nothing behind.
[[nodiscard]] std::error_code obstacle_to_writing(const std::filesystem::path& directory);

/// The whole file; throws Error(usage) that says why it cannot be read.
[[nodiscard]] std::string read_file(const std::filesystem::path& path);

/// Whether `file` lies below `directory` when every symbolic link on its way is followed. What is not there
/// is judged by the part of its path that is.
[[nodiscard]] bool is_within(const std::filesystem::path& directory, const std::filesystem::path& file);

/// Throws Error(usage) that says so, and what to do, when `file` does not lie within `directory`.
void require_within(const std::filesystem::path& directory, const std::filesystem::path& file);

/// The whole file of a directory that came from anywhere: like read_file(), but a symbolic link that leads
/// out of `directory` is not followed, and throws Error(usage).
[[nodiscard]] std::string read_file_within(const std::filesystem::path& directory,
                                           const std::filesystem::path& file);

}  // namespace mprof
