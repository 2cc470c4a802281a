// SPDX-License-Identifier: MIT
#pragma once

/// This process's own standard input, for programs that are run several times.
namespace mprof {

/// A pipe can be read once. Keeps what it gives, up to its end, so that each program is given all of it.
/// Nothing is kept of a pipe that gives nothing for two seconds: whoever left it open may never write to it.
/// Throws Error(usage) where it gives more than mprof keeps.
enum class KeptInput { kept, silent, no_pipe };
[[nodiscard]] KeptInput keep_standard_input();

/// A descriptor that reads it from its beginning: a file's, or what was kept of a pipe. Otherwise it is
/// empty.
[[nodiscard]] int open_standard_input();

}  // namespace mprof
