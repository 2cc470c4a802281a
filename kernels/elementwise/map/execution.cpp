// SPDX-License-Identifier: MIT
#include "kernels/elementwise/map/execution.hpp"

#include <utility>

#include "kernels/common/fingerprint.hpp"
#include "kernels/elementwise/map/reference.hpp"
#include "kernels/elementwise/map/start_values.hpp"

namespace mprof::elementwise {

MapExecution::MapExecution(const Inputs& inputs, const Declaration& declaration, const Parameters& parameters,
                           std::optional<std::string> precision)
    : inputs_(inputs),
      tolerance_(mprof::tolerance(declaration, parameters, precision, tolerance(inputs.matrix.iterations))),
      precision_(std::move(precision)),
      map_(declaration.make(parameters)),
      output_(inputs.matrix.elements()),
      proof_(inputs.turning) {}

ExecutionResult MapExecution::run(StageObserver& observer, const Trial& trial) {
  const Matrix& matrix = inputs_.matrix;
  Buffer unseen;
  if (trial.unseen) observer.aside([&] { unseen = make_input(matrix, matrix.size, trial.seed); });
  const std::span<const float> input =
      trial.unseen ? std::span<const float>(unseen.span()) : inputs_.from(inputs_.turning.first(trial.turn));
  run_stages(
      op_name, *map_, [&] { map_->prepare(matrix, input.data(), output_.data()); }, output_.span(), observer);
  ExecutionResult result;
  if (trial.on_output) observer.aside([&] { trial.on_output(op_name, output_.span()); });
  if (trial.proof == Proof::none) return result;
  observer.aside([&] {
    result.verification = {proof_(
        in_precision(to_verify(op_name, matrix, input, output_.span(), tolerance_), precision_), trial)};
  });
  return result;
}

bool MapExecution::has_its_inputs() const {
  return fingerprint(inputs_.values.span()) == inputs_.fingerprint_at_load;
}

}  // namespace mprof::elementwise
