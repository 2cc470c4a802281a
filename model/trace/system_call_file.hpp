// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "model/trace/system_call_record.hpp"
#include "model/trace/trace.hpp"

namespace mprof::system_calls {

/// What a process noted of its calls of the operating system.
struct CallFile {
  std::uint32_t process = 0;  ///< the operating system's id
  std::string name{};         ///< of the process
  std::vector<std::string> functions{};
  std::vector<Record> records{};
  std::map<std::uint32_t, std::string> threads{};  ///< their last names that are known
  std::uint64_t dropped = 0;
};

/// Throws Error(usage) for a file that is not of this version. Records that are not whole are left out.
[[nodiscard]] CallFile read_file(const std::filesystem::path& file);

/// The files of a folder, in the order of their names: a process that becomes another program has several.
[[nodiscard]] std::vector<CallFile> read_folder(const std::filesystem::path& folder);

/// Adds the calls that lie in `window` to a trace whose epoch is 1970, with the names of the process's
/// threads, and says from what length on they were noted. Returns how many were added.
std::size_t add_calls(const CallFile& file, const trace::Interval& window, trace::Trace& trace);

}  // namespace mprof::system_calls
