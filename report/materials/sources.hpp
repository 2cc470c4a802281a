// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/run.hpp"
#include "report/text/schematic.hpp"

/// The code and the story of each variant as the run directory keeps them: what was measured, whatever the
/// repository holds by now.
namespace mprof {

/// A function of a source file, with the comment and the template head above it.
struct Excerpt {
  std::string name;
  std::string text;  ///< whole lines, the last one ended
  std::size_t first_line = 1;
  std::size_t last_line = 1;
};

struct VariantSource {
  std::string file;   ///< below the run directory: "kernels/family/variant.cu"; empty: none was kept
  std::string code;   ///< all of it
  std::string story;  ///< Markdown; empty: no story
  std::string story_file;
  Schematic schematic;  ///< of its idea; empty: no drawing
};

/// A file below kernels/ by its path there, as the program itself has it; nullopt where it has none.
using OwnSources = std::function<std::optional<std::string_view>(std::string_view path)>;

/// Reads what the run directory keeps of a variant. A path or a symbolic link that leads out of it is not
/// followed. Runs that were made before there were drawings keep none: the program's own then shows the idea,
/// if the code is the same. Throws Error(usage) for a drawing that read_schematic() refuses.
[[nodiscard]] VariantSource read_source(const std::filesystem::path& directory, const VariantInfo& info,
                                        const OwnSources& own = {});

/// Every __global__ function of a CUDA source; in a file without one, its forward() or launch().
[[nodiscard]] std::vector<Excerpt> excerpts_of(std::string_view code);

}  // namespace mprof
