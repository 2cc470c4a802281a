#include "cli/data_location.hpp"

#include <algorithm>
#include <cstdlib>
#include <system_error>

namespace mprof::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* images_file = "t10k-images-idx3-ubyte.gz";
constexpr const char* weights_file = "lenet.safetensors";

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The first of `places` in which `file` exists, else the first of them.
fs::path first_with(const std::vector<fs::path>& places, const char* file) {
  const auto found = std::find_if(places.begin(), places.end(), [&](const fs::path& place) {
    std::error_code error;
    return fs::exists(place / file, error);
  });
  return found == places.end() ? places.front() : *found;
}

fs::path locate_images(const std::string& option) {
  if (!option.empty()) return option;
  if (const std::string named = environment("MPROF_DATA"); !named.empty()) return named;
  return first_with({"/usr/share/datasets/fashion-mnist", program_directory() / "../share/mprof"},
                    images_file)
      .lexically_normal();
}

fs::path locate_weights(const std::string& option, const std::string& data_option) {
  if (!option.empty()) return option;
  if (const std::string named = environment("MPROF_WEIGHTS"); !named.empty()) return named;
  std::error_code error;
  if (!data_option.empty() && fs::exists(fs::path(data_option) / weights_file, error)) {
    return fs::path(data_option) / weights_file;
  }
  const fs::path here = program_directory();
  const std::vector<fs::path> places{here / "../share/mprof",  // a bundle: bin/mprof
                                     here / "../../data"};     // a build: build/<preset>/mprof
  return (first_with(places, weights_file) / weights_file).lexically_normal();
}

}  // namespace

fs::path program_directory() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

DataPaths locate_data(const std::string& data_option, const std::string& weights_option) {
  return {locate_images(data_option), locate_weights(weights_option, data_option)};
}

}  // namespace mprof::cli
