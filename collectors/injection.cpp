// SPDX-License-Identifier: MIT
#include "collectors/injection.hpp"

#include <algorithm>

#include "system/programs.hpp"

namespace mprof {

namespace fs = std::filesystem;

InjectionKinds& InjectionKinds::instance() {
  static InjectionKinds kinds;
  return kinds;
}

const InjectionKind* InjectionKinds::of(Pass pass) const {
  const auto found = std::ranges::find(kinds_, pass, &InjectionKind::pass);
  return found == kinds_.end() ? nullptr : &*found;
}

std::optional<fs::path> find_injection(const std::string& library) {
  const fs::path beside = program_directory();
  for (const fs::path& folder : {beside / "injection", beside.parent_path() / "lib" / "mprof"}) {
    std::error_code error;
    if (fs::exists(folder / library, error)) return folder / library;
  }
  return std::nullopt;
}

}  // namespace mprof
