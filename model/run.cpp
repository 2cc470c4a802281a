// SPDX-License-Identifier: MIT
#include "model/run.hpp"

#include <algorithm>

namespace mprof {

std::string case_id(const CaseKey& key, const VariantInfo& variant) {
  std::string points;
  for (const ParameterInfo& parameter : variant.parameters) {
    const auto set = key.parameters.find(parameter.name);
    if (set == key.parameters.end() || set->second == parameter.default_value) continue;
    points += (points.empty() ? "" : ",") + parameter.name + "=" + set->second;
  }
  if (!points.empty()) points = "[" + points + "]";
  const std::string problem = problem_id(key.problem);
  return key.variant + points + (problem.empty() ? "" : "@" + problem);
}

std::optional<VariantPoint> parse_variant_point(std::string_view text) {
  const std::size_t bracket = std::min(text.find('['), text.size());
  VariantPoint point{std::string(text.substr(0, bracket)), {}};
  text.remove_prefix(bracket);
  if (text.empty()) return point;
  if (!text.ends_with(']')) return std::nullopt;
  text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find(','));
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos || equals == 0) return std::nullopt;
    point.parameters.emplace(pair.substr(0, equals), pair.substr(equals + 1));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
  }
  return point;
}

std::string family_of(std::string_view variant) {
  return std::string(variant.substr(0, variant.find('/')));
}

const Fact* find_fact(const Environment& environment, const std::string& group, const std::string& name) {
  const auto facts = environment.find(group);
  if (facts == environment.end()) return nullptr;
  const auto fact = facts->second.find(name);
  return fact == facts->second.end() ? nullptr : &fact->second;
}

const VariantInfo* find_variant(const Run& run, std::string_view id) {
  const auto found = std::find_if(run.variants.begin(), run.variants.end(),
                                  [&](const VariantInfo& variant) { return variant.id == id; });
  return found == run.variants.end() ? nullptr : &*found;
}

const FamilyInfo* find_family(const Run& run, std::string_view id) {
  const auto found = std::ranges::find(run.families, id, &FamilyInfo::id);
  return found == run.families.end() ? nullptr : &*found;
}

const Case* find_case(const Run& run, const CaseKey& key) {
  const auto found =
      std::find_if(run.cases.begin(), run.cases.end(), [&](const Case& c) { return c.key == key; });
  return found == run.cases.end() ? nullptr : &*found;
}

const PassResult* find_pass(const Case& c, Pass pass) {
  const auto found = std::find_if(c.passes.begin(), c.passes.end(),
                                  [&](const PassResult& result) { return result.pass == pass; });
  return found == c.passes.end() ? nullptr : &*found;
}

Choices choices_of(const Case& c) {
  Choices all;
  for (const PassResult& pass : c.passes) all.insert(pass.choices.begin(), pass.choices.end());
  return all;
}

const Measurement* find_measurement(const Case& c, std::string_view metric, std::string_view op) {
  const Name wanted(metric), of(op);  // names are compared at once, texts letter by letter
  for (const PassResult& pass : c.passes) {
    for (const Measurement& m : pass.measurements) {
      if (m.metric == wanted && m.op == of && m.kernel.empty()) return &m;
    }
  }
  return nullptr;
}

namespace {

/// The pass that speaks for the case.
const PassResult* deciding_pass(const Case& c) {
  if (const PassResult* timing = find_pass(c, Pass::timing)) {
    const auto suspect = std::ranges::find(c.passes, Status::suspect, &PassResult::status);
    return timing->status == Status::ok && suspect != c.passes.end() ? &*suspect : timing;
  }
  const PassResult* worst = nullptr;
  for (const PassResult& pass : c.passes) {
    // Skipped says least: a pass that this machine cannot run tells nothing of the case when another one ran.
    const bool says_more = worst == nullptr || worst->status == Status::skipped ||
                           (worst->status == Status::ok && pass.status != Status::skipped);
    if (says_more) worst = &pass;
  }
  return worst;
}

}  // namespace

Status case_status(const Case& c) {
  const PassResult* pass = deciding_pass(c);
  return pass == nullptr ? Status::pending : pass->status;
}

std::string case_reason(const Case& c) {
  const PassResult* pass = deciding_pass(c);
  return pass == nullptr ? "not run yet" : pass->reason;
}

}  // namespace mprof
