// SPDX-License-Identifier: MIT
#include "kernels/sources.hpp"

#include <array>
#include <map>
#include <string>

#include "embedded/first_family.hpp"
#include "embedded/first_variants.hpp"
#include "embedded/kernel_machinery.hpp"
#include "embedded/kernel_sources.hpp"
#include "embedded/plugin_headers.hpp"
#include "inputs/checksum.hpp"

namespace mprof {
namespace {

constexpr std::string_view inclusion = "#include \"kernels/";

/// A header, and the files that may define what it declares.
std::array<std::string, 3> with_definitions(const std::string& header) {
  const std::string stem = header.substr(0, header.rfind('.'));
  return {header, stem + ".cpp", stem + ".cu"};
}

/// Adds the file and what it includes, with their texts; nothing where there is none of the name.
void collect(const std::string& file, std::map<std::string, std::string_view>& files) {
  auto text = embedded::kernel_sources(file);
  if (!text) text = embedded::kernel_machinery(file);
  if (!text || !files.emplace(file, *text).second) return;
  for (std::size_t at = text->find(inclusion); at != std::string_view::npos;
       at = text->find(inclusion, at + 1)) {
    const std::size_t begin = at + inclusion.size();
    const std::string header(text->substr(begin, text->find('"', begin) - begin));
    for (const std::string& part : with_definitions(header)) collect(part, files);
  }
}

}  // namespace

std::string source_checksum(const std::string& source_file) {
  std::map<std::string, std::string_view> files;
  collect(source_file, files);
  if (files.empty()) return "";
  std::string all;
  for (const auto& [name, text] : files) all.append(name).append("\n").append(text);
  return sha256_of_text(all);
}

std::optional<std::string_view> source_text(std::string_view path) {
  return embedded::kernel_sources(path);
}

std::vector<BuiltInFile> plugin_headers() {
  std::vector<BuiltInFile> headers;
  for (const std::string_view name : embedded::plugin_headers_names())
    headers.push_back({name, *embedded::plugin_headers(name)});
  return headers;
}

std::optional<std::string_view> first_variant(std::string_view family, std::string_view device) {
  return embedded::first_variants(std::string(family) +
                                  (device == "cuda" ? "/plugin/first.cu" : "/plugin/first.cpp"));
}

std::vector<BuiltInFile> first_family(std::string_view device) {
  std::vector<BuiltInFile> files;
  for (const std::string_view name : embedded::first_family_names()) {
    const std::size_t slash = name.find('/');
    if (slash != std::string_view::npos && name.substr(0, slash) != device) continue;
    files.push_back(
        {slash == std::string_view::npos ? name : name.substr(slash + 1), *embedded::first_family(name)});
  }
  return files;
}

}  // namespace mprof
