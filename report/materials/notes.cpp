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
  require_within(directory, file);
  if (fs::file_size(file) > largest_note) {
    throw Error(ExitCode::usage,
                fmt::format("the note {} is larger than 1 MiB. Shorten it, or move it out of notes/.",
                            file.string()));
  }
  return {file, file.lexically_relative(folder).replace_extension().generic_string(), read_file(file)};
}

}  // namespace

std::map<std::string, Note> read_notes(const fs::path& directory) {
  std::map<std::string, Note> notes;
  const fs::path folder = directory / "notes";
  std::error_code error;
  if (directory.empty() || !fs::is_directory(folder, error)) return notes;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file() || entry.path().extension() != ".md") continue;
    Note note = read_note(directory, folder, entry.path());
    notes.emplace(note.name, std::move(note));
  }
  return notes;
}

}  // namespace mprof
