#include "runner/source/sources.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <glob.h>

#include "inputs/checksum.hpp"
#include "runner/protocol.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "system/process.hpp"
#include "system/suggest.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

constexpr double describe_limit = 60;  // s: to load a library, and no more

/// The files of a glob in the order of their names; a name without a file stands for itself.
std::vector<fs::path> expanded(const std::string& pattern) {
  std::error_code error;
  if (fs::exists(pattern, error)) return {pattern};
  ::glob_t found{};
  std::vector<fs::path> files;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    for (std::size_t i = 0; i < found.gl_pathc; ++i) files.emplace_back(found.gl_pathv[i]);
  }
  ::globfree(&found);
  return files;
}

void require_source(const std::string& pattern, const fs::path& file) {
  std::error_code error;
  if (fs::is_directory(file, error)) {
    throw Error(ExitCode::usage, fmt::format("--source {}: this is a folder; name its files, as in '{}'.",
                                             pattern, (file / "*.cu").string()));
  }
  if (!is_source_name(file) && !is_library_name(file)) {
    throw Error(ExitCode::usage,
                fmt::format("--source {}: {} is no source that mprof knows: give .cu, .cpp, .cc or "
                            ".cxx, or a library (.so).",
                            pattern, file.string()));
  }
}

/// As part of a variant's id, which is a part of names of files too.
std::string as_name(std::string text) {
  for (char& c : text) {
    const bool is_plain =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
    if (!is_plain) c = '_';
  }
  return text;
}

std::string stem(const fs::path& file) {
  return as_name(file.stem().string());
}

[[noreturn]] void refuse_same_name(const fs::path& a, const fs::path& b, const std::string& name) {
  throw Error(ExitCode::usage, fmt::format("--source: {} and {} would both be called {}; rename one of them.",
                                           a.string(), b.string(), name));
}

/// By the process that loads it, so that it can crash, hang or lie without harm.
VariantInfo description_of(const PluginSource& source, const SourceContext& context) {
  Job job{.kind = JobKind::describe, .token = random_token()};
  job.plan.timeout = describe_limit;
  job.plan.sources = {source};
  Process worker(context.worker_command, to_line(job));
  const auto event = worker.next(context.clock, context.clock.now() + describe_limit, context.interrupt_fd);
  if (event.kind == Process::Event::Kind::interrupted) throw Error(ExitCode::interrupted, "interrupted");
  if (event.kind != Process::Event::Kind::line) {
    const bool is_slow = event.kind == Process::Event::Kind::deadline;
    worker.kill();
    const std::string words = worker.last_words();
    throw Error(ExitCode::wrong_output,
                fmt::format("{}: asked what it declares, it gave no answer: {}{}{}", source.path,
                            is_slow ? fmt::format("it took longer than {:g} s", describe_limit)
                                    : "its process ended with " + worker.how_it_ended(),
                            words.empty() ? "." : ". Its last words: ", words));
  }
  const Message answer = parse_message(event.line);
  if (answer.token != job.token || (!answer.variant && answer.refusal.empty()))
    throw Error(ExitCode::wrong_output, source.path + ": asked what it declares, it wrote something else.");
  if (answer.variant) return *answer.variant;
  std::string refusal = answer.refusal;
  if (refusal.starts_with(source.library)) refusal.replace(0, source.library.size(), source.path);
  throw Error(ExitCode::usage, refusal);
}

std::optional<SourceFrame> frame_of(const fs::path& source, const Registry& registry) {
  const std::string text = read_file(source);
  for (const Family* family : registry.families()) {
    if (auto frame = family->frame_of(text)) return frame;
  }
  return std::nullopt;
}

/// A source as a library, whatever it was.
PluginSource built(const fs::path& file, const std::vector<std::string>& flags, bool& was_framed,
                   const SourceContext& context) {
  PluginSource source{.path = fs::absolute(file).lexically_normal().string(), .flags = flags};
  was_framed = false;
  if (is_library_name(file)) {
    source.library = source.path;
    source.checksum = sha256_of_file(source.path);
    return source;
  }
  BuildSettings settings{
      .flags = flags, .on_compile = [&] { context.on_compile(file); }, .interrupt_fd = context.interrupt_fd};
  settings.frame = frame_of(source.path, context.registry);
  was_framed = settings.frame.has_value();
  const BuiltLibrary library = build_library(source.path, settings, context.folder, context.clock);
  source.library = library.library.string();
  source.checksum = library.checksum;
  source.compiler = library.compiler;
  return source;
}

std::vector<std::string> variants_of_family(const Registry& registry, const std::string& family) {
  std::vector<std::string> ids;
  for (const RegisteredVariant* variant : registry.variants()) {
    if (variant->info.family == family) ids.push_back(variant->info.id);
  }
  return ids;
}

/// The id of a baseline that a user names with or without the family.
std::string baseline_id(const std::string& name, const VariantInfo& info) {
  return name.find('/') == std::string::npos && !name.empty() ? info.family + "/" + name : name;
}

/// Baselines may be other sources: all must be registered before this is known.
void require_baseline(const VariantInfo& info, const std::string& path,
                      const std::vector<PluginSource>& sources, const Registry& registry) {
  if (info.baseline.empty()) return;
  if (registry.variant(info.baseline) != nullptr) {
    if (mprof::family_of(std::string_view(info.baseline)) == info.family) return;
    throw Error(ExitCode::usage, fmt::format("{}: its baseline {} is of another family than {}.", path,
                                             info.baseline, info.id));
  }
  // A build without a device has none of mprof's own variants for it.
  const std::vector<std::string> known = variants_of_family(registry, info.family);
  const bool has_device = std::ranges::any_of(known, [&](const std::string& id) {
    const bool is_own = std::ranges::find(sources, id, &PluginSource::variant) == sources.end();
    return is_own && registry.variant(id)->info.device == info.device;
  });
  if (!has_device) return;
  throw Error(ExitCode::usage,
              fmt::format("{}: its baseline {} is no variant.{} `mprof list` shows them all.", path,
                          info.baseline, did_you_mean(info.baseline, known)));
}

void require_family(const VariantInfo& info, const std::string& path, const Registry& registry) {
  if (registry.family(info.family) != nullptr) return;
  std::vector<std::string> known;
  for (const Family* family : registry.families()) known.push_back(family->info().id);
  throw Error(ExitCode::usage,
              fmt::format("{}: its variant is of the family \"{}\", which this mprof does not have.{} "
                          "There are {}.",
                          path, info.family, did_you_mean(info.family, known), fmt::join(known, ", ")));
}

void add(VariantInfo info, const std::string& path, Registry& registry) {
  if (registry.variant(info.id) != nullptr) {
    throw Error(
        ExitCode::usage,
        fmt::format("{}: it would be called {}, as a variant of mprof is; rename the file.", path, info.id));
  }
  registry.add(RegisteredVariant{std::move(info), {}});
}

}  // namespace

std::vector<fs::path> find_sources(const std::vector<std::string>& patterns) {
  std::vector<fs::path> files;
  std::set<fs::path> seen;
  for (const std::string& pattern : patterns) {
    const std::vector<fs::path> found = expanded(pattern);
    if (found.empty())
      throw Error(ExitCode::usage, fmt::format("--source {}: there is no such file.", pattern));
    for (const fs::path& file : found) {
      require_source(pattern, file);
      if (seen.insert(fs::weakly_canonical(file)).second) files.push_back(file);
    }
  }
  return files;
}

std::vector<std::string> names_of(const std::vector<fs::path>& files) {
  std::map<std::string, std::size_t> stems;
  for (const fs::path& file : files) ++stems[stem(file)];
  std::vector<std::string> names;
  std::map<std::string, fs::path> taken;
  for (const fs::path& file : files) {
    std::string name = stem(file);
    const fs::path folder = fs::absolute(file).lexically_normal().parent_path().filename();
    if (stems[name] > 1 && !folder.empty()) name = as_name(folder.string());
    if (const auto [other, is_new] = taken.emplace(name, file); !is_new)
      refuse_same_name(other->second, file, name);
    names.push_back(std::move(name));
  }
  return names;
}

std::vector<PluginSource> load_sources(const SourceRequest& request, const SourceContext& context) {
  const std::vector<fs::path> files = find_sources(request.patterns);
  const std::vector<std::string> names = names_of(files);
  std::vector<PluginSource> sources;
  for (std::size_t i = 0; i < files.size(); ++i) {
    bool was_framed = false;
    PluginSource source = built(files[i], request.flags, was_framed, context);
    VariantInfo info = description_of(source, context);
    require_family(info, source.path, context.registry);
    info.id = source.variant = info.family + "/" + names[i];
    // Several files of one shape declare the same title.
    if (was_framed) info.title = fmt::format("{} ({})", names[i], info.title);
    if (is_source_name(files[i])) info.source_file = info.id + files[i].extension().string();
    if (!request.baseline.empty()) info.baseline = baseline_id(request.baseline, info);
    if (info.baseline == info.id) info.baseline.clear();
    add(std::move(info), source.path, context.registry);
    sources.push_back(std::move(source));
  }
  for (const PluginSource& source : sources)
    require_baseline(context.registry.variant(source.variant)->info, source.path, sources, context.registry);
  return sources;
}

void reload_sources(Run& run, const SourceContext& context) {
  for (PluginSource& recorded : run.plan.sources) {
    const VariantInfo* const info = find_variant(run, recorded.variant);
    if (info == nullptr)
      throw Error(ExitCode::usage,
                  fmt::format("the run's record does not say what {} is.", recorded.variant));
    bool was_framed = false;
    PluginSource now = built(recorded.path, recorded.flags, was_framed, context);
    if (now.checksum != recorded.checksum) {
      throw Error(
          ExitCode::incomparable,
          fmt::format("{}, what it includes or its compiler has changed since the run began: record a "
                      "new run, or bring back what was.",
                      recorded.path));
    }
    recorded.library = now.library;
    add(*info, recorded.path, context.registry);
  }
}

}  // namespace mprof
