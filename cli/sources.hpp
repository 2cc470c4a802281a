// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "model/run.hpp"
#include "runner/source/sources.hpp"

namespace mprof::cli {

/// Adds --source, --against, --precision and --compiler-flags.
void add_source_options(std::vector<Option>& options);

/// The options of --compiler-flags, one by one.
[[nodiscard]] std::vector<std::string> compiler_flags(const Arguments& arguments);

/// --precision; empty: none was given. Throws Error(usage) for one that mprof does not know.
[[nodiscard]] std::string precision_of(const Arguments& arguments);

/// Throws Error(usage) where an option that needs --source was given without it.
void require_source(const Arguments& arguments, const std::string& option);

/// The libraries of this command, as long as it lives.
class Sources {
 public:
  /// Prints on standard error what is compiled, unless `quiet`. A library that is asked what it declares is
  /// given the command's --timeout, where it has one.
  Sources(const Arguments& arguments, bool quiet);

  /// Builds and registers what the options name; none where they name nothing.
  std::vector<PluginSource> load(const Arguments& arguments);
  std::vector<PluginSource> load(const SourceRequest& request);
  /// Does so again for a recorded run.
  void reload(Run& run);

 private:
  template <class Work>
  void with_context(Work work);

  bool quiet_;
  double answer_limit_ = SourceContext::usual_answer_limit;  ///< s
  std::unique_ptr<LibraryFolder> folder_;
};

}  // namespace mprof::cli
