// SPDX-License-Identifier: MIT
#include "runner/source/parts.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <regex>
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

bool defines(const std::string& text, const std::string& name) {
  const std::regex definition("\\b" + name + R"(\s*\([^;{}()]*\)\s*(const\s*|noexcept\s*)?\{)");
  return std::regex_search(text, definition);
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
  static const std::regex undefined(R"(undefined (?:symbol: |reference to [`'"]?)([^\s'"`]+(?:\([^)]*\))?))",
                                    std::regex::icase);
  std::match_results<std::string_view::const_iterator> found;
  if (!std::regex_search(message.begin(), message.end(), found, undefined)) return std::nullopt;
  return demangled(found[1].str());
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
    try {
      const std::string text = read_file(entry.path());
      if (defines(text, name) && !is_variant(text, registry)) found.push_back(entry.path());
    } catch (const Error&) {  // a file that cannot be read defines nothing here
    }
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
  return fmt::format(
      "No source beside it defines {0}. Name the file that does, as in --source '{1}+FILE', or the library, "
      "as in --compiler-flags '-L FOLDER -lNAME'.",
      symbol, main);
}

std::string advice_on_compiler(std::string_view message) {
  const std::string text(message);
  std::smatch found;
  static const std::regex too_new(R"(gcc versions later than ([0-9]+))");
  static const std::regex no_architecture(
      R"(Unsupported gpu architecture '(\w+)'|Value '(\w+)' is not defined for option 'gpu-architecture')");
  static const std::regex no_header(R"(fatal error: ([^\s:]+): No such file)");
  if (std::regex_search(text, found, too_new)) {
    return fmt::format(
        "This nvcc takes g++ up to version {0}: install g++-{0} and add --compiler-flags '-ccbin g++-{0}', "
        "or use a newer CUDA toolkit.",
        found[1].str());
  }
  if (std::regex_search(text, found, no_architecture)) {
    return fmt::format(
        "This nvcc does not know the architecture {}: a newer CUDA toolkit has dropped it, or this one is "
        "too "
        "old for it. Set CUDA_HOME to a toolkit that has it (`nvcc --list-gpu-arch`).",
        found[1].matched ? found[1].str() : found[2].str());
  }
  if (std::regex_search(text, found, no_header)) {
    return fmt::format("{} is not beside the source: say where it is, with --compiler-flags '-I FOLDER'.",
                       found[1].str());
  }
  return {};
}

}  // namespace mprof
