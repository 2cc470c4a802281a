// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "system/files.hpp"

struct z_stream_s;

namespace mprof {

/// A file that is compressed by gzip while it is written. The same contents make the same bytes: it has no
/// name and no time. It appears with commit().
class GzipFile {
 public:
  explicit GzipFile(const std::filesystem::path& path);
  void write(std::string_view contents);
  void commit();

 private:
  struct End {
    void operator()(z_stream_s* stream) const;
  };
  void compress(bool is_last);

  FileWriter file_;
  std::unique_ptr<z_stream_s, End> stream_;
  std::string waiting_;
  std::string compressed_;
};

}  // namespace mprof
