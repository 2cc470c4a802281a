// SPDX-License-Identifier: MIT
#include "runner/source/sources.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <glob.h>

#include "inputs/checksum.hpp"
#include "model/precision.hpp"
#include "runner/source/description.hpp"
#include "runner/source/parts.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "system/suggest.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

/// The files of a glob in the order of their names; a name without a file stands for itself.
std::vector<fs::path> expanded_one(const std::string& pattern) {
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

[[noreturn]] void refuse_missing(const std::string& pattern) {
  throw Error(ExitCode::usage, fmt::format("--source {}: there is no such file.", pattern));
}

/// "op_*/forward.cu+matmul.cu": the first file may be a glob, and the others lie beside each of its files, or
/// here.
std::vector<fs::path> expanded(const std::string& pattern) {
  const std::vector<fs::path> parts = parts_of(pattern);
  std::vector<fs::path> sources;
  std::error_code error;
  for (const fs::path& first : expanded_one(parts.front().string())) {
    std::vector<fs::path> found{first};
    for (std::size_t i = 1; i < parts.size(); ++i) {
      const fs::path beside = first.parent_path() / parts[i];
      found.push_back(fs::exists(beside, error) ? beside : parts[i]);
      if (!fs::exists(found.back(), error)) refuse_missing(parts[i].string());
      if (!is_source_name(found.back()))
        throw Error(ExitCode::usage, fmt::format("--source {}: {} is no source (.cu, .cpp, .cc, .cxx).",
                                                 pattern, found.back().string()));
    }
    sources.push_back(joined(found));
  }
  return sources;
}

void require_source(const std::string& pattern, const fs::path& file) {
  if (is_source_name(file) || is_library_name(file)) return;
  throw Error(ExitCode::usage,
              fmt::format("--source {}: {} is no source that mprof knows: give .cu, .cpp, .cc or "
                          ".cxx, a library (.so), or the folder of a family.",
                          pattern, file.string()));
}

[[noreturn]] void refuse_same_name(const fs::path& a, const fs::path& b, const std::string& name) {
  throw Error(ExitCode::usage, fmt::format("--source: {} and {} would both be called {}; rename one of them.",
                                           a.string(), b.string(), name));
}

std::optional<SourceFrame> frame_of(const fs::path& source, const Registry& registry) {
  const std::string text = read_file(source);
  for (const Family* family : registry.families()) {
    if (auto frame = family->frame_of(text)) return frame;
  }
  return std::nullopt;
}

/// A source as a library, whatever it was, with `frame` around it. `expected`: the checksum that a record
/// gives; without a library where it has another.
PluginSource built(const fs::path& file, const std::vector<std::string>& flags,
                   const std::optional<SourceFrame>& frame, const SourceContext& context,
                   const std::string& expected = {}) {
  std::vector<fs::path> parts = parts_of(file);
  for (fs::path& part : parts) part = fs::absolute(part).lexically_normal();
  PluginSource source{.path = joined(parts).string(), .flags = flags};
  if (is_library_name(file)) {
    source.library = source.path;
    source.checksum = sha256_of_file(source.path);
    return source;
  }
  const BuildSettings settings{.flags = flags,
                               .frame = frame,
                               .others = {parts.begin() + 1, parts.end()},
                               .limit = context.compile_limit,
                               .on_compile = [&] { context.on_compile(file); },
                               .interrupt_fd = context.interrupt_fd,
                               .through = context.compile_through,
                               .expected = expected};
  const BuiltLibrary library = build_library(parts.front(), settings, context.folder, context.clock);
  source.library = library.library.string();
  source.checksum = library.checksum;
  source.compiler = library.compiler;
  return source;
}

/// A source that says nothing of mprof, and has no shape that a family knows: other sources may need it.
bool may_be_helper(const fs::path& file, const Registry& registry) {
  return parts_of(file).size() == 1 && is_source_name(file) && !frame_of(file, registry) &&
         read_file(file).find("mprof") == std::string::npos;
}

Asking asking(const SourceContext& context) {
  return {context.worker_command, context.clock, context.interrupt_fd, context.answer_limit};
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
  // A build without a device has none of mprof's own variants for it; a family of the user's own has all.
  const std::vector<std::string> known = variants_of_family(registry, info.family);
  const bool has_device = std::ranges::any_of(known, [&](const std::string& id) {
    const bool is_own = std::ranges::find(sources, id, &PluginSource::variant) == sources.end();
    return is_own && registry.variant(id)->info.device == info.device;
  });
  if (!has_device && std::ranges::find(sources, info.family, &PluginSource::family) == sources.end()) return;
  throw Error(ExitCode::usage,
              fmt::format("{}: its baseline {} is no variant.{} `mprof list` shows them all.", path,
                          info.baseline, did_you_mean(info.baseline, known)));
}

[[noreturn]] void refuse_family(const VariantInfo& info, const std::string& path, const Registry& registry) {
  std::vector<std::string> known;
  for (const Family* family : registry.families()) known.push_back(family->info().id);
  throw Error(ExitCode::usage,
              fmt::format("{}: its variant is of the family \"{}\", which this mprof does not have.{} "
                          "There are {}. One of your own is a folder with a family.cpp.",
                          path, info.family, did_you_mean(info.family, known), fmt::join(known, ", ")));
}

/// A parameter of one value, as variants of mprof's own have it.
void declare_precision(VariantInfo& info, const std::string& precision) {
  const std::string name(precision_parameter);
  if (std::ranges::find(info.parameters, name, &ParameterInfo::name) != info.parameters.end()) {
    throw Error(ExitCode::usage,
                fmt::format("--precision {0}: {1} has a parameter of that name: use --set precision={0}.",
                            precision, info.id));
  }
  info.parameters.push_back({.name = name,
                             .meaning = "in which its outputs are verified, as its user declares",
                             .default_value = precision,
                             .values = {precision}});
}

void add(VariantInfo info, const std::string& path, Registry& registry) {
  if (registry.variant(info.id) != nullptr) {
    throw Error(
        ExitCode::usage,
        fmt::format("{}: it would be called {}, as a variant of mprof is; rename the file.", path, info.id));
  }
  registry.add(RegisteredVariant{std::move(info), {}, {}});
}

/// That of a variant's file: of several the first one's.
fs::path folder_of(const fs::path& file) {
  return fs::weakly_canonical(parts_of(file).front()).parent_path();
}

/// Builds and registers one source after another; all or none of them.
class Loader {
 public:
  Loader(const SourceRequest& request, const SourceContext& context) : request_(request), context_(context) {}
  ~Loader() {
    if (is_done_) return;
    for (const PluginSource& source : sources_) {
      source.family.empty() ? context_.registry.remove(source.variant)
                            : context_.registry.remove_family(source.family);
    }
  }
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  void add_folder(const FamilyFolder& folder) {
    const std::string family = add_family(folder.family);
    for (const fs::path& file : folder.variants)
      add_variant(file, variant_name(file), family, request_.precision);
  }

  /// Whether a variant took this file along.
  [[nodiscard]] bool has_part(const fs::path& file) const {
    return std::ranges::any_of(sources_, [&](const PluginSource& source) {
      return std::ranges::any_of(parts_of(source.path), [&](const fs::path& part) {
        std::error_code error;
        return fs::equivalent(part, file, error);
      });
    });
  }

  /// A file that may be of any family. Of one of the user's own it is called what it is called in its folder.
  void add_file(const fs::path& file, const std::string& name) {
    add_variant(file, name, "", request_.precision);
  }

  std::vector<PluginSource> done() {
    add_baselines_beside();
    for (const PluginSource& source : sources_) {
      if (!source.family.empty()) continue;
      require_baseline(context_.registry.variant(source.variant)->info, source.path, sources_,
                       context_.registry);
    }
    is_done_ = true;
    return sources_;
  }

 private:
  /// Gives its id.
  std::string add_family(const fs::path& file) {
    PluginSource source = built(file, request_.flags, std::nullopt, context_);
    source.family = "?";  // what is asked for is a family
    std::unique_ptr<Family> family = described_family(source, asking(context_));
    source.family = family->info().id;
    if (context_.registry.family(source.family) != nullptr) {
      throw Error(ExitCode::usage,
                  fmt::format("{}: its family is called {}, as another one is; give it another name.",
                              source.path, source.family));
    }
    context_.registry.add(std::move(family));
    folders_[source.family] = folder_of(file);
    sources_.push_back(source);
    return source.family;
  }

  /// `family`: of which it must be; empty: of any.
  void add_variant(const fs::path& file, const std::string& name, const std::string& family,
                   const std::string& precision) {
    const bool is_text = is_source_name(file);
    const std::optional<SourceFrame> frame = is_text && family.empty()
                                                 ? frame_of(parts_of(file).front(), context_.registry)
                                                 : std::optional<SourceFrame>();
    auto [source, info] = built_and_described(file, frame);
    if (!family.empty() && info.family != family) {
      throw Error(ExitCode::usage,
                  fmt::format("{}: its variant is of the family \"{}\", and its folder is the "
                              "family \"{}\".",
                              source.path, info.family, family));
    }
    const std::optional<fs::path> beside = family_beside(info, file);
    const auto folder = folders_.find(info.family);
    const bool is_at_home = beside || (folder != folders_.end() && folder->second == folder_of(file));
    const std::string own_name = is_at_home ? variant_name(parts_of(file).front()) : name;
    info.id = source.variant = info.family + "/" + own_name;
    // Several files of one shape declare the same title.
    if (frame) info.title = fmt::format("{} ({})", own_name, info.title);
    if (is_text) info.source_file = info.id + parts_of(file).front().extension().string();
    if (!precision.empty()) declare_precision(info, precision);
    if (!request_.baseline.empty()) info.baseline = baseline_id(request_.baseline, info);
    if (info.baseline == info.id) info.baseline.clear();
    const VariantInfo declared = info;
    add(std::move(info), source.path, context_.registry);
    sources_.push_back(source);
    if (!beside) return;
    if (const std::string found = add_family(*beside); found != declared.family) {
      throw Error(
          ExitCode::usage,
          fmt::format("{}: its variant is of the family \"{}\", and the one beside it, {}, is \"{}\".",
                      source.path, declared.family, beside->filename().string(), found));
    }
  }

  /// A file that lacks a function takes along the file beside it that has it. Throws Error(usage) with what
  /// to add where there is none.
  [[nodiscard]] std::pair<PluginSource, VariantInfo> built_and_described(
      const fs::path& file, const std::optional<SourceFrame>& frame) const {
    std::vector<fs::path> parts = parts_of(file);
    std::string lacked, why;  // by the files before the last one
    while (true) {
      try {
        PluginSource source = built(joined(parts), request_.flags, frame, context_);
        VariantInfo info = described_variant(source, asking(context_));
        return {std::move(source), std::move(info)};
      } catch (const Error& error) {
        const auto symbol = undefined_symbol(error.what());
        if (!symbol || !is_source_name(file)) throw;
        const std::vector<fs::path> found = definers(*symbol, parts, context_.registry);
        // Where the last file has not helped, nobody asked for it.
        if (std::exchange(lacked, *symbol) != *symbol) why = error.what();
        if (found.size() != 1) {
          throw Error(error.code(), fmt::format("{}{}{}", why, why.ends_with('\n') ? "" : "\n",
                                                advice_on_symbol(*symbol, parts, found)));
        }
        parts.push_back(found.front());
      }
    }
  }

  /// The file beside a variant that may declare its family; nullopt where the family is there already. Throws
  /// Error(usage) where there is neither.
  [[nodiscard]] std::optional<fs::path> family_beside(const VariantInfo& info, const fs::path& file) const {
    if (context_.registry.family(info.family) != nullptr) return std::nullopt;
    std::optional<fs::path> beside = family_file(folder_of(file));
    if (!beside) refuse_family(info, file.string(), context_.registry);
    return beside;
  }

  /// What variants of the user's own family improve on, where that lies beside the family and was not named.
  void add_baselines_beside() {
    for (std::size_t i = 0; i < sources_.size(); ++i) {  // there may be more at the end
      if (!sources_[i].family.empty()) continue;
      const std::string baseline = context_.registry.variant(sources_[i].variant)->info.baseline;
      const std::string family = mprof::family_of(std::string_view(baseline));
      const auto folder = folders_.find(family);
      if (folder == folders_.end() || context_.registry.variant(baseline) != nullptr) continue;
      const std::vector<fs::path> files = read_family_folder(folder->second).variants;
      const auto file = std::ranges::find_if(
          files, [&](const fs::path& other) { return family + "/" + variant_name(other) == baseline; });
      if (file != files.end()) add_variant(*file, variant_name(*file), family, "");
    }
  }

  const SourceRequest& request_;
  const SourceContext& context_;
  std::vector<PluginSource> sources_;
  std::map<std::string, fs::path> folders_;  ///< of the user's own families, by id
  bool is_done_ = false;
};

/// Without one nothing says what the source was.
void require_checksum(const PluginSource& recorded) {
  if (!recorded.checksum.empty()) return;
  throw Error(ExitCode::usage,
              fmt::format("the run's record gives no checksum of {}: record a new run.", recorded.path));
}

}  // namespace

FoundSources find_sources(const std::vector<std::string>& patterns) {
  FoundSources sources;
  std::set<fs::path> seen;
  for (const std::string& pattern : patterns) {
    const std::vector<fs::path> found = expanded(pattern);
    if (found.empty()) refuse_missing(pattern);
    for (const fs::path& file : found) {
      std::error_code error;
      if (!seen.insert(fs::weakly_canonical(file)).second) continue;
      if (fs::is_directory(file, error)) {
        sources.folders.push_back(read_family_folder(file));
      } else {
        require_source(pattern, file);
        sources.files.push_back(file);
      }
    }
  }
  // A file of a folder that is named as well is a variant of it, and no other.
  std::set<fs::path> within;
  for (const FamilyFolder& folder : sources.folders) within.insert(folder_of(folder.family));
  std::erase_if(sources.files, [&](const fs::path& file) { return within.contains(folder_of(file)); });
  return sources;
}

std::vector<fs::path> FoundSources::all() const {
  std::vector<fs::path> all;
  for (const FamilyFolder& folder : folders) {
    all.push_back(folder.family);
    all.insert(all.end(), folder.variants.begin(), folder.variants.end());
  }
  all.insert(all.end(), files.begin(), files.end());
  return all;
}

std::vector<std::string> names_of(const std::vector<fs::path>& files) {
  std::map<std::string, std::size_t> stems;
  for (const fs::path& file : files) ++stems[variant_name(parts_of(file).front())];
  std::vector<std::string> names;
  std::map<std::string, fs::path> taken;
  for (const fs::path& file : files) {
    const fs::path first = parts_of(file).front();
    std::string name = variant_name(first);
    const fs::path folder = fs::absolute(first).lexically_normal().parent_path().filename();
    if (stems[name] > 1 && !folder.empty()) name = as_name(folder.string());
    if (const auto [other, is_new] = taken.emplace(name, file); !is_new)
      refuse_same_name(other->second, file, name);
    names.push_back(std::move(name));
  }
  return names;
}

std::vector<PluginSource> load_sources(const SourceRequest& request, const SourceContext& context) {
  const FoundSources found = find_sources(request.patterns);
  std::vector<fs::path> variants, helpers;
  for (const fs::path& file : found.files)
    (may_be_helper(file, context.registry) ? helpers : variants).push_back(file);
  Loader loader(request, context);
  for (const FamilyFolder& folder : found.folders) loader.add_folder(folder);
  const auto add_from = [&](std::size_t first) {
    const std::vector<std::string> names = names_of(variants);
    for (std::size_t i = first; i < names.size(); ++i) loader.add_file(variants[i], names[i]);
  };
  add_from(0);
  // What no variant took along must be one itself, of another name than those.
  const std::size_t first = variants.size();
  std::ranges::copy_if(helpers, std::back_inserter(variants),
                       [&](const fs::path& file) { return !loader.has_part(file); });
  if (first < variants.size()) add_from(first);
  return loader.done();
}

void reload_sources(Run& run, const SourceContext& context) {
  for (PluginSource& recorded : run.plan.sources) {
    const VariantInfo* const variant = find_variant(run, recorded.variant);
    const FamilyInfo* const family = find_family(run, recorded.family);
    if (variant == nullptr && family == nullptr)
      throw Error(ExitCode::usage, fmt::format("the run's record does not say what {} is.", recorded.path));
    const std::optional<SourceFrame> frame = variant != nullptr && is_source_name(recorded.path)
                                                 ? frame_of(parts_of(recorded.path).front(), context.registry)
                                                 : std::optional<SourceFrame>();
    require_checksum(recorded);
    const PluginSource now = built(recorded.path, recorded.flags, frame, context, recorded.checksum);
    if (now.checksum != recorded.checksum) {
      throw Error(
          ExitCode::incomparable,
          fmt::format("{}, what it includes or its compiler has changed since the run began: record a "
                      "new run, or bring back what was.",
                      recorded.path));
    }
    recorded.library = now.library;
    if (variant != nullptr)
      add(*variant, recorded.path, context.registry);
    else
      context.registry.add(recorded_family(recorded, *family, asking(context)));
  }
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

}  // namespace mprof
