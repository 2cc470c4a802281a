// SPDX-License-Identifier: MIT
#include "cli/sources.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/interrupts.hpp"
#include "cli/values.hpp"
#include "model/precision.hpp"
#include "runner/worker.hpp"
#include "system/error.hpp"
#include "system/suggest.hpp"

namespace mprof::cli {
namespace {

namespace fs = std::filesystem;

std::string precision_names() {
  return fmt::format("{}", fmt::join(precisions, ", "));
}

}  // namespace

std::string precision_of(const Arguments& arguments) {
  const std::string precision = arguments.text("precision");
  const std::vector<std::string> known(precisions.begin(), precisions.end());
  if (precision.empty() || std::ranges::find(known, precision) != known.end()) return precision;
  throw Error(ExitCode::usage, fmt::format("--precision {}: there is no such precision.{} Use one of {}.",
                                           precision, did_you_mean(precision, known), precision_names()));
}

void add_source_options(std::vector<Option>& options) {
  append(options,
         in_group(
             "Your own sources",
             {{"source", "FILE", "",
               "Compile a variant of your own, and run it and its baseline: .cu with nvcc, .cpp, .cc or "
               ".cxx with CXX or c++. A library (.so) is loaded. A folder with a family.cpp or family.cu is "
               "a family of your own with its variants. Globs work. docs/guides/adding.md explains it.",
               true},
              {"against", "ID", "",
               "Compare the variants of --source with this one. Default: the baselines that they "
               "declare."},
              {"precision", "NAME", "",
               "Verify the variants of --source in this precision: " + precision_names() +
                   ". Default: FP32, or "
                   "the lower precision that explains the error of each element."},
              {"compiler-flags", "TEXT", "",
               "More options for the compiler of --source, separated by blanks, such as '-lcublas'."}}));
}

std::vector<std::string> compiler_flags(const Arguments& arguments) {
  std::vector<std::string> flags = split(arguments.text("compiler-flags"), ' ');
  std::erase(flags, "");
  return flags;
}

void require_source(const Arguments& arguments, const std::string& option) {
  if (!arguments.given("source") && arguments.given(option))
    throw Error(ExitCode::usage, fmt::format("--{} needs --source: give both.", option));
}

Sources::Sources(const Arguments& arguments, bool quiet) : quiet_(quiet) {
  if (arguments.knows("timeout") && arguments.given("timeout"))
    answer_limit_ = std::min(answer_limit_, parse_seconds("timeout", arguments.text("timeout")));
}

template <class Work>
void Sources::with_context(Work work) {
  const bool is_first = folder_ == nullptr;
  if (is_first) folder_ = std::make_unique<LibraryFolder>();
  if (is_first && !quiet_ && !folder_->temporary_because().empty())
    fmt::print(stderr, "What is compiled is not kept for the next time: {}\n", folder_->temporary_because());
  const Interrupts interrupts;
  work(SourceContext{.registry = Registry::instance(),
                     .folder = *folder_,
                     .worker_command = own_worker(),
                     .clock = steady_clock(),
                     .interrupt_fd = interrupts.fd(),
                     .answer_limit = answer_limit_,
                     .on_compile = [this](const fs::path& source) {
                       if (!quiet_ && !is_library_name(source))
                         fmt::print(stderr, "building {}\n", source.string());
                     }});
}

std::vector<PluginSource> Sources::load(const SourceRequest& request) {
  std::vector<PluginSource> sources;
  if (request.patterns.empty()) return sources;
  with_context([&](const SourceContext& context) { sources = load_sources(request, context); });
  return sources;
}

std::vector<PluginSource> Sources::load(const Arguments& arguments) {
  for (const char* option : {"against", "compiler-flags", "precision"}) require_source(arguments, option);
  return load({.patterns = arguments.texts("source"),
               .flags = compiler_flags(arguments),
               .baseline = arguments.text("against"),
               .precision = precision_of(arguments)});
}

void Sources::reload(Run& run) {
  if (run.plan.sources.empty()) return;
  with_context([&](const SourceContext& context) { reload_sources(run, context); });
}

}  // namespace mprof::cli
