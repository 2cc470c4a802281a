#include "kernels/sources.hpp"

#include <string>

#include "embedded/first_family.hpp"
#include "embedded/first_variants.hpp"
#include "embedded/kernel_sources.hpp"
#include "embedded/plugin_headers.hpp"

namespace mprof {

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
