#include "kernels/elementwise/map/execution.hpp"

#include "kernels/elementwise/map/reference.hpp"

namespace mprof::elementwise {

MapExecution::MapExecution(const Matrix& matrix, std::span<const float> input, const Declaration& declaration,
                           const Parameters& parameters)
    : matrix_(matrix),
      input_(input),
      tolerance_(mprof::tolerance(declaration, parameters, tolerance(matrix.iterations))),
      map_(declaration.make(parameters)),
      output_(matrix.elements()) {}

std::vector<QualityValue> MapExecution::run(StageObserver& observer) {
  transform(observer, false);
  return {};
}

VerifiedResult MapExecution::run_verified(StageObserver& observer) {
  transform(observer, true);
  return {.qualities = {}, .verification = {verify(op_name, matrix_, input_, output_.span(), tolerance_)}};
}

void MapExecution::transform(StageObserver& observer, bool poisoned) {
  run_stages(
      op_name, *map_, [&] { map_->prepare(matrix_, input_.data(), output_.data()); }, output_.span(),
      poisoned, observer);
}

}  // namespace mprof::elementwise
