// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "model/family.hpp"

/// Programs are variants of a family of their own, which has no axes, and whose ops are what is found in
/// them.
namespace mprof {

inline constexpr const char* program_family_id = "program";

[[nodiscard]] FamilyInfo program_family(const std::string& title);

/// The ops of a problem before any was found: the program as a whole.
[[nodiscard]] std::vector<OpInfo> planned_program_ops();

/// Adds the ops that are not in `all` yet (model/trace/program.hpp): found as ranges, or in what the program
/// prints.
void add_program_ops(std::vector<OpInfo>& all, const std::vector<std::string>& ops, bool is_printed = false);

/// A text as a program's name, with whatever an id cannot hold replaced.
[[nodiscard]] std::string program_name(std::string text);

/// Throws Error(usage) for what an id cannot hold.
void require_program_name(const std::string& name);

/// The name of a command line: its program's, or the name of the script that an interpreter runs.
[[nodiscard]] std::string name_of_command(const std::vector<std::string>& command);

}  // namespace mprof
