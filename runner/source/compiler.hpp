// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "system/clock.hpp"

/// Compilers of sources from outside.
namespace mprof {

/// What compiles a source, and what it has to say of itself.
struct Compiler {
  std::filesystem::path program{};
  std::string version{};  ///< the last line of what --version prints that has a number
  bool is_nvcc = false;
};

/// Whether mprof can load a variant from a file of this name.
[[nodiscard]] bool is_source_name(const std::filesystem::path& file);
/// Whether it is a library that was compiled elsewhere.
[[nodiscard]] bool is_library_name(const std::filesystem::path& file);

/// nvcc for .cu, from CUDA_HOME, CUDA_PATH or PATH; otherwise CXX, or the C++ compiler on PATH. Throws
/// Error(environment) that says where it was looked for when it is not found.
[[nodiscard]] Compiler find_compiler(const std::filesystem::path& source, const Clock& clock);

/// The options that mprof compiles with, up to the user's.
[[nodiscard]] std::vector<std::string> options_of(const Compiler& tool);

/// What a program printed on both of its outputs, and whether it ended well.
struct Printed {
  std::string text{};  ///< lines, of which the first ones are kept: up to 1 MiB
  bool is_whole = true;
  bool succeeded = false;
};

/// Runs a command. Throws Error when it takes longer than `limit`, s, and Error(interrupted) when
/// `interrupt_fd` becomes readable (-1: never); it is ended then.
[[nodiscard]] Printed run_program(const std::vector<std::string>& command, const Clock& clock, double limit,
                                  int interrupt_fd);

}  // namespace mprof
