// SPDX-License-Identifier: MIT
#include "report/analysis/judgement/pairing.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "system/error.hpp"
#include "system/suggest.hpp"

namespace mprof {
namespace {

/// The id of a case without its problem.
std::string point_of(const Case& c) {
  return c.id.substr(0, c.id.rfind('@'));
}

std::vector<std::string> points_of(const Run& run) {
  std::set<std::string> points;
  for (const Case& c : run.cases) points.insert(point_of(c));
  return {points.begin(), points.end()};
}

[[noreturn]] void refuse_point(std::string_view option, const std::string& text, const Run& run) {
  throw Error(ExitCode::usage, fmt::format("--{} {}: the run has no case of that.{} `mprof compare` takes a "
                                           "variant or a point of its parameters, as the ids of its cases "
                                           "name them before the @.",
                                           option, text, did_you_mean(text, points_of(run))));
}

/// The parameters at their defaults, but for those that are given.
Parameters with_defaults(const Run& run, const std::string& variant, const Parameters& given) {
  Parameters all = given;
  if (const VariantInfo* info = find_variant(run, variant)) {
    for (const ParameterInfo& parameter : info->parameters)
      all.emplace(parameter.name, parameter.default_value);
  }
  return all;
}

VariantPoint point_in(std::string_view option, const std::string& text, const Run& run) {
  std::optional<VariantPoint> point = parse_variant_point(text);
  if (!point) refuse_point(option, text, run);
  point->parameters = with_defaults(run, point->variant, point->parameters);
  const bool known = std::ranges::any_of(run.cases, [&](const Case& c) {
    return c.key.variant == point->variant && c.key.parameters == point->parameters;
  });
  if (!known) refuse_point(option, text, run);
  return *point;
}

void require_variant(const std::string& id, const Run& run, std::string_view side,
                     const std::string& option) {
  std::vector<std::string> known;
  for (const Case& c : run.cases) known.push_back(c.key.variant);
  if (std::ranges::find(known, id) != known.end()) return;
  std::ranges::sort(known);
  known.erase(std::unique(known.begin(), known.end()), known.end());
  throw Error(ExitCode::usage, fmt::format("--map {}: {} has no case of a variant {}.{}", option, side, id,
                                           did_you_mean(id, known)));
}

void require_known(const Run& a, const Run& b, const Pairing& pairing) {
  for (const auto& [before, after] : pairing.renamed) {
    const std::string option = before + "=" + after;
    require_variant(before, a, "A", option);
    require_variant(after, b, "B", option);
  }
}

/// What B calls the case of this key.
CaseKey key_in_b(const CaseKey& key, const Run& b, const Pairing& pairing) {
  const auto renamed = pairing.renamed.find(key.variant);
  if (renamed == pairing.renamed.end()) return key;
  CaseKey other = key;
  other.variant = renamed->second;
  if (const VariantInfo* info = find_variant(b, other.variant)) {
    std::erase_if(other.parameters, [&](const auto& parameter) {
      return std::ranges::find(info->parameters, parameter.first, &ParameterInfo::name) ==
             info->parameters.end();
    });
  }
  other.parameters = with_defaults(b, other.variant, other.parameters);
  return other;
}

[[noreturn]] void refuse_taken_twice(const Case& in_b, const Pairing& pairing) {
  std::vector<std::string> before;
  for (const auto& [a, b] : pairing.renamed) {
    if (b == in_b.key.variant) before.push_back(a + "=" + b);
  }
  throw Error(
      ExitCode::usage,
      fmt::format("--map {}: two variants of A would be compared with {} of B. Leave out the one that "
                  "is there by its own name, with --variant in the run or --of and --with here.",
                  fmt::join(before, ", "), in_b.id));
}

bool is_at(const Case& c, const std::optional<VariantPoint>& point) {
  return !point || (c.key.variant == point->variant && c.key.parameters == point->parameters);
}

}  // namespace

PairedCases pair_cases(const Run& a, const Run& b, const Pairing& pairing) {
  require_known(a, b, pairing);
  std::optional<VariantPoint> of, with;
  if (!pairing.of.empty()) of = point_in("of", pairing.of, a);
  if (!pairing.with.empty()) with = point_in("with", pairing.with, b);
  std::map<CaseKey, const Case*> in_b;
  std::map<std::string_view, const Case*> by_id;
  for (const Case& c : b.cases) {
    if (is_at(c, with)) in_b.emplace(c.key, &c);
    // Ids name only parameters that are not at their defaults: of two cases of one id a default is another
    // one.
    if (!with) by_id.emplace(c.id, &c);
  }
  PairedCases paired;
  std::set<const Case*> taken;
  std::map<const Case*, const Case*> by_key;
  for (const Case& c : a.cases) {
    if (!is_at(c, of)) continue;
    const CaseKey key =
        with ? CaseKey{with->variant, with->parameters, c.key.problem} : key_in_b(c.key, b, pairing);
    const auto other = in_b.find(key);
    if (other == in_b.end()) continue;
    by_key.emplace(&c, other->second);
    if (!taken.insert(other->second).second) refuse_taken_twice(*other->second, pairing);
  }
  for (const Case& c : a.cases) {
    if (!is_at(c, of)) continue;
    if (const auto same = by_key.find(&c); same != by_key.end()) {
      paired.pairs.push_back({&c, same->second});
    } else if (const auto called = by_id.find(c.id);
               called != by_id.end() && taken.insert(called->second).second) {
      paired.pairs.push_back({&c, called->second, true});
    } else {
      paired.only_in_a.push_back(&c);
    }
  }
  for (const Case& c : b.cases) {
    if (is_at(c, with) && !taken.contains(&c)) paired.only_in_b.push_back(&c);
  }
  return paired;
}

}  // namespace mprof
