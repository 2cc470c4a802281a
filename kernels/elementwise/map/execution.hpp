// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/buffer.hpp"
#include "kernels/common/verification.hpp"
#include "kernels/elementwise/map/inputs.hpp"
#include "kernels/elementwise/map/variant.hpp"
#include "kernels/workload.hpp"

namespace mprof::elementwise {

inline constexpr std::string_view op_name = "map";

/// The map of one matrix by one variant. The output is allocated and touched here, once.
class MapExecution final : public Execution {
 public:
  /// `inputs` must outlive the execution. `parameters` has a value for each declared parameter.
  /// `precision`: as in_precision() takes it.
  MapExecution(const Inputs& inputs, const Declaration& declaration, const Parameters& parameters,
               std::optional<std::string> precision = {});

  ExecutionResult run(StageObserver& observer, const Trial& trial) override;
  [[nodiscard]] std::size_t turns() const override { return inputs_.turning.turns(); }
  [[nodiscard]] bool has_its_inputs() const override;

  /// [size][size], of the last run.
  [[nodiscard]] std::span<const float> output() const { return output_.span(); }

 private:
  const Inputs& inputs_;
  double tolerance_;
  std::optional<std::string> precision_;
  std::unique_ptr<Map> map_;
  Buffer output_;
  OutputProof proof_;
};

}  // namespace mprof::elementwise
