// SPDX-License-Identifier: MIT
#include "report/export/gzip_file.hpp"

#include <new>

#include <zlib.h>

namespace mprof {
namespace {

constexpr std::size_t at_once = std::size_t{256} << 10;

}  // namespace

void GzipFile::End::operator()(z_stream_s* stream) const {
  deflateEnd(stream);
  delete stream;  // NOLINT(cppcoreguidelines-owning-memory): as unique_ptr itself does
}

GzipFile::GzipFile(const std::filesystem::path& path)
    : file_(path), stream_(new z_stream_s{}), compressed_(at_once, '\0') {
  constexpr int fast = 3, window_of_gzip = 15 + 16, memory = 8;
  if (deflateInit2(stream_.get(), fast, Z_DEFLATED, window_of_gzip, memory, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
}

void GzipFile::write(std::string_view contents) {
  waiting_ += contents;
  if (waiting_.size() >= at_once) compress(false);
}

void GzipFile::commit() {
  compress(true);
  file_.commit();
}

void GzipFile::compress(bool is_last) {
  z_stream_s& stream = *stream_;
  stream.next_in = reinterpret_cast<Bytef*>(waiting_.data());
  stream.avail_in = static_cast<uInt>(waiting_.size());
  do {
    stream.next_out = reinterpret_cast<Bytef*>(compressed_.data());
    stream.avail_out = static_cast<uInt>(compressed_.size());
    deflate(&stream, is_last ? Z_FINISH : Z_NO_FLUSH);
    file_.write({compressed_.data(), compressed_.size() - stream.avail_out});
  } while (stream.avail_out == 0);
  waiting_.clear();
}

}  // namespace mprof
