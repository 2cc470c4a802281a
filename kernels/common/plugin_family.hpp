// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/family_library.hpp"
#include "kernels/plugin.hpp"
#include "kernels/workload.hpp"

namespace mprof {

/// A family that a library declares, with variants of which each is a library too. It computes as built-in
/// families do: inputs whose blocks can be turned, poisoned outputs, each of them verified.
class PluginFamily final : public Family {
 public:
  explicit PluginFamily(std::shared_ptr<const FamilyLibrary> library);

  [[nodiscard]] const FamilyInfo& info() const override { return library_->info(); }
  [[nodiscard]] std::vector<Problem> default_problems(bool quick) const override;
  [[nodiscard]] std::vector<OpInfo> ops(const Problem& problem) const override;
  [[nodiscard]] std::unique_ptr<Workload> load(const Problem& problem,
                                               const InputPaths& inputs) const override;
  void adopt(const std::string& id, const std::shared_ptr<const Plugin>& plugin) const override;

 private:
  std::shared_ptr<const FamilyLibrary> library_;
};

}  // namespace mprof
