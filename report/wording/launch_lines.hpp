// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "report/analysis/program/launch_lines.hpp"
#include "report/wording/program.hpp"

/// What is said of the lines that launch a program's kernels.
namespace mprof {

/// "train.py:31"; where no line is known the function, or the operation of autograd: "AddmmBackward0".
[[nodiscard]] std::string place_text(const CodePlace& place);
/// The function that the line is in: "forward"; "autograd" of a gradient; the program's name where no line is
/// known.
[[nodiscard]] std::string around_place(const CodePlace& place);

/// For the first screen: the lines that launch the most.
[[nodiscard]] LedText launch_lines_line(const LaunchLines& lines);

/// How much has no line, and what threads without Python launch.
[[nodiscard]] std::vector<std::string> launch_lines_remarks(const LaunchLines& lines);

/// "train.py:31 60.0 %, model.py:12 40.0 %", of a kernel's time; empty: not known.
[[nodiscard]] std::string lines_of_kernel(const LaunchLines& lines, const std::string& kernel);

}  // namespace mprof
