// SPDX-License-Identifier: MIT
#include "model/case_index.hpp"

namespace mprof {

CaseIndex::CaseIndex(const Run& run) {
  ids_.reserve(run.cases.size());
  for (std::size_t i = 0; i < run.cases.size(); ++i) {
    ids_.emplace(run.cases[i].id, i);
    keys_.emplace(&run.cases[i].key, i);
  }
}

std::optional<std::size_t> CaseIndex::find(std::string_view id) const {
  const auto found = ids_.find(id);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::size_t> CaseIndex::find(const CaseKey& key) const {
  const auto found = keys_.find(&key);
  return found == keys_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace mprof
