#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/common/buffer.hpp"
#include "kernels/elementwise/map/variant.hpp"
#include "kernels/workload.hpp"

namespace mprof::elementwise {

inline constexpr std::string_view op_name = "map";

/// The map of one matrix by one variant. The output is allocated and touched here, once.
class MapExecution final : public Execution {
 public:
  /// `input` [size][size] must outlive the execution. `parameters` has a value for each declared parameter.
  MapExecution(const Matrix& matrix, std::span<const float> input, const Declaration& declaration,
               const Parameters& parameters);

  std::vector<QualityValue> run(StageObserver& observer) override;
  VerifiedResult run_verified(StageObserver& observer) override;

  /// [size][size], of the last run.
  [[nodiscard]] std::span<const float> output() const { return output_.span(); }

 private:
  void transform(StageObserver& observer, bool poisoned);

  Matrix matrix_;
  std::span<const float> input_;
  double tolerance_;
  std::unique_ptr<Map> map_;
  Buffer output_;
};

}  // namespace mprof::elementwise
