// SPDX-License-Identifier: MIT
#include "kernels/registry.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "system/error.hpp"

namespace mprof {
namespace {

constexpr std::string_view root = "kernels/";

/// Two files with one id, or a family registered twice: a mistake in the build, not of the user.
[[noreturn]] void fail_twice(std::string_view what, std::string_view id) {
  throw Error(ExitCode::fault, fmt::format("two {} register themselves as {}; rename one of them", what, id));
}

/// Appends `id` after the chain of baselines below it. A baseline that is not linked in, or a circle of them,
/// ends the chain: the order is still total.
void append_after_baselines(const std::string& id,
                            const std::map<std::string, const RegisteredVariant*>& by_id,
                            std::set<std::string>& seen, std::vector<const RegisteredVariant*>& order) {
  const auto found = by_id.find(id);
  if (found == by_id.end() || !seen.insert(id).second) return;
  append_after_baselines(found->second->info.baseline, by_id, seen, order);
  order.push_back(found->second);
}

}  // namespace

Registry& Registry::instance() {
  static Registry registry;
  return registry;
}

void Registry::add(std::unique_ptr<Family> family) {
  if (this->family(family->info().id) != nullptr) fail_twice("families", family->info().id);
  families_.push_back(std::move(family));
}

void Registry::add(RegisteredVariant variant) {
  if (this->variant(variant.info.id) != nullptr) fail_twice("variants", variant.info.id);
  variants_.push_back(std::make_unique<RegisteredVariant>(std::move(variant)));
}

void Registry::remove(std::string_view variant) {
  std::erase_if(variants_, [&](const auto& registered) { return registered->info.id == variant; });
}

void Registry::remove_family(std::string_view id) {
  std::erase_if(families_, [&](const auto& family) { return family->info().id == id; });
}

const Family* Registry::family(std::string_view id) const {
  const auto found =
      std::ranges::find_if(families_, [&](const auto& family) { return family->info().id == id; });
  return found == families_.end() ? nullptr : found->get();
}

const RegisteredVariant* Registry::variant(std::string_view id) const {
  const auto found =
      std::ranges::find_if(variants_, [&](const auto& variant) { return variant->info.id == id; });
  return found == variants_.end() ? nullptr : found->get();
}

Environment Registry::library_versions(const std::vector<std::string>& variants) const {
  const auto is_asked = [&](const std::string& id) {
    if (id.empty()) return true;
    const RegisteredVariant* const found = variant(id);
    return std::ranges::find(variants, id) != variants.end() && found != nullptr && !found->unavailable();
  };
  Environment environment;
  for (const auto& [fact, id] : libraries_) {
    if (is_asked(id)) environment["libraries"][fact.name] = fact.value();
  }
  return environment;
}

std::vector<const RegisteredVariant*> Registry::variants() const {
  // Static initialization registers in an order that the linker chose; the map makes it the ids' order.
  std::map<std::string, const RegisteredVariant*> by_id;
  for (const auto& variant : variants_) by_id.emplace(variant->info.id, variant.get());
  std::vector<const RegisteredVariant*> order;
  std::set<std::string> seen;
  for (const auto& [id, variant] : by_id) append_after_baselines(id, by_id, seen, order);
  return order;
}

std::vector<const Family*> Registry::families() const {
  std::vector<const Family*> result;
  for (const auto& family : families_) result.push_back(family.get());
  std::ranges::sort(result, {}, [](const Family* family) { return std::string_view(family->info().id); });
  return result;
}

void Registry::export_environment() const {
  constexpr int keep = 0;
  for (const auto& variables : environments_) {
    for (const auto& [name, value] : variables()) ::setenv(name.c_str(), value.c_str(), keep);
  }
}

std::string source_file_of(std::string_view file) {
  // The last "kernels/" that is a whole path component: a checkout may itself lie below a folder of that
  // name.
  std::size_t at = file.rfind(root);
  while (at != std::string_view::npos && at != 0 && file[at - 1] != '/') at = file.rfind(root, at - 1);
  if (at != std::string_view::npos) file.remove_prefix(at + root.size());
  return std::string(file);
}

std::string variant_id_of(std::string_view file) {
  std::string id = source_file_of(file);
  const std::size_t dot = id.rfind('.');
  if (dot != std::string::npos && id.find('/', dot) == std::string::npos) id.erase(dot);
  return id;
}

}  // namespace mprof
