// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "model/trace/trace.hpp"

/// Calls of libc and POSIX threads, which a library in the process notes (injection/os_runtime.cpp).
namespace mprof::os_runtime {

/// What the environment of a process must have, beside journal::folder_variable, for its calls to be noted;
/// what this process's own has of the same stays in it. Nothing where the library is missing, or where its
/// path has a space or a colon, which LD_PRELOAD cannot have.
[[nodiscard]] std::map<std::string, std::string> variables();

/// Adds the calls that the processes of a program noted in a folder, and those processes, to a trace whose
/// epoch is 1970. Returns sentences: of which processes with other rows there is nothing, and what is
/// lacking.
[[nodiscard]] std::vector<std::string> add_calls(const std::filesystem::path& folder, trace::Trace& trace);

/// Adds what this process has noted until now of `window`, but for what began in one of `pauses`. Nothing
/// where it notes none.
void add_own_calls(const trace::Interval& window, const std::vector<trace::Interval>& pauses,
                   trace::Trace& trace);

}  // namespace mprof::os_runtime
