// SPDX-License-Identifier: MIT
#include "runner/source/first_family.hpp"

#include <system_error>

#include <boost/algorithm/string/replace.hpp>
#include <fmt/format.h>

#include "kernels/sources.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "system/temporary_folder.hpp"

namespace mprof {

void write_first_family(const std::filesystem::path& folder, const std::string& name,
                        const std::string& device) {
  namespace fs = std::filesystem;
  const TemporaryFolder work("mprof-new");
  for (const BuiltInFile& file : first_family(device)) {
    std::string text(file.text);
    boost::replace_all(text, "@NAME@", name);
    boost::replace_all(text, "@FOLDER@", folder.string());
    write_file(work.path() / file.name, text);
  }
  std::error_code error =
      make_folders(folder);  // a copy of the temporary folder would be for its owner alone
  if (!error) fs::copy(work.path(), folder, fs::copy_options::recursive, error);
  if (!error) return;
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  throw Error(ExitCode::environment, fmt::format("cannot write {}: {}.", folder.string(), error.message()));
}

}  // namespace mprof
