// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "system/files.hpp"

namespace mprof {

/// Writes what write_output() does, bit by bit. A regular file appears with commit().
class OutputWriter {
 public:
  explicit OutputWriter(const std::filesystem::path& path);
  OutputWriter(const OutputWriter&) = delete;
  OutputWriter& operator=(const OutputWriter&) = delete;
  ~OutputWriter();
  void write(std::string_view contents);
  void commit();

 private:
  void require_written(int error) const;

  std::filesystem::path path_;
  std::optional<FileWriter> file_;  ///< nullopt: it goes into what is there
  int descriptor_ = -1;
};

}  // namespace mprof
