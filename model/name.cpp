// SPDX-License-Identifier: MIT
#include "model/name.hpp"

#include <mutex>
#include <unordered_set>

namespace mprof {
namespace {

struct NameHash : std::hash<std::string_view> {
  using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard library's name
};

struct KnownNames {
  std::mutex mutex;
  std::unordered_set<std::string, NameHash, std::equal_to<>> texts;
};

}  // namespace

const std::string Name::none;

Name::Name(std::string_view text) : text_(&none) {
  if (text.empty()) return;
  static KnownNames& names = *new KnownNames;  // never destroyed: objects of static lifetime may hold a name
  const std::scoped_lock lock(names.mutex);
  const auto known = names.texts.find(text);
  text_ = known != names.texts.end() ? &*known : &*names.texts.emplace(text).first;
}

}  // namespace mprof
