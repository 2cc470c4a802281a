// SPDX-License-Identifier: MIT
#include "runner/source/build.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inputs/checksum.hpp"
#include "kernels/sources.hpp"
#include "runner/source/parts.hpp"
#include "runner/source/recorded_flags.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "system/programs.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

/// Variables that compilers read.
constexpr std::array compiler_variables{
    "CPATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS", "NVCC_CCBIN"};

/// What an entry of the folder depends on: the checksum and the path of each file, a line each.
constexpr const char* manifest_name = "depends-on";

std::string user_cache() {
  if (const std::string own = environment_variable("MPROF_CACHE"); !own.empty()) return own;
  if (const std::string cache = environment_variable("XDG_CACHE_HOME"); !cache.empty())
    return cache + "/mprof";
  const std::string home = environment_variable("HOME");
  return home.empty() ? "" : home + "/.cache/mprof";
}

/// Why the libraries in a folder may be somebody else's; empty when only this user could have put them there.
std::string why_distrusted(const fs::path& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) return std::make_error_code(std::errc(errno)).message();
  if (status.st_uid != ::geteuid()) return "it belongs to another user, whose libraries mprof does not load";
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return "others may write there, and mprof would load what they put there; delete it, and mprof makes it "
           "again";
  return "";
}

/// Why nothing can be kept in a folder below the cache's root; empty when it can. Both are made for this user
/// alone where they are missing.
std::string unusable(const fs::path& root, const fs::path& folder) {
  std::error_code error;
  if (root.has_parent_path()) fs::create_directories(root.parent_path(), error);
  for (const fs::path& each : {root, folder}) {
    if (::mkdir(each.c_str(), S_IRWXU) != 0 && errno != EEXIST)
      return std::make_error_code(std::errc(errno)).message();
    if (const std::string reason = why_distrusted(each); !reason.empty()) return reason;
  }
  return ::access(folder.c_str(), W_OK | X_OK) == 0 ? "" : std::make_error_code(std::errc(errno)).message();
}

/// A source that lacks something, with that around it; nothing of others, which are compiled as they are.
std::string framed(const fs::path& source, const BuildSettings& settings) {
  if (!settings.frame) return {};
  return fmt::format("{}#include \"{}\"\n{}", settings.frame->before, source.string(),
                     settings.frame->behind);
}

std::vector<std::string> command_of(const Compiler& tool) {
  std::vector<std::string> command{tool.program.string()};
  for (std::string& option : options_of(tool)) command.push_back(std::move(option));
  return command;
}

/// What is known before the source is read by the compiler.
std::string key_of(const fs::path& source, const Compiler& tool, const BuildSettings& settings) {
  std::string all = source.string() + framed(source, settings) + tool.version;
  for (const fs::path& other : settings.others) all += "\n" + other.string();
  for (const std::string& word : command_of(tool)) all += "\n" + word;
  for (const std::string& flag : settings.flags) all += "\n" + flag;
  for (const char* variable : compiler_variables)
    all += fmt::format("\n{}={}", variable, environment_variable(variable));
  for (const BuiltInFile& header : plugin_headers()) all += header.text;
  return sha256_of_text(all);
}

/// "sha256:abc" as the name of a file.
std::string digits(const std::string& checksum) {
  return checksum.substr(checksum.find(':') + 1);
}

/// A manifest of these files, as they are now.
std::string manifest_of(const std::vector<std::string>& files) {
  std::string manifest;
  for (const std::string& file : files) manifest += fmt::format("{} {}\n", sha256_of_file(file), file);
  return manifest;
}

/// The manifest that was kept, if the files that it names are still what they were.
std::optional<std::string> manifest_that_holds(const fs::path& entry) {
  std::error_code error;
  if (!fs::exists(entry / manifest_name, error)) return std::nullopt;
  try {
    const std::string manifest = read_file(entry / manifest_name);
    std::vector<std::string> files;
    std::istringstream lines(manifest);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t blank = line.find(' ');
      if (blank == std::string::npos) return std::nullopt;
      files.push_back(line.substr(blank + 1));
    }
    return !files.empty() && manifest_of(files) == manifest ? std::optional(manifest) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;  // a file of them is gone
  }
}

/// The library of these checksums, if it is there and whole.
std::optional<fs::path> kept_library(const fs::path& entry, const std::string& checksum) {
  fs::path library = entry / (digits(checksum) + ".so");
  try {
    const std::string sum = read_file(fs::path(library).concat(".sha256"));
    if (sha256_of_file(library) == sum) return library;
  } catch (const Error&) {  // there is none
  }
  return std::nullopt;
}

void write_headers(const fs::path& folder) {
  for (const BuiltInFile& header : plugin_headers()) write_file(folder / header.name, header.text);
}

std::string command_line(const std::vector<std::string>& command) {
  return fmt::format("{}", fmt::join(command, " "));
}

/// A source before a compiler, in a folder of its own with mprof's headers.
class Compilation {
 public:
  Compilation(const fs::path& source, const Compiler& tool, const BuildSettings& settings, const Clock& clock)
      : source_(source), tool_(tool), settings_(settings), clock_(clock) {
    if (settings.frame) unit_ = path(tool.is_nvcc ? "variant.cu" : "variant.cpp");
    write_headers(work_.path());
    if (settings.frame) write_file(unit_, framed(source, settings));
  }

  /// The manifest of what the library would be made of. The compiler reads it, and compiles nothing.
  [[nodiscard]] std::string manifest() const {
    for (std::size_t i = 0; i < settings_.others.size(); ++i) run_other(i, {"-M", "-MF", rule(i + 1)});
    run_main({"-M", "-MF", rule(0)}, {});
    return manifest_of(files());
  }

  /// The library, and its manifest.
  [[nodiscard]] std::pair<fs::path, std::string> library() const {
    std::vector<std::string> objects;
    for (std::size_t i = 0; i < settings_.others.size(); ++i) {
      objects.push_back(path(fmt::format("part{}.o", i)).string());
      run_other(i, {"-c", "-MD", "-MF", rule(i + 1), "-o", objects.back()});
    }
    const fs::path library = path("variant.so");
    run_main({"-MD", "-MF", rule(0), "-o", library.string()}, objects);
    return {library, manifest_of(files())};
  }

 private:
  [[nodiscard]] fs::path path(const std::string& name) const { return work_.path() / name; }
  [[nodiscard]] std::string rule(std::size_t unit) const { return path(fmt::format("{}.d", unit)).string(); }

  /// The source that is the variant; it alone tells mprof of its launches.
  void run_main(std::vector<std::string> mode, const std::vector<std::string>& objects) const {
    if (tool_.is_nvcc) mode.insert(mode.begin(), {"-include", "mprof/calls.hpp"});
    run(command_of(tool_), source_, mode, unit_, objects);
  }

  void run_other(std::size_t other, const std::vector<std::string>& mode) const {
    std::vector<std::string> command = command_of(tool_);
    std::erase(command, "-shared");
    run(command, settings_.others[other], mode, settings_.others[other], {});
  }

  void run(std::vector<std::string> command, const fs::path& source, const std::vector<std::string>& mode,
           const fs::path& unit, const std::vector<std::string>& objects) const {
    command.push_back("-I" + work_.path().string());
    command.insert(command.end(), mode.begin(), mode.end());
    command.push_back(unit.string());
    command.insert(command.end(), objects.begin(), objects.end());
    command.insert(command.end(), settings_.flags.begin(), settings_.flags.end());
    if (settings_.through) {
      const std::vector<std::string> before = settings_.through(work_.path());
      command.insert(command.begin(), before.begin(), before.end());
    }
    const Printed printed = run_program(command, clock_, settings_.limit, settings_.interrupt_fd);
    if (printed.succeeded) return;
    throw CompileError(
        fmt::format(
            "{} could not compile {}:\n{}{}", tool_.program.filename().string(), source.string(),
            printed.text.empty() ? "It printed nothing: " + command_line(command) + "\n" : printed.text,
            advice_on_compiler(printed.text)),
        printed.text);
  }

  /// What the compiler has read beside mprof's own files; each once, in the order of their names.
  [[nodiscard]] std::vector<std::string> files() const {
    std::set<std::string> own;
    for (std::size_t unit = 0; unit <= settings_.others.size(); ++unit) {
      for (const std::string& file : dependencies_of(read_file(rule(unit)))) {
        const std::string path = fs::absolute(file).lexically_normal().string();
        if (!path.starts_with(work_.path().string() + "/")) own.insert(path);
      }
    }
    return {own.begin(), own.end()};
  }

  const fs::path& source_;
  const Compiler& tool_;
  const BuildSettings& settings_;
  const Clock& clock_;
  TemporaryFolder work_{"mprof-build"};
  fs::path unit_ = source_;
};

/// Throws Error(usage) for a path that a shell would take for a command.
void require_path_for(const Compiler& tool, const fs::path& source) {
  if (!tool.is_nvcc || !is_for_a_shell(source.string())) return;
  throw Error(ExitCode::usage,
              fmt::format("{}: nvcc would have a shell read this path as a command: rename the file or its "
                          "folder to a name without $, `, \", \\ and line breaks.",
                          source.string()));
}

/// Throws Error(usage) for flags of a record that could do more than say how code is compiled.
void require_harmless(const fs::path& source, const std::vector<std::string>& flags) {
  const auto refused = refused_flag(flags);
  if (!refused) return;
  throw Error(
      ExitCode::usage,
      fmt::format("The record compiles {} with {}. mprof takes only common flags from a record, since it may "
                  "come from somebody else. Record a new run with --source and --compiler-flags.",
                  source.string(), *refused));
}

}  // namespace

LibraryFolder::LibraryFolder() {
  const std::string cache = user_cache();
  path_ = fs::path(cache) / "libraries";
  temporary_because_ =
      cache.empty() ? "neither MPROF_CACHE nor XDG_CACHE_HOME nor HOME is set" : unusable(cache, path_);
  if (temporary_because_.empty()) return;
  if (!cache.empty()) temporary_because_ = fmt::format("{}: {}", path_.string(), temporary_because_);
  temporary_ = std::make_unique<TemporaryFolder>("mprof-libraries");
  path_ = temporary_->path();
}

BuiltLibrary build_library(const fs::path& source, const BuildSettings& settings, const LibraryFolder& folder,
                           const Clock& clock) {
  const auto for_gpu = std::ranges::find(settings.others, fs::path(".cu"), &fs::path::extension);
  const Compiler tool = find_compiler(for_gpu == settings.others.end() ? source : *for_gpu, clock);
  require_path_for(tool, source);
  for (const fs::path& other : settings.others) require_path_for(tool, other);
  const std::string key = key_of(source, tool, settings);
  const fs::path entry = folder.path() / digits(key);
  BuiltLibrary built{.compiler = fmt::format("{} ({})", tool.program.string(), tool.version)};
  if (const auto manifest = manifest_that_holds(entry)) {
    built.checksum = sha256_of_text(key + *manifest);
    if (const auto library = kept_library(entry, built.checksum)) {
      built.library = *library;
      built.was_kept = true;
      return built;
    }
  }
  const bool is_of_record = !settings.expected.empty();
  if (is_of_record) require_harmless(source, settings.flags);
  const Compilation compilation(source, tool, settings, clock);
  if (is_of_record) {
    built.checksum = sha256_of_text(key + compilation.manifest());
    if (built.checksum != settings.expected) return built;
  }
  settings.on_compile();
  const auto [library, manifest] = compilation.library();
  built.checksum = sha256_of_text(key + manifest);
  if (is_of_record && built.checksum != settings.expected) return built;  // it has changed just now
  built.library = entry / (digits(built.checksum) + ".so");
  write_file(built.library, read_file(library));
  write_file(fs::path(built.library).concat(".sha256"), sha256_of_file(library));
  write_file(entry / manifest_name, manifest);  // last: it says that the others are there
  return built;
}

std::vector<std::string> dependencies_of(std::string_view rule) {
  std::vector<std::string> files;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) files.push_back(std::exchange(word, {}));
  };
  // The target may hold blanks that nobody escaped.
  std::size_t begin = rule.find(':');
  while (begin < rule.size() && rule.find_first_of(" \t\r\n", begin) != begin + 1)
    begin = rule.find(':', begin + 1);
  for (std::size_t at = begin == std::string_view::npos ? rule.size() : begin + 1; at < rule.size(); ++at) {
    const char c = rule[at];
    const char next = at + 1 < rule.size() ? rule[at + 1] : '\0';
    if (c == '\\' && (next == '\n' || next == '\r')) {
      end_word();
      ++at;
    } else if ((c == '\\' && (next == ' ' || next == '#' || next == '\\')) || (c == '$' && next == '$')) {
      word += next;
      ++at;
    } else if (c == ' ' || c == '\n' || c == '\r' || c == '\t') {
      end_word();
    } else {
      word += c;
    }
  }
  end_word();
  return files;
}

}  // namespace mprof
