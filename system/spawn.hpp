// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

namespace mprof {

/// NAME=VALUE of each variable.
using EnvironmentVariables = std::vector<std::string>;

/// The variables of this process now, with `changed` in place of the variables of their names.
[[nodiscard]] EnvironmentVariables own_variables(const std::map<std::string, std::string>& changed);
/// The variables that this process was started with, whatever it has set since, with `changed` in place of
/// the variables of their names.
[[nodiscard]] EnvironmentVariables initial_variables(const std::map<std::string, std::string>& changed);

/// Starts a program in a process group of its own, with no signal blocked and default handling of all; in
/// `folder`, or where this process is when that is empty. Returns its id, or -1 with errno set.
[[nodiscard]] pid_t spawn(const std::vector<std::string>& command, const EnvironmentVariables& variables,
                          int input, int output, int error, const std::filesystem::path& folder = {});

}  // namespace mprof
