// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/workload.hpp"
#include "runner/source/compiler.hpp"
#include "system/clock.hpp"
#include "system/error.hpp"
#include "system/temporary_folder.hpp"

/// Makes shared libraries of sources from outside.
namespace mprof {

/// Where libraries are kept: MPROF_CACHE, otherwise mprof/ in the user's cache folder (XDG_CACHE_HOME,
/// ~/.cache). It is made for this user alone. Where it cannot be written, belongs to another user or may be
/// written by others, a temporary folder that lasts as long as this object.
class LibraryFolder {
 public:
  LibraryFolder();
  /// A folder of the caller's.
  explicit LibraryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Why what is built will have to be built again the next time; empty when it is kept.
  [[nodiscard]] const std::string& temporary_because() const { return temporary_because_; }

 private:
  std::filesystem::path path_;
  std::unique_ptr<TemporaryFolder> temporary_;
  std::string temporary_because_;
};

struct BuildSettings {
  std::vector<std::string> flags{};             ///< that the user gives, behind mprof's own
  std::optional<SourceFrame> frame{};           ///< what the source lacks
  std::vector<std::filesystem::path> others{};  ///< sources that are linked with it
  double limit = 1200;                          ///< s
  std::function<void()> on_compile = [] {};     ///< is called before the compiler is started to do it
  int interrupt_fd = -1;                        ///< becomes readable when it is to stop; -1: never
  /// What stands before the compiler's command line, when it writes to this folder alone; empty: nothing.
  std::function<std::vector<std::string>(const std::filesystem::path& work)> through{};
  /// The checksum that a record gives; empty: the user asks for it. Then the flags are the record's too.
  std::string expected{};
};

/// A compiler that did not accept a source.
class CompileError : public Error {
 public:
  CompileError(const std::string& message, std::string printed)
      : Error(ExitCode::usage, message), printed_(std::move(printed)) {}
  /// What the compiler wrote, as it wrote it.
  [[nodiscard]] const std::string& printed() const { return printed_; }

 private:
  std::string printed_;
};

struct BuiltLibrary {
  std::filesystem::path library{};  ///< empty: its checksum is not the expected one, and nothing was compiled
  std::string checksum{};           ///< of the source, all that it includes, the compiler and its options
  std::string compiler{};           ///< its path and its version
  bool was_kept = false;            ///< nothing had to be compiled
};

/// Compiles a source, unless the folder holds what came of the same text with the same headers, compiler and
/// options. Throws CompileError with what the compiler wrote when it fails; nothing is kept then.
///
/// What a record asks for is compiled only when its flags are harmless (refused_flag()) and its checksum is
/// the expected one, which is known before. Throws Error(usage) that names the flag.
[[nodiscard]] BuiltLibrary build_library(const std::filesystem::path& source, const BuildSettings& settings,
                                         const LibraryFolder& folder, const Clock& clock);

/// The files that a rule as compilers write it (-MD) names behind its target.
[[nodiscard]] std::vector<std::string> dependencies_of(std::string_view rule);

}  // namespace mprof
