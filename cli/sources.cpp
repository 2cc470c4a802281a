#include "cli/sources.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "cli/interrupts.hpp"
#include "cli/values.hpp"
#include "system/error.hpp"

namespace mprof::cli {
namespace {

namespace fs = std::filesystem;

}  // namespace

void add_source_options(std::vector<Option>& options) {
  options.push_back(
      {"source", "FILE", "",
       "Compile a variant of your own and run it beside its baseline: .cu with nvcc (of CUDA_HOME, "
       "CUDA_PATH or PATH), .cpp, .cc or .cxx with CXX or c++; or load a library (.so). Globs, and "
       "several. A folder with a family.cpp (or .cu) is a family of your own, and each other source in it a "
       "variant: all of them are run, or with --variant or --all those that these name. "
       "docs/guides/adding.md "
       "tells more.",
       true});
  options.push_back(
      {"against", "ID", "",
       "The variant that those of --source are held against, instead of the baselines that they "
       "declare; one of them, or one of mprof's."});
  options.push_back({"compiler-flags", "TEXT", "",
                     "More options for the compiler of --source, separated by blanks, such as '-lcublas'."});
}

Sources::Sources(const Arguments& arguments, bool quiet) : quiet_(quiet) {
  if (const std::string limit = arguments.text("timeout"); !limit.empty())
    answer_limit_ = std::min(answer_limit_, parse_seconds("timeout", limit));
}

template <class Work>
void Sources::with_context(Work work) {
  const bool is_first = folder_ == nullptr;
  if (is_first) folder_ = std::make_unique<LibraryFolder>();
  if (is_first && !quiet_ && !folder_->temporary_because().empty())
    fmt::print(stderr, "What is compiled is not kept for the next time: {}\n", folder_->temporary_because());
  const Interrupts interrupts;
  const std::string program = fs::read_symlink("/proc/self/exe").string();
  work(SourceContext{.registry = Registry::instance(),
                     .folder = *folder_,
                     .worker_command = {program, "worker"},
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
  const std::vector<std::string> patterns = arguments.texts("source");
  for (const char* option : {"against", "compiler-flags"}) {
    if (patterns.empty() && arguments.given(option))
      throw Error(ExitCode::usage, fmt::format("--{} says something of --source: give both.", option));
  }
  std::vector<std::string> flags = split(arguments.text("compiler-flags"), ' ');
  std::erase(flags, "");
  return load({.patterns = patterns, .flags = std::move(flags), .baseline = arguments.text("against")});
}

void Sources::reload(Run& run) {
  if (run.plan.sources.empty()) return;
  with_context([&](const SourceContext& context) { reload_sources(run, context); });
}

std::vector<std::string> with_baselines(const std::vector<PluginSource>& sources, const Registry& registry) {
  std::vector<std::string> ids;
  const auto add = [&](const std::string& id) {
    if (registry.variant(id) != nullptr && std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
  };
  for (const PluginSource& source : sources) {
    if (!source.family.empty()) continue;
    add(registry.variant(source.variant)->info.baseline);
    add(source.variant);
  }
  return ids;
}

}  // namespace mprof::cli
