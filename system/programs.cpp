// SPDX-License-Identifier: MIT
#include "system/programs.hpp"

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "system/error.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

constexpr const char* own_program_link = "/proc/self/exe";

}  // namespace

std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<fs::path> search_path(std::string_view list) {
  std::vector<fs::path> folders;
  if (list.empty()) return folders;
  for (std::size_t start = 0; start <= list.size();) {
    const std::size_t end = std::min(list.find(':', start), list.size());
    folders.emplace_back(end == start ? std::string_view(".") : list.substr(start, end - start));
    start = end + 1;
  }
  return folders;
}

bool is_program(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0;
}

std::optional<fs::path> find_program(std::string_view name, const std::vector<fs::path>& folders) {
  for (const fs::path& folder : folders) {
    if (is_program(folder / name)) return folder / name;
  }
  return std::nullopt;
}

fs::path own_program() {
  std::error_code error;
  fs::path program = fs::read_symlink(own_program_link, error);
  if (error)
    throw Error(ExitCode::environment,
                fmt::format("cannot read {}: {}. mprof finds its own program by it, to "
                            "start its workers: mount /proc.",
                            own_program_link, error.message()));
  return program;
}

fs::path program_directory() {
  std::error_code error;
  return fs::read_symlink(own_program_link, error).parent_path();
}

std::optional<fs::path> own_library(const std::string& name) {
  const fs::path beside = program_directory();
  for (const fs::path& folder : {beside, beside.parent_path()}) {
    const fs::path library = folder / "lib" / "mprof" / name;
    std::error_code error;
    if (fs::exists(library, error)) return library;
  }
  return std::nullopt;
}

}  // namespace mprof
