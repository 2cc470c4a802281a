// SPDX-License-Identifier: MIT
#include "cli/standard_streams.hpp"

#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include <unistd.h>

namespace mprof::cli {
namespace {

struct Output {
  int fd = -1;
  bool is_for_people = false;
  int error = 0;                ///< errno of the write that failed
  bool may_be_control = false;  ///< the last byte was the first of a character that can be a C1 control
};

Output standard_output{.fd = STDOUT_FILENO}, standard_error{.fd = STDERR_FILENO};

/// Without what tells a terminal to do something: names and messages may have come from anywhere. Ends of
/// lines and tabs stay. C1 controls have two bytes in UTF-8, the first of which is 0xC2.
std::string harmless(Output& output, std::string_view text) {
  constexpr unsigned char first_of_c1 = 0xc2, first_printed = 0xa0, del = 0x7f;
  std::string kept;
  kept.reserve(text.size() + 1);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::exchange(output.may_be_control, false)) {
      const bool is_control = byte >= 0x80 && byte < first_printed;
      kept += is_control ? std::string("?") : std::string{static_cast<char>(first_of_c1)};
      if (is_control) continue;
    }
    if (byte == first_of_c1)
      output.may_be_control = true;
    else if (c != '\r')
      kept += (byte < 0x20 && c != '\n' && c != '\t') || byte == del ? '?' : c;
  }
  return kept;
}

/// Takes all of it, whatever becomes of it: fmt::print() throws otherwise.
ssize_t write_to(void* cookie, const char* text, std::size_t size) {
  Output& output = *static_cast<Output*>(cookie);
  const std::string filtered =
      output.is_for_people ? harmless(output, std::string_view(text, size)) : std::string();
  std::string_view left = output.is_for_people ? std::string_view(filtered) : std::string_view(text, size);
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
  standard_output.is_for_people = ::isatty(STDOUT_FILENO) == 1;
  standard_error.is_for_people = true;
  // As they are by themselves: stdout line by line where somebody looks on.
  stdout = taken_over(stdout, standard_output, ::isatty(STDOUT_FILENO) == 1 ? _IOLBF : _IOFBF);
  stderr = taken_over(stderr, standard_error, _IONBF);
}

void clear_line() {
  static_cast<void>(!::write(STDERR_FILENO, "\r\x1b[2K", 5));
}

int finish_stdout() {
  std::fflush(stdout);
  return standard_output.error;
}

}  // namespace mprof::cli
