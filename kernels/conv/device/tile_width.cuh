// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "model/run.hpp"

/// The width of a product's square tiles, as a parameter of a variant. Kernels take it as a template
/// argument, since shared arrays and unrolled loops must know it.
namespace mprof::conv {

inline constexpr unsigned narrowest_tile = 4;
inline constexpr unsigned widest_tile = 32;  ///< 32 x 32 threads: the largest block
inline constexpr unsigned tile_step = 4;     ///< so that a row of a tile is read with 16-byte loads

[[nodiscard]] inline ParameterInfo tile_width_parameter() {
  ParameterInfo info{.name = "tile_width",
                     .meaning = "rows and columns of a tile; a block has as many threads a side",
                     .default_value = "16",
                     .values = {}};
  for (unsigned width = narrowest_tile; width <= widest_tile; width += tile_step) {
    info.values.push_back(std::to_string(width));
  }
  return info;
}

/// Calls `launch` with the std::integral_constant that holds `wanted`, one of tile_width_parameter().values.
template <unsigned width = narrowest_tile, class Launch>
void with_tile_width(unsigned wanted, const Launch& launch) {
  if (wanted == width) {
    launch(std::integral_constant<unsigned, width>{});
  } else if constexpr (width < widest_tile) {
    with_tile_width<width + tile_step>(wanted, launch);
  }
}

}  // namespace mprof::conv
