#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/run.hpp"

namespace mprof {

/// An output and what is right, in the family's words. The output is blocks of items of elements: a block is
/// what one call of `reference` computes, an item what must be right by itself.
struct OutputToVerify {
  std::string_view op{};
  std::string_view item{};         ///< "image", as in "the relative L2 error of image 3"
  std::size_t item_size = 1;       ///< elements
  std::size_t items_in_block = 1;  ///< so that many small items cost no call each
  std::span<const float> output{};
  double tolerance = 0;  ///< the largest relative L2 error of an item that still counts as right
  /// What block `block` should hold, in double precision. Called from several threads.
  std::function<std::vector<double>(std::size_t block)> reference{};
  /// Where the element of this index of `output` is: "[image 3, map 0, row 4, column 4]".
  std::function<std::string(std::size_t element)> place{};
};

/// Passes when every element was written and is finite and no item's relative L2 error exceeds the tolerance.
[[nodiscard]] Verification verify(const OutputToVerify& output);

}  // namespace mprof
