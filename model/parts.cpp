#include "model/parts.hpp"

#include <set>
#include <variant>

#include "model/facts.hpp"

namespace mprof {
namespace {

std::string gpu_in(const Environment& environment) {
  const Fact* const name = find_fact(environment, fact::gpu_name.group, fact::gpu_name.name);
  const bool is_known = name != nullptr && std::holds_alternative<std::string>(*name);
  return is_known ? std::get<std::string>(*name) : std::string();
}

}  // namespace

PartIndex::PartIndex(const Run& run) : run_(run) {
  for (const RunPart& part : run.parts) {
    for (const std::string& id : part.cases) parts_.emplace(id, &part);
  }
}

const RunPart* PartIndex::part_of(std::string_view case_id) const {
  const auto found = parts_.find(case_id);
  return found == parts_.end() ? nullptr : found->second;
}

std::span<const Ceiling> PartIndex::ceilings(std::string_view case_id) const {
  const RunPart* const part = part_of(case_id);
  return part == nullptr || part->ceilings.empty() ? run_.ceilings : part->ceilings;
}

std::string PartIndex::gpu_model(std::string_view case_id) const {
  const RunPart* const part = part_of(case_id);
  return gpu_in(part == nullptr ? run_.environment : part->environment);
}

std::vector<std::string> gpu_models(const Run& run) {
  std::set<std::string> names{gpu_in(run.environment)};
  for (const RunPart& part : run.parts) names.insert(gpu_in(part.environment));
  names.erase("");
  return {names.begin(), names.end()};
}

}  // namespace mprof
