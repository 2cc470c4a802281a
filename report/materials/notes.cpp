// SPDX-License-Identifier: MIT
#include "report/materials/notes.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "system/error.hpp"
#include "system/files.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t largest_note = 1024 * 1024;

Note read_note(const fs::path& directory, const fs::path& folder, const fs::path& file) {
  return {file, file.lexically_relative(folder).replace_extension().generic_string(),
          read_file_within(directory, file, largest_note)};
}

}  // namespace

std::map<std::string, Note> read_notes(const fs::path& directory) {
  std::map<std::string, Note> notes;
  const fs::path folder = directory / "notes";
  std::error_code error;
  if (directory.empty() || !fs::is_directory(folder, error)) return notes;
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const fs::path file = entry->path();
    if (file.extension() != ".md" || entry->is_directory(error)) continue;
    Note note = read_note(directory, folder, file);
    notes.emplace(note.name, std::move(note));
  }
  if (error)
    throw Error(ExitCode::usage, fmt::format("cannot read {}: {}", folder.string(), error.message()));
  return notes;
}

}  // namespace mprof
