// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "kernels/registry.hpp"
#include "model/run.hpp"
#include "runner/source/build.hpp"
#include "runner/source/family_folder.hpp"
#include "system/clock.hpp"

/// Variants and families from outside: found, compiled, asked what they are, and registered.
namespace mprof {

struct SourceRequest {
  std::vector<std::string> patterns{};  ///< files, folders of families, or globs of them
  std::vector<std::string> flags{};     ///< for the compiler, behind mprof's own
  std::string baseline{};               ///< id or name of the variant that they are compared with; empty: as
                                        ///< they declare
  std::string precision{};              ///< in which they are right; empty: it is found
};

struct SourceContext {
  static constexpr double usual_answer_limit = 60;

  Registry& registry;
  const LibraryFolder& folder;
  std::vector<std::string> worker_command;  ///< starts what asks a library what it is
  const Clock& clock;
  int interrupt_fd = -1;
  double answer_limit = usual_answer_limit;  ///< s, for a library to be loaded and to say what it declares
  double compile_limit = BuildSettings{}.limit;  ///< s
  /// As BuildSettings::through.
  std::function<std::vector<std::string>(const std::filesystem::path& work)> compile_through{};
  /// Called for each source that is compiled, before it is.
  std::function<void(const std::filesystem::path&)> on_compile = [](const std::filesystem::path&) {};
};

struct FoundSources {
  std::vector<std::filesystem::path> files{};
  std::vector<FamilyFolder> folders{};
  /// The files, and those in the folders.
  [[nodiscard]] std::vector<std::filesystem::path> all() const;
};

/// Each once, in the order given; no file of a folder that is given too. Throws Error(usage) for a pattern
/// without a file, for a file that is no source and for a folder that is no family.
[[nodiscard]] FoundSources find_sources(const std::vector<std::string>& patterns);

/// What the variants of these files are called within their families: the file's name without its ending, or
/// the name of its folder where several files share one. Throws Error(usage) where two would have one name.
[[nodiscard]] std::vector<std::string> names_of(const std::vector<std::filesystem::path>& files);

/// Builds and registers the sources, and what they need that lies beside them: of a variant of a family of
/// the user's own, the family and the baseline, which come after it. Throws Error that names the source and
/// says what is wrong with it, and registers nothing then; no code of a source runs in this process.
[[nodiscard]] std::vector<PluginSource> load_sources(const SourceRequest& request,
                                                     const SourceContext& context);

/// Makes sure that the sources of a recorded run are as they were, and registers what they hold again.
/// Throws Error(incomparable) for one that has changed.
void reload_sources(Run& run, const SourceContext& context);

/// The registered ids of the sources' variants and of the baselines that they name, each once.
[[nodiscard]] std::vector<std::string> with_baselines(const std::vector<PluginSource>& sources,
                                                      const Registry& registry);

}  // namespace mprof
