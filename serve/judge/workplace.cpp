// SPDX-License-Identifier: MIT
#include "serve/judge/workplace.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "runner/source/compiler.hpp"
#include "runner/source/family_folder.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "system/programs.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t largest_copied = std::uintmax_t{4} << 20;  // B
constexpr std::uintmax_t largest_library = std::uintmax_t{256} << 20;
constexpr std::size_t most_others = 64;
constexpr std::array<std::string_view, 6> header_endings{".h", ".hpp", ".hh", ".cuh", ".inl", ".hxx"};

bool is_small_file(const fs::path& file) {
  std::error_code error;
  return !fs::is_symlink(file, error) && fs::is_regular_file(file, error) &&
         fs::file_size(file, error) <= largest_copied;
}

bool is_header(const fs::path& file) {
  return std::ranges::count(header_endings, file.extension().string()) > 0;
}

/// The headers; where the folder is a family, its other sources too.
void copy_what_is_beside(const fs::path& file, const fs::path& to) {
  std::error_code error;
  std::size_t copied = 0;
  const fs::path folder = fs::absolute(file).parent_path();
  const bool is_family = family_file(folder).has_value();
  for (fs::directory_iterator entry(folder, error), end; entry != end && !error; entry.increment(error)) {
    const fs::path& other = entry->path();
    const fs::path copy = to / other.filename();
    const bool is_wanted = is_header(other) || (is_family && is_source_name(other));
    if (!is_wanted || !is_small_file(other) || fs::equivalent(other, file, error) ||
        fs::exists(copy, error) || ++copied > most_others)
      continue;
    write_file(copy, read_file(other, largest_copied));
  }
}

void erase_all(std::string& text, const std::string& part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at))
    text.erase(at, part.size());
}

/// What a worker of this program consists of. A bundle has the libraries of others in lib, beside mprof's own
/// folder; what else lies there is none of a file's business.
std::vector<fs::path> parts_of_mprof() {
  std::vector<fs::path> parts{own_program()};
  const fs::path beside = program_directory();
  std::error_code error;
  for (const fs::path& folder : {beside / "lib", beside.parent_path() / "lib"}) {
    if (!fs::is_directory(folder / "mprof", error)) continue;
    parts.push_back(folder / "mprof");
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
      const bool is_library = entry.path().filename().string().find(".so") != std::string::npos;
      if (is_library && !entry.is_directory(error)) parts.push_back(entry.path());
    }
  }
  return parts;
}

}  // namespace

std::vector<fs::path> headers_beside(const fs::path& file) {
  std::vector<fs::path> headers;
  std::error_code error;
  const fs::path folder = fs::absolute(file).parent_path();
  for (fs::directory_iterator entry(folder, error), end; entry != end && !error; entry.increment(error)) {
    if (is_header(entry->path()) && is_small_file(entry->path())) headers.push_back(entry->path());
  }
  std::ranges::sort(headers);
  if (headers.size() > most_others) headers.resize(most_others);
  return headers;
}

Workplace::Workplace(const fs::path& file, const std::string& copied_as, Beside beside,
                     const Sandbox* sandbox)
    : file_(folder_.path() / "source" / copied_as), sandbox_(sandbox) {
  const bool is_library = file.extension() == ".so";
  write_file(file_, read_file(file, is_library ? largest_library : largest_copied));
  if (beside == Beside::headers) copy_what_is_beside(file, file_.parent_path());
  fs::create_directories(libraries());
}

std::vector<std::string> Workplace::for_compiler(const fs::path& work) const {
  if (sandbox_ == nullptr) return {};
  return sandbox_->command({.readable = {file_.parent_path()}, .writable = {work}});
}

std::vector<std::string> Workplace::for_worker(const std::vector<fs::path>& inputs, bool loads_file,
                                               const fs::path& work) const {
  if (sandbox_ == nullptr) return {};
  SandboxView view{.readable = parts_of_mprof()};
  view.readable.insert(view.readable.end(), inputs.begin(), inputs.end());
  if (loads_file) {
    view.readable.push_back(libraries());
    view.readable.push_back(file_.parent_path());  // a library is loaded from where it lies
  }
  if (!work.empty()) view.writable.push_back(work);
  return sandbox_->command(view);
}

std::string Workplace::without_paths(std::string text) const {
  for (const fs::path& folder : {file_.parent_path(), libraries(), folder_.path()})
    erase_all(text, folder.string() + "/");
  return text;
}

}  // namespace mprof
