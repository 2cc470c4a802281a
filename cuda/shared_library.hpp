// SPDX-License-Identifier: MIT
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

namespace mprof::cuda {

/// Where a library of the CUDA toolkit may be: by its name where the loader finds it, then in the toolkit of
/// the environment (CUDA_HOME, CUDA_PATH), then in the toolkit of this build.
[[nodiscard]] std::vector<std::string> toolkit_paths(const std::string& name);

/// A shared library that is opened when it is first needed, so that mprof starts and works where it is
/// missing. Never closed: CUDA's libraries do not unload cleanly.
class SharedLibrary {
 public:
  /// Opens the first of `names` that the loader finds.
  explicit SharedLibrary(const std::vector<std::string>& names);

  [[nodiscard]] bool loaded() const { return handle_ != nullptr; }
  /// What the loader said of the first name, when none was found.
  [[nodiscard]] const std::string& error() const { return error_; }
  /// The file that was opened; empty when none was.
  [[nodiscard]] std::string path() const;

  /// The address of `name`; nullptr when the library has none, or is not loaded.
  [[nodiscard]] void* find(const char* name) const;
  /// The function `name`; throws Error(environment) when the library has none.
  template <class Function>
  void import(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(need(name));
  }

  /// The first of these functions that the library has; nullptr when it has none.
  template <class Function>
  void import_any(Function*& function, std::initializer_list<const char*> names) const {
    for (const char* name : names) {
      if (function == nullptr) function = reinterpret_cast<Function*>(find(name));
    }
  }

 private:
  [[nodiscard]] void* need(const char* name) const;

  std::string name_;
  void* handle_ = nullptr;
  std::string error_;
};

}  // namespace mprof::cuda
