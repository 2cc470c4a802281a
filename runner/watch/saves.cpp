// SPDX-License-Identifier: MIT
#include "runner/watch/saves.hpp"

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include <poll.h>

#include "system/error.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

/// How often it is looked whether something was saved, ms.
constexpr int look_every = 200;

/// Files that a compiler may read, by their endings.
constexpr std::array compiled{".c",   ".cc", ".cpp", ".cxx", ".cu",  ".h",
                              ".hpp", ".hh", ".cuh", ".inl", ".inc", ".so"};

}  // namespace

void add_file(Stamp& stamp, const fs::path& file) {
  std::error_code error;
  const fs::file_time_type written = fs::last_write_time(file, error);
  if (!error) stamp[file] = written;
}

void add_sources(Stamp& stamp, const fs::path& folder) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (std::ranges::find(compiled, entry.path().extension().string()) != compiled.end())
      add_file(stamp, entry.path());
  }
}

void wait_for_change(const Stamp& known, const fs::path& file, const std::function<Stamp()>& look,
                     int interrupt_fd) {
  Stamp last = known;
  while (true) {
    pollfd interrupt{.fd = interrupt_fd, .events = POLLIN, .revents = 0};
    if (::poll(&interrupt, 1, look_every) > 0) throw Error(ExitCode::interrupted, "interrupted");
    Stamp now = look();
    if (now != known && now == last && now.contains(file)) return;
    last = std::move(now);
  }
}

}  // namespace mprof
