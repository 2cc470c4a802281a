// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "report/analysis/program/memory_use.hpp"
#include "report/analysis/program/picture.hpp"

/// What is said of the GPU memory that a program held.
namespace mprof {

/// "forward / attention"; "in no range".
[[nodiscard]] std::string holder_range(const MemoryHolder& holder);

/// Not where some of it is not counted or may be of several GPUs, nor where a framework took most of the GPU
/// when it started.
[[nodiscard]] bool says_what_input_needs(const MemoryUse& use);

/// For the first screen: the peak, who holds it, and whether it grows; or why nothing is known.
[[nodiscard]] std::string memory_text(const ProgramPicture& picture);

/// What to know of the curve: the moment of the peak, what the steady steps allocate, what grows, what a
/// larger input would need, and what is not counted.
[[nodiscard]] std::vector<std::string> memory_remarks(const ProgramPicture& picture);

}  // namespace mprof
