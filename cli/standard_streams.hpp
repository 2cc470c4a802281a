// SPDX-License-Identifier: MIT
#pragma once

/// What commands print to stdout and stderr. Where one cannot be written, the rest for it is dropped and
/// nothing throws. So a command still does all its work, and ends with its own exit code.
namespace mprof::cli {

/// Before anything is printed. From then on stderr, and stdout where it is a terminal, have no control
/// characters but ends of lines and tabs: names and messages may have come from anywhere.
void take_over_streams();

/// Erases the line of the terminal that stderr is at.
void clear_line();

/// When all is printed. Returns errno of the write to stdout that failed, behind which nothing was written;
/// 0: none did.
[[nodiscard]] int finish_stdout();

}  // namespace mprof::cli
