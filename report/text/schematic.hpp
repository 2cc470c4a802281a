// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// A drawing of a variant's idea, as its author made it: SVG of shapes and words and of nothing else, so that
/// a page can hold it as it is. CONTRIBUTING.md says what may be in one.
namespace mprof {

inline constexpr std::size_t largest_schematic = 8192;  ///< bytes

struct Schematic {
  std::string title;        ///< what stands for it where it is not seen; plain text
  std::string description;  ///< what it shows, in a sentence or two; plain text
  std::string inline_svg;   ///< for a page, whose colour of text it takes
  std::string file_svg;     ///< for a file of its own, light or dark as its reader's system is

  [[nodiscard]] bool empty() const { return inline_svg.empty(); }
};

/// Reads a drawing. Throws Error(usage) with `file` and the first thing that is wrong. A drawing is wrong if
/// it is not well-formed, is larger than largest_schematic, or lacks a title or a description. It is also
/// wrong if an element, an attribute or a value could do more than draw: scripts, styles, links, anything
/// from elsewhere.
[[nodiscard]] Schematic read_schematic(std::string_view svg, std::string_view file);

}  // namespace mprof
