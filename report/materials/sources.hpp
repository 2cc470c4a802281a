#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "model/run.hpp"

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
  std::string story;  ///< Markdown; empty: there is none
  std::string story_file;
};

/// Reads what the run directory keeps of a variant. A path or a symbolic link that leads out of it is not
/// followed.
[[nodiscard]] VariantSource read_source(const std::filesystem::path& directory, const VariantInfo& info);

/// Every __global__ function of a CUDA source; in a file without one, its forward() or launch().
[[nodiscard]] std::vector<Excerpt> excerpts_of(std::string_view code);

}  // namespace mprof
