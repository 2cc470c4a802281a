// SPDX-License-Identifier: MIT
#include "serve/judge/against.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "runner/source/family_folder.hpp"
#include "system/error.hpp"
#include "system/suggest.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

/// Names of variants of the user's own family.
std::vector<std::string> names_beside(const fs::path& file) {
  std::vector<std::string> names;
  if (file.empty()) return names;
  const fs::path folder = fs::absolute(file).parent_path();
  if (!family_file(folder)) return names;
  for (const fs::path& variant : read_family_folder(folder).variants) names.push_back(variant_name(variant));
  return names;
}

/// Variants of all families that this is the id of, or its end.
std::vector<std::string> ids_of(const std::string& against, const Registry& registry) {
  std::vector<std::string> ids;
  for (const RegisteredVariant* variant : registry.variants()) {
    const std::string& id = variant->info.id;
    if (id == against || id.ends_with("/" + against)) ids.push_back(id);
  }
  return ids;
}

}  // namespace

void require_one_against(const std::string& against, const Registry& registry) {
  require_against(against, {}, registry);
  if (const std::vector<std::string> ids = ids_of(against, registry); ids.size() > 1)
    throw Error(
        ExitCode::usage,
        fmt::format("--against {}: {} have this name, and each hand-in would choose one of them. Give "
                    "the whole id.",
                    against, fmt::join(ids, " and ")));
}

void require_against(const std::string& against, const fs::path& file, const Registry& registry) {
  if (against.empty() || registry.variant(against) != nullptr) return;
  const std::string name = against.substr(against.rfind('/') + 1);
  if (std::ranges::count(names_beside(file), name) > 0) return;
  std::vector<std::string> known;
  for (const RegisteredVariant* variant : registry.variants()) known.push_back(variant->info.id);
  const bool is_name = against.find('/') == std::string::npos;
  const auto ends_so = [&](const std::string& id) { return id.ends_with("/" + against); };
  if (is_name && std::ranges::any_of(known, ends_so)) return;
  if (is_name)
    for (std::string& id : known) id.erase(0, id.find('/') + 1);
  throw Error(ExitCode::usage,
              fmt::format("--against {}: there is no such variant.{} `mprof list` shows them all.", against,
                          did_you_mean(against, known)));
}

}  // namespace mprof
