// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "system/sandbox.hpp"
#include "system/temporary_folder.hpp"

namespace mprof {

/// The small headers in the folder of a file, in the order of their names; no links.
[[nodiscard]] std::vector<std::filesystem::path> headers_beside(const std::filesystem::path& file);

/// What a place has of a file's folder: nothing, or the headers, and of a family's folder its sources too.
enum class Beside { nothing, headers };

/// Where a file is judged. It has a copy of the file, and of what lies beside it. What is compiled of the
/// file is there, and the command lines that start it.
class Workplace {
 public:
  /// `copied_as` is the name that the copy has. `sandbox`: nullptr for none. Throws Error(usage) for a file
  /// that cannot be read or is too large.
  Workplace(const std::filesystem::path& file, const std::string& copied_as, Beside beside,
            const Sandbox* sandbox);

  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  [[nodiscard]] std::filesystem::path libraries() const { return folder_.path() / "libraries"; }
  /// For records that nobody asked for.
  [[nodiscard]] std::filesystem::path records() const { return folder_.path() / "records"; }

  /// What stands before a compiler's command line that writes to `work`.
  [[nodiscard]] std::vector<std::string> for_compiler(const std::filesystem::path& work) const;
  /// What stands before a worker's command line; `inputs` are files that it reads. `loads_file`: also the
  /// library that was made of the file. It may write to `work`, where one is given.
  [[nodiscard]] std::vector<std::string> for_worker(const std::vector<std::filesystem::path>& inputs,
                                                    bool loads_file,
                                                    const std::filesystem::path& work = {}) const;
  /// A message without the paths of this place, which nobody else knows.
  [[nodiscard]] std::string without_paths(std::string text) const;

 private:
  TemporaryFolder folder_{"mprof-judge"};
  std::filesystem::path file_;
  const Sandbox* sandbox_;
};

}  // namespace mprof
