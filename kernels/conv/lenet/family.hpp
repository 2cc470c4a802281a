#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "kernels/workload.hpp"

namespace mprof::conv {

/// Forward convolution of a LeNet on Fashion-MNIST. Registers itself as "conv".
class ConvFamily final : public Family {
 public:
  [[nodiscard]] std::string_view id() const override { return "conv"; }
  [[nodiscard]] std::string_view title() const override;
  [[nodiscard]] std::vector<std::uint64_t> default_batches(bool quick) const override;
  [[nodiscard]] std::uint64_t max_batch() const override;
  [[nodiscard]] std::vector<OpInfo> ops(std::uint64_t batch) const override;
  void validate(const DataPaths& data) const override;
  [[nodiscard]] std::unique_ptr<Workload> load(std::uint64_t batch, const DataPaths& data) const override;
};

}  // namespace mprof::conv
