// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace mprof {

/// The tensors of a safetensors file: an 8-byte little-endian header length, a JSON header that gives each
/// tensor's dtype, shape and place, then their bytes, little-endian and row-major. mprof reads the dtypes F32
/// and U8.
class Safetensors {
 public:
  struct Tensor {
    std::string dtype;               ///< "F32" or "U8"
    std::vector<std::size_t> shape;  ///< outermost first; empty: a scalar
    std::size_t begin = 0;           ///< B, from the start of the data
    std::size_t end = 0;
  };

  /// Parses a file's bytes. `name` is what messages call them. Throws Error(usage) on a header that is cut
  /// short, is no JSON object, or has a key twice. Throws it also on an unknown dtype, and on wrong offsets:
  /// out of bounds, in reverse, overlapping, leaving a hole, or not fitting shape and dtype.
  Safetensors(std::span<const std::byte> bytes, std::string name);

  /// Reads a file. Throws Error(usage) that names it.
  [[nodiscard]] static Safetensors read(const std::filesystem::path& path);

  [[nodiscard]] const std::map<std::string, Tensor>& tensors() const { return tensors_; }

  /// The elements of a tensor. Throws Error(usage) when it is missing, or has another dtype or shape.
  [[nodiscard]] std::vector<float> f32(const std::string& tensor, std::span<const std::size_t> shape) const;
  [[nodiscard]] std::vector<std::uint8_t> u8(const std::string& tensor,
                                             std::span<const std::size_t> shape) const;

 private:
  template <typename Element>
  [[nodiscard]] std::vector<Element> elements(const std::string& tensor, const char* dtype,
                                              std::span<const std::size_t> shape) const;

  std::string name_;
  std::map<std::string, Tensor> tensors_;
  std::vector<std::byte> data_;
};

}  // namespace mprof
