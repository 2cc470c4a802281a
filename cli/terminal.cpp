// SPDX-License-Identifier: MIT
#include "cli/terminal.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

#include "report/text/plain_text.hpp"

namespace mprof::cli {

bool stdout_is_terminal() {
  return ::isatty(STDOUT_FILENO) == 1;
}

void print_readable(const std::string& text) {
  std::fputs(stdout_is_terminal() ? text.c_str() : format::plain_text(text).c_str(), stdout);
}

bool stderr_is_terminal() {
  const char* kind = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
}

unsigned table_width() {
  if (!stdout_is_terminal()) return 0;
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0
             ? std::max<unsigned>(size.ws_col, 60)
             : 0;
}

unsigned terminal_width() {
  constexpr unsigned widest = 120;
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    winsize size{};
    if (::isatty(fd) == 1 && ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
      return std::clamp<unsigned>(size.ws_col, 60, widest);
    }
  }
  return widest;
}

}  // namespace mprof::cli
