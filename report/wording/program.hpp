// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/analysis/program/picture.hpp"
#include "report/analysis/program/process.hpp"

/// What is said of a program: its steps, what bounds it, and its kernels.
namespace mprof {

/// "matrix products", "copies and layout".
[[nodiscard]] std::string_view kind_name(KernelKind kind);

/// A sentence or two with what they are about in a few words.
struct LedText {
  std::string lead;
  std::string text;
};

/// The first screen: a step, where it goes, what bounds it, its pace, the program's beginning and end. What
/// is not there has no line.
[[nodiscard]] std::vector<LedText> program_lines(const ProgramPicture& picture);

/// The same of a program without work on a GPU, or without a trace: its times, what CPUs did, its memory, and
/// what it waited for.
[[nodiscard]] std::vector<LedText> process_lines(const ProcessPicture& process);

/// "the GPU", "launching".
[[nodiscard]] std::string_view bound_name(ProgramBound bound);

/// What a card says below the bound: by how much it could be faster at most, or which unit of the GPU it is;
/// empty where nothing tells.
[[nodiscard]] std::string bound_remark(const ProgramPicture& picture);

}  // namespace mprof
