// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace mprof::cli {

/// Prints text for people on standard output. Where that is no terminal, blanks and minus signs are plain
/// (format::plain_text()), so that what reads it finds them.
void print_readable(const std::string& text);

[[nodiscard]] bool stdout_is_terminal();

/// Whether standard error is a terminal that understands carriage returns.
[[nodiscard]] bool stderr_is_terminal();

/// Columns of the terminal on standard output for a table, at least 60; 0, as wide as it is, without a
/// terminal.
[[nodiscard]] unsigned table_width();

/// Columns of the terminal (standard output's, else standard error's) for sentences, within 60 to 120; 120
/// without a terminal.
[[nodiscard]] unsigned terminal_width();

}  // namespace mprof::cli
