// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <dlfcn.h>

#include "plugin/plugin.h"

/// What loading a plug-in takes, whatever it holds.
namespace mprof {

/// The largest relative L2 error that a plug-in may call right. Beyond, it would no longer be the same
/// computation: single precision has 1e-7, half precision 1e-3.
inline constexpr double largest_tolerance = 0.01;

/// Loads a shared library and looks at its version of the boundary. `holds` is what it should hold, for
/// messages: "variant". Throws Error(usage) that names the library.
[[nodiscard]] void* open_plugin(const std::filesystem::path& library, std::string_view holds);

/// A function of a loaded library; nullptr when it has none of this name.
template <class Function>
[[nodiscard]] Function* find_function(void* library, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(library, name));
}

/// Throws Error(usage): "LIBRARY: reason".
[[noreturn]] void refuse_plugin(const std::filesystem::path& library, const std::string& reason);

/// Empty for NULL.
[[nodiscard]] std::string plugin_text(const char* value);

}  // namespace mprof
