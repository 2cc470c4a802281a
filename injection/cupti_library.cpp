// SPDX-License-Identifier: MIT
#include "injection/cupti_library.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <dlfcn.h>
#include <link.h>

#include "model/trace/journal.hpp"

namespace mprof::injection {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "libcupti.so";

std::vector<std::string> loaded_objects() {
  std::vector<std::string> paths;
  const auto note = [](dl_phdr_info* info, std::size_t /*size*/, void* all) {
    if (info->dlpi_name != nullptr && *info->dlpi_name != '\0')
      static_cast<std::vector<std::string>*>(all)->emplace_back(info->dlpi_name);
    return 0;
  };
  ::dl_iterate_phdr(note, &paths);
  return paths;
}

bool is_cupti(const fs::path& path) {
  return path.filename().string().starts_with(prefix);
}

/// The files of CUPTI in a folder, the newest version first.
std::vector<fs::path> in_folder(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (is_cupti(entry->path())) found.push_back(entry->path());
  }
  const auto major = [](const fs::path& path) {
    const std::string name = path.filename().string();
    return name.size() > prefix.size() + 1 ? std::atoi(name.c_str() + prefix.size() + 1) : 0;
  };
  std::ranges::sort(found, [&](const fs::path& a, const fs::path& b) {
    return std::pair(major(a), a.string()) > std::pair(major(b), b.string());
  });
  return found;
}

/// Folders of Python's packages of NVIDIA: site-packages/nvidia/*/lib.
std::vector<fs::path> package_folders(const std::string& object) {
  std::vector<fs::path> folders;
  for (const std::string_view name : {"/site-packages/", "/dist-packages/"}) {
    const std::size_t at = object.find(name);
    if (at == std::string::npos) continue;
    std::error_code error;
    const fs::path packages = object.substr(0, at + name.size());
    for (fs::directory_iterator entry(packages / "nvidia", error), end; !error && entry != end;
         entry.increment(error))
      folders.push_back(entry->path() / "lib");
  }
  return folders;
}

/// Where a CUPTI of the same toolkit as the loaded objects may lie.
std::vector<fs::path> folders_beside(const std::vector<std::string>& objects) {
  std::vector<fs::path> folders;
  for (const std::string& object : objects) {
    const fs::path path = object;
    if (path.filename().string().starts_with("libcudart.so")) {
      folders.push_back(path.parent_path());
      folders.push_back(path.parent_path() / "../extras/CUPTI/lib64");
    }
    for (fs::path& folder : package_folders(object)) {
      if (std::ranges::count(folders, folder) == 0) folders.push_back(std::move(folder));
    }
  }
  return folders;
}

void* open(const std::string& name, int more = 0) {
  return ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | more);
}

std::string path_of(void* handle) {
  link_map* map = nullptr;
  return ::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr ? map->l_name : "";
}

void* open_beside(const std::vector<std::string>& objects) {
  for (const fs::path& folder : folders_beside(objects)) {
    for (const fs::path& file : in_folder(folder)) {
      if (void* const handle = open(file.string())) return handle;
    }
  }
  return nullptr;
}

}  // namespace

CuptiLibrary find_cupti(bool looks_beside) {
  CuptiLibrary found;
  const std::vector<std::string> objects = loaded_objects();
  for (const std::string& object : objects) {
    if (!is_cupti(object)) continue;
    if (found.handle == nullptr)
      found.handle = open(object, RTLD_NOLOAD);
    else
      found.others.push_back(object);
  }
  if (found.handle == nullptr && looks_beside) found.handle = open_beside(objects);
  const char* const told = std::getenv(journal::cupti_variable);
  if (found.handle == nullptr && told != nullptr && *told != '\0') found.handle = open(told);
  for (const char* const name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8", "libcupti.so"}) {
    if (found.handle == nullptr) found.handle = open(name);
  }
  if (found.handle != nullptr) found.path = path_of(found.handle);
  return found;
}

std::string cupti_version_text(std::uint32_t version) {
  constexpr std::uint32_t first_with_parts = 10000;
  if (version >= first_with_parts) {
    std::string text = std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100);
    return version % 100 == 0 ? text : text + "." + std::to_string(version % 100);
  }
  struct Release {
    std::uint32_t version;
    const char* text;
  };
  constexpr std::array releases{Release{13, "11.0"}, Release{14, "11.1"}, Release{15, "11.2"},
                                Release{16, "11.5"}, Release{17, "11.6"}, Release{18, "11.8"},
                                Release{19, "12.0"}, Release{20, "12.2"}, Release{21, "12.3"},
                                Release{22, "12.4"}, Release{23, "12.5"}, Release{24, "12.6"},
                                Release{26, "12.8"}, Release{27, "12.9"}, Release{28, "12.9.1"}};
  const auto* const known = std::ranges::find(releases, version, &Release::version);
  if (known != releases.end()) return known->text;
  return "API version " + std::to_string(version);
}

bool has_known_records(std::uint32_t version) {
  constexpr std::uint32_t of_11_8 = 18;
  constexpr std::uint32_t first_with_parts = 10000, known_major = 13;
  return version >= of_11_8 && (version < first_with_parts || version / first_with_parts == known_major);
}

}  // namespace mprof::injection
