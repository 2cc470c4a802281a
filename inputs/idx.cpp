// SPDX-License-Identifier: MIT
#include "inputs/idx.hpp"

#include <cstring>
#include <limits>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "inputs/gzip.hpp"
#include "system/error.hpp"
#include "system/files.hpp"

namespace mprof {
namespace {

constexpr unsigned unsigned_byte = 0x08;
constexpr std::size_t magic_bytes = 4;
constexpr std::size_t dimension_bytes = 4;
// Fashion-MNIST's largest file, the training images, expands to 47 MB.
constexpr std::size_t max_file_bytes = std::size_t{256} << 20;

constexpr std::string_view next_step =
    "Install Debian's package dataset-fashion-mnist, or point --data at a folder that has its files.";

[[noreturn]] void refuse(const std::string& name, std::string_view problem) {
  throw Error(ExitCode::usage, fmt::format("{}: {}. {}", name, problem, next_step));
}

unsigned byte_at(std::span<const std::byte> bytes, std::size_t at) {
  return std::to_integer<unsigned>(bytes[at]);
}

std::size_t big_endian_32(std::span<const std::byte> bytes, std::size_t at) {
  return std::size_t{byte_at(bytes, at)} << 24 | std::size_t{byte_at(bytes, at + 1)} << 16 |
         std::size_t{byte_at(bytes, at + 2)} << 8 | std::size_t{byte_at(bytes, at + 3)};
}

/// The rank, from a header of which everything else has been checked.
std::size_t parse_magic(std::span<const std::byte> bytes, const std::string& name) {
  if (bytes.size() < magic_bytes) {
    refuse(name,
           fmt::format("{} bytes long, expected an IDX header of at least {}", bytes.size(), magic_bytes));
  }
  if (byte_at(bytes, 0) != 0 || byte_at(bytes, 1) != 0) {
    refuse(name, fmt::format("begins with {:#06x}, expected the IDX magic number 0x0000",
                             byte_at(bytes, 0) << 8 | byte_at(bytes, 1)));
  }
  if (byte_at(bytes, 2) != unsigned_byte) {
    refuse(name, fmt::format("element type {:#04x}, expected {:#04x} (unsigned byte)", byte_at(bytes, 2),
                             unsigned_byte));
  }
  if (byte_at(bytes, 3) == 0) refuse(name, "rank 0, expected at least 1");
  return byte_at(bytes, 3);
}

std::vector<std::size_t> parse_shape(std::span<const std::byte> bytes, std::size_t rank,
                                     const std::string& name) {
  if (bytes.size() < magic_bytes + rank * dimension_bytes) {
    refuse(name, fmt::format("ends within its header: {} bytes, expected {} dimensions of {} bytes",
                             bytes.size(), rank, dimension_bytes));
  }
  std::vector<std::size_t> shape;
  for (std::size_t i = 0; i < rank; ++i) {
    shape.push_back(big_endian_32(bytes, magic_bytes + i * dimension_bytes));
  }
  return shape;
}

std::size_t element_count(const std::vector<std::size_t>& shape, const std::string& name) {
  std::size_t count = 1;
  for (const std::size_t extent : shape) {
    if (extent != 0 && count > std::numeric_limits<std::size_t>::max() / extent) {
      refuse(name, fmt::format("dimensions {} have more elements than memory has addresses",
                               fmt::join(shape, " x ")));
    }
    count *= extent;
  }
  return count;
}

}  // namespace

IdxArray parse_idx(std::span<const std::byte> bytes, const std::string& name) {
  const std::size_t rank = parse_magic(bytes, name);
  IdxArray array{.shape = parse_shape(bytes, rank, name), .values = {}};
  const std::size_t expected = element_count(array.shape, name);
  const std::span<const std::byte> elements = bytes.subspan(magic_bytes + rank * dimension_bytes);
  if (elements.size() != expected) {
    refuse(name, fmt::format("{} bytes of elements, expected {} for dimensions {}", elements.size(), expected,
                             fmt::join(array.shape, " x ")));
  }
  array.values.resize(expected);
  if (expected != 0) std::memcpy(array.values.data(), elements.data(), expected);
  return array;
}

IdxArray read_idx(const std::filesystem::path& path) {
  const std::string name = path.string();
  std::string contents;
  try {
    contents = read_file(path, max_file_bytes);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}. {}", error.what(), next_step));
  }
  return parse_idx(gunzip(std::as_bytes(std::span(contents)), name, max_file_bytes), name);
}

}  // namespace mprof
