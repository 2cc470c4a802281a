// SPDX-License-Identifier: MIT
#include "cli/example_names.hpp"

#include <algorithm>

#include <boost/algorithm/string/replace.hpp>

namespace mprof::cli {

void name_examples(std::vector<Verb>& verbs, const Registry& registry) {
  const std::vector<const RegisteredVariant*> variants = registry.variants();
  const auto is_in_every_build = [](const RegisteredVariant* variant) {
    return variant->info.device == "cpu" && variant->info.library.empty() && !variant->info.baseline.empty();
  };
  const auto found = std::ranges::find_if(variants, is_in_every_build);
  if (found == variants.end()) return;
  const VariantInfo& variant = (*found)->info;
  for (Verb& verb : verbs) {
    for (Example& example : verb.examples) {
      boost::replace_all(example.command, "{family}", variant.family);
      boost::replace_all(example.command, "{baseline}", variant.baseline);
      boost::replace_all(example.command, "{variant}", variant.id);
    }
  }
}

}  // namespace mprof::cli
