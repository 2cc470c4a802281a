#include "cli/standard_output.hpp"

#include <cerrno>
#include <cstdio>
#include <string_view>

#include <unistd.h>

namespace mprof::cli {
namespace {

int stdout_error = 0;

/// Takes all of it, whatever becomes of it: fmt::print() throws otherwise.
ssize_t write_to_stdout(void* /*cookie*/, const char* text, std::size_t size) {
  std::string_view left(text, size);
  while (stdout_error == 0 && !left.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, left.data(), left.size());
    if (written >= 0)
      left.remove_prefix(static_cast<std::size_t>(written));
    else if (errno != EINTR)
      stdout_error = errno;
  }
  return static_cast<ssize_t>(size);
}

}  // namespace

void take_over_stdout() {
  FILE* const stream = ::fopencookie(
      nullptr, "w", {.read = nullptr, .write = write_to_stdout, .seek = nullptr, .close = nullptr});
  if (stream == nullptr) return;
  // As stdout is by itself: line by line where somebody looks on.
  std::setvbuf(stream, nullptr, ::isatty(STDOUT_FILENO) == 1 ? _IOLBF : _IOFBF, BUFSIZ);
  stdout = stream;
}

int finish_stdout() {
  std::fflush(stdout);
  return stdout_error;
}

}  // namespace mprof::cli
