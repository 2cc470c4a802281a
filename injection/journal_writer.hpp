// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "model/trace/journal.hpp"

/// What mprof has in the processes of somebody else's program. Nothing here may throw, print, or outlive a
/// fork.
namespace mprof::injection {

/// Entries that are written together, each chunk by one call of write(2). So what several threads write does
/// not mix, and no kill leaves half an entry after whole ones.
class Chunk {
 public:
  void add(journal::Kind kind, std::string_view bytes, std::string_view more = {});
  template <class Value>
  void add_value(journal::Kind kind, const Value& value, std::string_view more = {}) {
    add(kind, {reinterpret_cast<const char*>(&value), sizeof value}, more);
  }
  [[nodiscard]] std::string_view bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// The journal of this process.
class JournalWriter {
 public:
  /// A new file of the folder; writes nothing when it cannot be made. `cupti`: the version of the records.
  JournalWriter(const char* folder, std::uint32_t cupti);

  void write(const Chunk& chunk);
  void note(std::string_view sentence);
  /// The number of a text, which `chunk` is given where it is new; 0 for none.
  std::uint64_t text(const char* characters, Chunk& chunk);
  /// Of its file; empty when it could not be made.
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Of a process that was forked from this one, and has a journal of its own if any.
  [[nodiscard]] bool is_of_another_process() const;

 private:
  std::string path_;
  int file_ = -1;
  int process_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::uint64_t> texts_;
};

/// ns since 1970, by the clock of CUPTI's records.
[[nodiscard]] std::int64_t now();

}  // namespace mprof::injection
