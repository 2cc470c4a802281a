// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mprof {

/// An environment variable; empty where it is not set.
[[nodiscard]] std::string environment_variable(const char* name);

/// The folders of a list as PATH has it, in order; an empty entry is the current folder.
[[nodiscard]] std::vector<std::filesystem::path> search_path(std::string_view list);

/// Whether this is a regular file that may be executed.
[[nodiscard]] bool is_program(const std::filesystem::path& file);

/// The first of these folders' files of that name that is a program; nullopt when none is.
[[nodiscard]] std::optional<std::filesystem::path> find_program(
    std::string_view name, const std::vector<std::filesystem::path>& folders);

/// The running program. Throws Error(environment) where the system does not tell.
[[nodiscard]] std::filesystem::path own_program();

/// The folder of the running program; empty where the system does not tell.
[[nodiscard]] std::filesystem::path program_directory();

/// Where mprof's library of this name is: in lib/mprof of a build or of an installation; nullopt when it is
/// in neither.
[[nodiscard]] std::optional<std::filesystem::path> own_library(const std::string& name);

}  // namespace mprof
