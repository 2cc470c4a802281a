#pragma once

#include <filesystem>

namespace mprof {

/// Where a family finds its inputs.
struct DataPaths {
  std::filesystem::path images;   ///< directory with the gzip IDX files
  std::filesystem::path weights;  ///< safetensors file
};

}  // namespace mprof
