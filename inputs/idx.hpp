// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

/// IDX, the format of MNIST and its kin: two zero bytes, an element type, the rank, big-endian 32-bit
/// dimensions, then the elements in row-major order.
namespace mprof {

/// An array of unsigned bytes, the one element type that mprof's data sets use.
struct IdxArray {
  std::vector<std::size_t> shape;    ///< outermost first: [images, rows, columns] or [labels]
  std::vector<std::uint8_t> values;  ///< as many as the product of `shape`
};

/// Parses an IDX file's bytes, decompressed. `name` is what messages call them.
/// Throws Error(usage) on a wrong magic number or element type, rank 0, dimensions whose product overflows,
/// and on bytes missing or left over.
[[nodiscard]] IdxArray parse_idx(std::span<const std::byte> bytes, const std::string& name);

/// Reads a gzip IDX file. Throws Error(usage) that names the file, also when it is missing or not intact
/// gzip.
[[nodiscard]] IdxArray read_idx(const std::filesystem::path& path);

}  // namespace mprof
