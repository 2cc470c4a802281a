// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

/// What people add to a report: Markdown files in notes/ of the run directory, which mprof only reads, so
/// that they survive every new report. docs/guides/notes.md explains which goes where.
namespace mprof {

struct Note {
  std::filesystem::path file;  ///< as it is on disk
  std::string name;            ///< below notes/, without the extension: "introduction", "family/variant"
  std::string text;            ///< Markdown
};

/// The notes in a run's directory, by name. Throws Error(usage) for one that cannot be read, is larger than 1
/// MiB or a symbolic link that leads out of the run directory.
[[nodiscard]] std::map<std::string, Note> read_notes(const std::filesystem::path& directory);

}  // namespace mprof
