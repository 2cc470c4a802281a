// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "kernels/workload.hpp"

namespace mprof::conv {

/// Forward convolution of a LeNet on Fashion-MNIST. Registers itself as "conv".
class ConvFamily final : public Family {
 public:
  [[nodiscard]] const FamilyInfo& info() const override;
  [[nodiscard]] std::vector<Problem> default_problems(bool quick) const override;
  [[nodiscard]] std::vector<OpInfo> ops(const Problem& problem) const override;
  [[nodiscard]] std::vector<InputInfo> inputs() const override;
  [[nodiscard]] std::vector<InputFile> validate(const InputPaths& inputs) const override;
  [[nodiscard]] std::unique_ptr<Workload> load(const Problem& problem,
                                               const InputPaths& inputs) const override;
  void adopt(const std::string& id, const std::shared_ptr<const Plugin>& plugin) const override;
  [[nodiscard]] std::optional<SourceFrame> frame_of(std::string_view source) const override;
};

}  // namespace mprof::conv
