// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "kernels/workload.hpp"

namespace mprof::elementwise {

/// A map of functions that differ from column to column. Registers itself as "elementwise". Reads no files.
class ElementwiseFamily final : public Family {
 public:
  [[nodiscard]] const FamilyInfo& info() const override;
  [[nodiscard]] std::vector<Problem> default_problems(bool quick) const override;
  [[nodiscard]] std::vector<OpInfo> ops(const Problem& problem) const override;
  [[nodiscard]] std::unique_ptr<Workload> load(const Problem& problem,
                                               const InputPaths& inputs) const override;
  void adopt(const std::string& id, const std::shared_ptr<const Plugin>& plugin) const override;
};

}  // namespace mprof::elementwise
