// SPDX-License-Identifier: MIT
#include "model/parts.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <variant>

#include "model/facts.hpp"

namespace mprof {
namespace {

std::string text_in(const Environment& environment, const FactName& name) {
  const Fact* const fact = find_fact(environment, name.group, name.name);
  const bool is_known = fact != nullptr && std::holds_alternative<std::string>(*fact);
  return is_known ? std::get<std::string>(*fact) : std::string();
}

std::string gpu_in(const Environment& environment) {
  return text_in(environment, fact::gpu_name);
}

/// What one machine measured of a merged run.
struct Machine {
  const RunPart* part = nullptr;  ///< its first one
  std::string started{};          ///< the last one
  std::vector<Case> cases{};
};

/// The machines of a run's parts, without their cases, and by a case's id which of them measured it: none of
/// them (nullptr) when several did.
struct Machines {
  std::vector<std::unique_ptr<Machine>> all{};
  std::unordered_map<std::string_view, Machine*> by_case{};
};

Machines machines_of(const std::vector<RunPart>& parts) {
  Machines machines;
  std::map<std::string, Machine*> by_gpu;
  for (const RunPart& part : parts) {
    const std::string gpu = text_in(part.environment, fact::gpu_uuid);
    Machine*& known = by_gpu[gpu];
    if (known == nullptr || gpu.empty())
      known = machines.all.emplace_back(std::make_unique<Machine>(Machine{.part = &part})).get();
    known->started = std::max(known->started, part.started);
    for (const std::string& id : part.cases) {
      const auto [owner, is_new] = machines.by_case.emplace(id, known);
      if (!is_new && owner->second != known) owner->second = nullptr;
    }
  }
  return machines;
}

}  // namespace

PartIndex::PartIndex(const Run& run) : run_(run) {
  for (const RunPart& part : run.parts) {
    for (const std::string& id : part.cases) {
      const auto [known, is_new] = parts_.emplace(id, &part);
      if (is_new) continue;
      const std::string first = text_in(known->second->environment, fact::gpu_uuid),
                        other = text_in(part.environment, fact::gpu_uuid);
      if (first != other) several_gpus_[id].insert({first, other});
    }
  }
}

const RunPart* PartIndex::part_of(std::string_view case_id) const {
  const auto found = parts_.find(case_id);
  return found == parts_.end() ? nullptr : found->second;
}

const Environment& PartIndex::environment(std::string_view case_id) const {
  const RunPart* const part = part_of(case_id);
  return part == nullptr ? run_.environment : part->environment;
}

std::span<const Ceiling> PartIndex::ceilings(std::string_view case_id) const {
  const RunPart* const part = part_of(case_id);
  return part == nullptr || part->ceilings.empty() ? run_.ceilings : part->ceilings;
}

std::string PartIndex::gpu_model(std::string_view case_id) const {
  return gpu_in(environment(case_id));
}

std::string PartIndex::gpu_uuid(std::string_view case_id) const {
  return text_in(environment(case_id), fact::gpu_uuid);
}

std::set<std::string> PartIndex::gpu_uuids(std::string_view case_id) const {
  const auto several = several_gpus_.find(case_id);
  if (several != several_gpus_.end()) return several->second;
  std::string only = gpu_uuid(case_id);
  return only.empty() ? std::set<std::string>{} : std::set{std::move(only)};
}

void visit_machines(Run run, const std::function<void(const Run&)>& visit) {
  if (run.parts.empty()) {
    visit(run);
    return;
  }
  const std::vector<RunPart> parts = std::exchange(run.parts, {});
  const Machines machines = machines_of(parts);
  for (Case& c : run.cases) {
    const auto machine = machines.by_case.find(c.id);
    if (machine != machines.by_case.end() && machine->second != nullptr)
      machine->second->cases.push_back(std::move(c));
  }
  for (const auto& machine : machines.all) {
    if (machine->cases.empty()) continue;
    run.shard = machine->part->shard;
    run.started = machine->started;
    run.environment = machine->part->environment;
    run.ceilings = machine->part->ceilings;
    run.cases = std::move(machine->cases);
    visit(run);
  }
}

std::string gpu_uuid(const Run& run) {
  return text_in(run.environment, fact::gpu_uuid);
}

std::size_t most_gpus_of_a_case(const Run& run) {
  std::unordered_map<std::string_view, std::set<std::string>> gpus;
  std::size_t most = 0;
  for (const RunPart& part : run.parts) {
    const std::string gpu = text_in(part.environment, fact::gpu_uuid);
    if (gpu.empty()) continue;
    for (const std::string& id : part.cases) {
      std::set<std::string>& of_case = gpus[id];
      of_case.insert(gpu);
      most = std::max(most, of_case.size());
    }
  }
  return most;
}

std::vector<std::string> gpu_models(const Run& run) {
  std::set<std::string> names{gpu_in(run.environment)};
  for (const RunPart& part : run.parts) names.insert(gpu_in(part.environment));
  names.erase("");
  return {names.begin(), names.end()};
}

}  // namespace mprof
