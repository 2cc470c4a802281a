#include "cli/standard_streams.hpp"

#include <cerrno>
#include <cstdio>
#include <string_view>

#include <unistd.h>

namespace mprof::cli {
namespace {

struct Output {
  int fd = -1;
  int error = 0;  ///< errno of the write that failed
};

Output standard_output{STDOUT_FILENO}, standard_error{STDERR_FILENO};

/// Takes all of it, whatever becomes of it: fmt::print() throws otherwise.
ssize_t write_to(void* cookie, const char* text, std::size_t size) {
  Output& output = *static_cast<Output*>(cookie);
  std::string_view left(text, size);
  while (output.error == 0 && !left.empty()) {
    const ssize_t written = ::write(output.fd, left.data(), left.size());
    if (written >= 0)
      left.remove_prefix(static_cast<std::size_t>(written));
    else if (errno != EINTR)
      output.error = errno;
  }
  return static_cast<ssize_t>(size);
}

/// `stream`, or another one for the same descriptor, which never fails.
FILE* taken_over(FILE* stream, Output& output, int buffering) {
  FILE* const other =
      ::fopencookie(&output, "w", {.read = nullptr, .write = write_to, .seek = nullptr, .close = nullptr});
  if (other == nullptr) return stream;
  std::setvbuf(other, nullptr, buffering, BUFSIZ);
  return other;
}

}  // namespace

void take_over_streams() {
  // As they are by themselves: stdout line by line where somebody looks on.
  stdout = taken_over(stdout, standard_output, ::isatty(STDOUT_FILENO) == 1 ? _IOLBF : _IOFBF);
  stderr = taken_over(stderr, standard_error, _IONBF);
}

int finish_stdout() {
  std::fflush(stdout);
  return standard_output.error;
}

}  // namespace mprof::cli
