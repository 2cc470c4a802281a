#include "runner/source/build.hpp"

#include <array>
#include <sstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "inputs/checksum.hpp"
#include "kernels/sources.hpp"
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

/// Why nothing can be written there; empty when it can.
std::string unwritable(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return error.message();
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

/// Compiles in a folder of its own; gives the library and what it was made of beside mprof's own files.
std::pair<fs::path, std::vector<std::string>> compile(const fs::path& source, const Compiler& tool,
                                                      const BuildSettings& settings, const fs::path& folder,
                                                      const Clock& clock) {
  const fs::path unit = settings.frame ? folder / (tool.is_nvcc ? "variant.cu" : "variant.cpp") : source;
  const fs::path library = folder / "variant.so";
  const fs::path rule = folder / "variant.d";
  write_headers(folder);
  if (settings.frame) write_file(unit, framed(source, settings));
  std::vector<std::string> command = command_of(tool);
  command.insert(command.end(), {"-I" + folder.string(), "-MD", "-MF", rule.string(), "-o", library.string(),
                                 unit.string()});
  command.insert(command.end(), settings.flags.begin(), settings.flags.end());
  const Printed printed = run_program(command, clock, settings.limit, settings.interrupt_fd);
  if (!printed.succeeded) {
    throw Error(
        ExitCode::usage,
        fmt::format("{} could not compile {}:\n{}", tool.program.filename().string(), source.string(),
                    printed.text.empty() ? "It printed nothing: " + command_line(command) : printed.text));
  }
  std::vector<std::string> own;
  for (const std::string& file : dependencies_of(read_file(rule))) {
    const std::string path = fs::absolute(file).lexically_normal().string();
    if (!path.starts_with(folder.string() + "/")) own.push_back(path);
  }
  return {library, own};
}

}  // namespace

LibraryFolder::LibraryFolder() {
  const std::string cache = user_cache();
  path_ = fs::path(cache) / "libraries";
  temporary_because_ =
      cache.empty() ? "neither MPROF_CACHE nor XDG_CACHE_HOME nor HOME is set" : unwritable(path_);
  if (temporary_because_.empty()) return;
  if (!cache.empty()) temporary_because_ = fmt::format("{}: {}", path_.string(), temporary_because_);
  temporary_ = std::make_unique<TemporaryFolder>("mprof-libraries");
  path_ = temporary_->path();
}

BuiltLibrary build_library(const fs::path& source, const BuildSettings& settings, const LibraryFolder& folder,
                           const Clock& clock) {
  const Compiler tool = find_compiler(source, clock);
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
  settings.on_compile();
  const TemporaryFolder work("mprof-build");
  const auto [library, files] = compile(source, tool, settings, work.path(), clock);
  const std::string manifest = manifest_of(files);
  built.checksum = sha256_of_text(key + manifest);
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
