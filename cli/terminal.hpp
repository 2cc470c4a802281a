#pragma once

namespace mprof::cli {

/// Whether standard error is a terminal that understands carriage returns.
[[nodiscard]] bool stderr_is_terminal();

/// Columns of the terminal (standard output's, else standard error's), within 60 to 120; 100 when there is
/// none.
[[nodiscard]] unsigned terminal_width();

}  // namespace mprof::cli
