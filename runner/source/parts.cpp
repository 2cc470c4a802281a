// SPDX-License-Identifier: MIT
#include "runner/source/parts.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <cxxabi.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/source/compiler.hpp"
#include "system/error.hpp"
#include "system/files.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

/// Whose functions begin so, and what links them. Of two that fit the longer one comes first.
constexpr std::array<std::pair<std::string_view, std::string_view>, 16> libraries{{
    {"cublasLt", "-lcublasLt"},
    {"cublas", "-lcublas"},
    {"cudnn", "-lcudnn"},
    {"cufft", "-lcufft"},
    {"curand", "-lcurand"},
    {"cusparse", "-lcusparse"},
    {"cusolver", "-lcusolver"},
    {"cutensor", "-lcutensor"},
    {"nvrtc", "-lnvrtc"},
    {"nvml", "-lnvidia-ml"},
    {"nccl", "-lnccl"},
    {"cblas_", "-lopenblas"},
    {"dnnl", "-ldnnl"},
    {"omp_", "-fopenmp"},
    {"GOMP_", "-fopenmp"},
    {"GOACC_", "-fopenacc"},
}};

/// A function of CUDA's driver: cuLaunchKernel().
bool is_of_driver(std::string_view name) {
  return name.size() > 2 && name.starts_with("cu") && std::isupper(static_cast<unsigned char>(name[2])) != 0;
}

std::string demangled(const std::string& symbol) {
  int status = 0;
  char* const plain = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string text = plain == nullptr ? symbol : plain;
  std::free(plain);
  return text;
}

/// "multiply" of "tools::multiply(float*, int)".
std::string name_of(const std::string& symbol) {
  const std::string before = symbol.substr(0, symbol.find_first_of("(<"));
  const std::size_t end = before.find_last_not_of(' ');
  const std::size_t begin = before.find_last_of(": ", end);
  return before.substr(begin == std::string::npos ? 0 : begin + 1);
}

// Texts are searched by hand: std::regex calls itself for each character, and files and messages may be long.

constexpr std::string_view blanks = " \t\r\n\v\f";

std::string_view behind_blanks(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(blanks), text.size()));
}

bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Whether this stands behind a function's name where the function is defined: arguments and a body.
bool begins_definition(std::string_view text) {
  text = behind_blanks(text);
  const std::size_t end = text.starts_with('(') ? text.find_first_of(";{}()", 1) : std::string_view::npos;
  if (end == std::string_view::npos || text[end] != ')') return false;
  text = behind_blanks(text.substr(end + 1));
  for (const std::string_view word : {"const", "noexcept"}) {
    if (text.starts_with(word)) text = behind_blanks(text.substr(word.size()));
  }
  return text.starts_with('{');
}

bool defines(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    if ((at == 0 || !is_of_word(text[at - 1])) && begins_definition(text.substr(at + name.size())))
      return true;
  }
  return false;
}

/// Nothing, where the file cannot be read.
std::string text_of(const fs::path& file) {
  try {
    return read_file(file);
  } catch (const Error&) {
    return {};
  }
}

/// The word between two texts; empty where there is none. `after` is none of the word's characters.
std::string word_between(std::string_view text, std::string_view before, std::string_view after) {
  for (std::size_t at = text.find(before); at != std::string_view::npos; at = text.find(before, at + 1)) {
    const std::string_view rest = text.substr(at + before.size());
    const std::string_view word =
        rest.substr(0, rest.find_first_of(std::string(blanks) + std::string(after.substr(0, 1))));
    if (!word.empty() && rest.substr(word.size()).starts_with(after)) return std::string(word);
  }
  return {};
}

bool is_variant(const std::string& text, const Registry& registry) {
  if (text.find("MPROF_") != std::string::npos || defines(text, "main")) return true;
  return std::ranges::any_of(registry.families(),
                             [&](const Family* family) { return family->frame_of(text).has_value(); });
}

}  // namespace

std::vector<fs::path> parts_of(const fs::path& source) {
  std::error_code error;
  std::vector<fs::path> parts;
  std::string left = source.string();
  if (fs::exists(source, error)) return {source};
  for (std::size_t plus = left.find('+'); plus != std::string::npos; plus = left.find('+', plus + 1)) {
    if (!is_source_name(left.substr(0, plus))) continue;
    parts.emplace_back(left.substr(0, plus));
    left.erase(0, plus + 1);
    plus = 0;
  }
  parts.emplace_back(left);
  return parts;
}

fs::path joined(const std::vector<fs::path>& parts) {
  std::vector<std::string> names;
  for (const fs::path& part : parts) names.push_back(part.string());
  return fmt::format("{}", fmt::join(names, "+"));
}

std::optional<std::string> undefined_symbol(std::string_view message) {
  const std::string quotes = "`'\"";
  for (std::size_t at = message.find("ndefined "); at != std::string_view::npos;
       at = message.find("ndefined ", at + 1)) {
    std::string_view rest = message.substr(at + std::string_view("ndefined ").size());
    const auto skips = [&](std::string_view word) {
      const bool is_there = rest.starts_with(word);
      if (is_there) rest.remove_prefix(word.size());
      return is_there;
    };
    if (!skips("symbol: ") && !skips("reference to ")) continue;
    const bool is_quoted = !rest.empty() && quotes.find(rest.front()) != std::string::npos;
    if (is_quoted) rest.remove_prefix(1);
    const auto up_to = [&](const std::string& ends) { return rest.substr(0, rest.find_first_of(ends)); };
    std::string_view symbol = up_to(is_quoted ? quotes + "\n" : quotes + std::string(blanks));
    // Arguments have blanks: "multiply(float, float)".
    if (symbol.find('(') != std::string_view::npos && symbol.find(')') == std::string_view::npos)
      symbol =
          rest.substr(0, up_to(")\n").size() + (up_to("\n").find(')') != std::string_view::npos ? 1 : 0));
    if (!symbol.empty()) return demangled(std::string(symbol));
  }
  return std::nullopt;
}

std::vector<fs::path> definers(const std::string& symbol, const std::vector<fs::path>& parts,
                               const Registry& registry) {
  std::vector<fs::path> found;
  const std::string name = name_of(symbol);
  const bool is_name = !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_';
  });
  if (!is_name) return found;
  fs::path folder = parts.front().parent_path();
  if (folder.empty()) folder = ".";
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (!entry.is_regular_file(error) || !is_source_name(entry.path())) continue;
    const bool is_part = std::ranges::any_of(
        parts, [&](const fs::path& part) { return fs::equivalent(part, entry.path(), error); });
    if (is_part) continue;
    const std::string text = text_of(entry.path());
    if (defines(text, name) && !is_variant(text, registry)) found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

std::string advice_on_symbol(const std::string& symbol, const std::vector<fs::path>& parts,
                             const std::vector<fs::path>& definers) {
  const auto library =
      std::ranges::find_if(libraries, [&](const auto& one) { return symbol.starts_with(one.first); });
  if (library != libraries.end() || is_of_driver(symbol)) {
    std::string option(library != libraries.end() ? library->second : "-lcuda");
    const bool is_gpu = parts.front().extension() == ".cu";
    if (is_gpu && option.starts_with("-fopen")) option = fmt::format("-Xcompiler={} -lgomp", option);
    return fmt::format("{} is a library's: add --compiler-flags '{}'.", symbol, option);
  }
  const std::string main = parts.front().string();
  if (definers.size() > 1) {
    std::vector<std::string> names;
    for (const fs::path& file : definers) names.push_back(file.filename().string());
    return fmt::format("Several files define {}: {}. Name one of them, as in --source '{}+{}'.", symbol,
                       fmt::join(names, ", "), main, names.front());
  }
  const std::string name = name_of(symbol);
  const auto other =
      std::ranges::find_if(parts, [&](const fs::path& part) { return defines(text_of(part), name); });
  if (symbol.find('(') != std::string::npos && !name.empty() && other != parts.end()) {
    return fmt::format("{} defines {}, but not as {}: its arguments or its namespace differ.",
                       other->filename().string(), name, symbol);
  }
  return fmt::format(
      "No source beside it defines {0}. Name the file that does, as in --source '{1}+FILE', or the library, "
      "as in --compiler-flags '-L FOLDER -lNAME'.",
      symbol, main);
}

std::string advice_on_compiler(std::string_view message) {
  if (const std::string newest = word_between(message, "gcc versions later than ", " "); !newest.empty()) {
    return fmt::format(
        "This nvcc takes g++ up to version {0}: install g++-{0} and add --compiler-flags '-ccbin g++-{0}', "
        "or use a newer CUDA toolkit.",
        newest);
  }
  std::string architecture = word_between(message, "Unsupported gpu architecture '", "'");
  if (architecture.empty())
    architecture = word_between(message, "Value '", "' is not defined for option 'gpu-architecture'");
  if (!architecture.empty()) {
    return fmt::format(
        "This nvcc does not know the architecture {}: a newer CUDA toolkit has dropped it, or this one is "
        "too old for it. Set CUDA_HOME to a toolkit that has it (`nvcc --list-gpu-arch`).",
        architecture);
  }
  if (const std::string header = word_between(message, "fatal error: ", ": No such file"); !header.empty()) {
    return fmt::format("{} is not beside the source: say where it is, with --compiler-flags '-I FOLDER'.",
                       header);
  }
  return {};
}

}  // namespace mprof
