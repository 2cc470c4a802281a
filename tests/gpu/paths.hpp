// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

/// Where this program finds the others.
namespace mprof::test {

/// A program that was built with this one: beside it in a bundle's folder of programs, at its place in a
/// build folder.
inline std::string program(const std::string& name) {
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  for (const std::filesystem::path& candidate :
       {here / name, here / "../bin" / name, here / "../.." / name}) {
    if (std::filesystem::exists(candidate)) return std::filesystem::canonical(candidate).string();
  }
  return (here / name).string();
}

}  // namespace mprof::test
