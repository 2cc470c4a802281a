#pragma once

#include <cstdlib>
#include <string>
#include <vector>

namespace mprof::conv {

/// Where a library of CUDA may be: where the loader finds it, then in the toolkit that the environment names,
/// then in the usual folder.
[[nodiscard]] inline std::vector<std::string> cuda_library_candidates(const std::string& name) {
  std::vector<std::string> paths{name};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* root = std::getenv(variable)) paths.push_back(std::string(root) + "/lib64/" + name);
  }
  paths.push_back("/usr/local/cuda/lib64/" + name);
  return paths;
}

}  // namespace mprof::conv
