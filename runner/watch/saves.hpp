// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <map>

/// Files that somebody is at work on, for `mprof watch`.
namespace mprof {

/// When each file was written.
using Stamp = std::map<std::filesystem::path, std::filesystem::file_time_type>;

/// Adds the file, if it is there.
void add_file(Stamp& stamp, const std::filesystem::path& file);

/// Adds the files of a folder that a compiler may read, by their endings.
void add_sources(Stamp& stamp, const std::filesystem::path& folder);

/// Until `look` sees other files than `known`, with `file` among them, and nothing more is saved for as long
/// as one look takes: editors write in steps. Throws Error(interrupted) when `interrupt_fd` becomes readable.
void wait_for_change(const Stamp& known, const std::filesystem::path& file,
                     const std::function<Stamp()>& look, int interrupt_fd);

}  // namespace mprof
