// SPDX-License-Identifier: MIT
#include "cli/output_lock.hpp"

#include <cstdio>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "system/error.hpp"
#include "system/files.hpp"

namespace mprof::cli {

OutputLock::OutputLock(const std::filesystem::path& folder) : folder_(folder) {
  std::error_code error;
  is_new_ = !std::filesystem::exists(folder, error);
  if (const std::error_code obstacle = make_folders(folder)) {
    throw Error(ExitCode::environment,
                fmt::format("cannot make the directory {}: {}. Choose another one with --out.",
                            folder.string(), obstacle.message()));
  }
  lock_.emplace(folder, [&] {
    fmt::print(stderr, "mprof: another mprof is writing to {}: waiting for it\n", folder.string());
  });
}

OutputLock::~OutputLock() {
  if (is_new_) ::rmdir(folder_.c_str());  // fails where there is something in it
}

}  // namespace mprof::cli
