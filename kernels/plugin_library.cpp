// SPDX-License-Identifier: MIT
#include "kernels/plugin_library.hpp"

#include <fmt/format.h>

#include "system/error.hpp"

namespace mprof {

void* open_plugin(const std::filesystem::path& library, std::string_view holds) {
  void* const handle = ::dlopen(std::filesystem::absolute(library).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    refuse_plugin(library, fmt::format("cannot be loaded: {}", plugin_text(::dlerror())));
  const auto version = find_function<decltype(mprof_abi_version)>(handle, "mprof_abi_version");
  if (version == nullptr && ::dlsym(handle, "main") != nullptr) {
    refuse_plugin(library,
                  "it has a main(), so it is a program and no variant. Build it, and measure the program: "
                  "mprof run -- ./PROGRAM");
  }
  if (version == nullptr) {
    refuse_plugin(
        library,
        fmt::format("it holds no {0}: it has no function mprof_abi_version(). A source registers its "
                    "{0} as `mprof new {0}` shows; a library has the functions of "
                    "<mprof/plugin.h>.",
                    holds));
  }
  if (const std::uint32_t found = version(); found != MPROF_ABI_VERSION) {
    refuse_plugin(library, fmt::format("it is of version {} of the boundary between mprof and variants "
                                       "(MPROF_ABI_VERSION), and this mprof has version {}: compile it with "
                                       "the headers of this mprof.",
                                       found, MPROF_ABI_VERSION));
  }
  return handle;
}

void refuse_plugin(const std::filesystem::path& library, const std::string& reason) {
  throw Error(ExitCode::usage, fmt::format("{}: {}", library.string(), reason));
}

std::string plugin_text(const char* value) {
  return value == nullptr ? "" : value;
}

}  // namespace mprof
