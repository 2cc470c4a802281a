// SPDX-License-Identifier: MIT
#include "cuda/shared_library.hpp"

#include <cstdlib>

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include "system/error.hpp"

namespace mprof::cuda {

std::vector<std::string> toolkit_paths(const std::string& name) {
  std::vector<std::string> paths{name};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* root = std::getenv(variable)) {
      paths.push_back(fmt::format("{}/lib64/{}", root, name));
      paths.push_back(fmt::format("{}/extras/CUPTI/lib64/{}", root, name));
    }
  }
  paths.push_back(fmt::format("{}/{}", MPROF_CUDA_LIBRARY_DIR, name));
  return paths;
}

SharedLibrary::SharedLibrary(const std::vector<std::string>& names) : name_(names.front()) {
  for (const std::string& name : names) {
    handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) {
      name_ = name;
      error_.clear();
      return;
    }
    const char* const message = dlerror();
    if (error_.empty()) error_ = message != nullptr ? message : "unknown error";
  }
}

std::string SharedLibrary::path() const {
  link_map* map = nullptr;
  if (handle_ == nullptr || dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0) return {};
  return map->l_name;
}

void* SharedLibrary::find(const char* name) const {
  return handle_ == nullptr ? nullptr : dlsym(handle_, name);
}

void* SharedLibrary::need(const char* name) const {
  void* const symbol = find(name);
  if (symbol == nullptr) {
    throw Error(
        ExitCode::environment,
        fmt::format(
            "{} has no {}: this version of it is not one that mprof knows. Install the one of the CUDA "
            "toolkit that mprof was built with.",
            name_, name));
  }
  return symbol;
}

}  // namespace mprof::cuda
