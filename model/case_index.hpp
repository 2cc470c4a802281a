// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "model/run.hpp"

namespace mprof {

/// Finds a run's cases by id or key without walking all of them each time. Positions are those in run.cases,
/// whose ids and keys must stay as they are while the index is used; where two are alike it is the first.
class CaseIndex {
 public:
  explicit CaseIndex(const Run& run);
  [[nodiscard]] std::optional<std::size_t> find(std::string_view id) const;
  [[nodiscard]] std::optional<std::size_t> find(const CaseKey& key) const;

 private:
  struct ByValue {
    bool operator()(const CaseKey* a, const CaseKey* b) const { return *a < *b; }
  };
  std::unordered_map<std::string_view, std::size_t> ids_;
  std::map<const CaseKey*, std::size_t, ByValue> keys_;
};

}  // namespace mprof
