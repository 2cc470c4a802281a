// SPDX-License-Identifier: MIT
#include "inputs/gzip.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

#include <fmt/format.h>
#include <zlib.h>

#include "system/error.hpp"

namespace mprof {
namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 18;
constexpr int gzip_only = 16 + MAX_WBITS;  // zlib's way to say: expect a gzip header, check its trailer

[[noreturn]] void fail(const std::string& name, std::string_view problem) {
  throw Error(
      ExitCode::usage,
      fmt::format("{}: {}. The file is damaged or not what it is named after: fetch or install it again.",
                  name, problem));
}

/// A z_stream that is always ended.
class Inflater {
 public:
  Inflater(std::span<const std::byte> bytes, const std::string& name) {
    // avail_in is 32 bits wide; no input of mprof comes near.
    if (bytes.size() > std::numeric_limits<uInt>::max()) fail(name, "larger than the 4 GiB that mprof reads");
    // zlib never writes through next_in; it is not const for the sake of old callers.
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    if (inflateInit2(&stream_, gzip_only) != Z_OK) throw Error(ExitCode::environment, "zlib: out of memory");
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// Fills `out` as far as the input goes; says how many bytes it wrote. `status` is zlib's answer.
  std::size_t inflate_into(std::span<std::byte> out, int& status) {
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    status = inflate(&stream_, Z_NO_FLUSH);
    return out.size() - stream_.avail_out;
  }
  [[nodiscard]] std::size_t bytes_left() const { return stream_.avail_in; }
  [[nodiscard]] std::string_view message() const { return stream_.msg == nullptr ? "" : stream_.msg; }

 private:
  z_stream stream_{};
};

}  // namespace

std::vector<std::byte> gunzip(std::span<const std::byte> bytes, const std::string& name, std::size_t limit) {
  Inflater inflater(bytes, name);
  std::vector<std::byte> result;
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    const std::size_t done = result.size();
    // One byte above the limit is enough to know that the stream exceeds it.
    result.resize(std::min(done + chunk_bytes, limit + 1));
    const std::size_t written = inflater.inflate_into(std::span(result).subspan(done), status);
    result.resize(done + written);
    if (result.size() > limit)
      fail(name, fmt::format("expands to more than the expected {} bytes at most", limit));
    if (status == Z_DATA_ERROR) fail(name, fmt::format("gzip says \"{}\"", inflater.message()));
    if (status == Z_BUF_ERROR || (status == Z_OK && written == 0)) {
      fail(name, fmt::format("the gzip stream is cut short after {} compressed bytes", bytes.size()));
    }
    if (status != Z_OK && status != Z_STREAM_END)
      fail(name, fmt::format("zlib gives up with status {}", status));
  }
  if (inflater.bytes_left() != 0) {
    fail(name,
         fmt::format("{} bytes follow the end of the gzip stream, expected none", inflater.bytes_left()));
  }
  return result;
}

}  // namespace mprof
