// SPDX-License-Identifier: MIT
#include "runner/source/family_folder.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <system_error>

#include <fmt/format.h>

#include "runner/source/compiler.hpp"
#include "system/error.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

constexpr const char* family_stem = "family";

[[noreturn]] void refuse(const fs::path& folder, const std::string& reason) {
  throw Error(ExitCode::usage, fmt::format("--source {}: {}", folder.string(), reason));
}

/// What can be compiled or loaded, in the order of the names.
std::vector<fs::path> sources_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const fs::path& file = entry.path();
    if (entry.is_regular_file(error) && (is_source_name(file) || is_library_name(file)))
      files.push_back(file);
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

std::string as_name(std::string text) {
  for (char& c : text) {
    const bool is_plain =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
    if (!is_plain) c = '_';
  }
  return text;
}

std::string variant_name(const fs::path& file) {
  return as_name(file.stem().string());
}

std::optional<fs::path> family_file(const fs::path& folder) {
  std::optional<fs::path> found;
  for (const fs::path& file : sources_in(folder)) {
    if (file.stem() != family_stem) continue;
    if (found) {
      refuse(folder, fmt::format("{} and {} would both declare its family; leave one of them.",
                                 found->filename().string(), file.filename().string()));
    }
    found = file;
  }
  return found;
}

FamilyFolder read_family_folder(const fs::path& folder) {
  const std::optional<fs::path> family = family_file(folder);
  if (!family) {
    refuse(folder,
           fmt::format("this folder has no family.cpp or family.cu that declares a family (`mprof new "
                       "family` writes one). Of variants of a family of mprof's, name the files, as in "
                       "'{}'.",
                       (folder / "*.cu").string()));
  }
  FamilyFolder found{.family = *family};
  std::map<std::string, fs::path> names;
  for (const fs::path& file : sources_in(folder)) {
    if (file == *family) continue;
    const auto [other, is_new] = names.emplace(variant_name(file), file);
    if (!is_new) {
      refuse(folder,
             fmt::format("{} and {} would both be called {}; rename one of them.",
                         other->second.filename().string(), file.filename().string(), variant_name(file)));
    }
    found.variants.push_back(file);
  }
  if (found.variants.empty()) {
    refuse(folder, fmt::format("there is no variant beside {}: each other source in the folder is one.",
                               family->filename().string()));
  }
  return found;
}

}  // namespace mprof
