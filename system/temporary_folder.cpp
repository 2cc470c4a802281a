#include "system/temporary_folder.hpp"

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <stdlib.h>

#include "system/error.hpp"

namespace mprof {

TemporaryFolder::TemporaryFolder(std::string_view name) {
  std::string pattern = (std::filesystem::temp_directory_path() / fmt::format("{}-XXXXXX", name)).string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw Error(ExitCode::environment,
                fmt::format("cannot make the temporary folder {}: {}. Let TMPDIR name a folder that can be "
                            "written.",
                            pattern, std::strerror(errno)));
  }
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace mprof
