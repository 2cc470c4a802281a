// SPDX-License-Identifier: MIT
#include "model/name.hpp"

#include <array>
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

const std::string& known_name(std::string_view text) {
  static KnownNames& names = *new KnownNames;  // never destroyed: objects of static lifetime may hold a name
  const std::scoped_lock lock(names.mutex);
  const auto known = names.texts.find(text);
  return known != names.texts.end() ? *known : *names.texts.emplace(text).first;
}

/// Names that the thread made lately, each in the place that its hash says: threads that read many rows would
/// wait for each other.
constexpr std::size_t names_of_thread = 256;
thread_local std::array<const std::string*, names_of_thread> lately{};

}  // namespace

const std::string Name::none;

Name::Name(std::string_view text) : text_(&none) {
  if (text.empty()) return;
  const std::string*& place = lately[NameHash()(text) % names_of_thread];
  if (place == nullptr || *place != text) place = &known_name(text);
  text_ = place;
}

}  // namespace mprof
