// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/common/buffer.hpp"
#include "kernels/common/verification.hpp"
#include "kernels/conv/lenet/inputs.hpp"
#include "kernels/conv/lenet/network.hpp"
#include "kernels/conv/lenet/variant.hpp"
#include "kernels/workload.hpp"

namespace mprof::conv {

/// The network with both convolutions computed by one variant. Buffers are allocated and touched here, once.
class LenetExecution final : public Execution {
 public:
  /// `inputs` must outlive the execution. `parameters` has a value for each declared parameter.
  /// `precision`: as in_precision() takes it.
  LenetExecution(const Inputs& inputs, const Declaration& declaration, const Parameters& parameters,
                 std::optional<std::string> precision = {});

  ExecutionResult run(StageObserver& observer, const Trial& trial) override;
  [[nodiscard]] std::size_t turns() const override { return inputs_.turning.turns(); }
  [[nodiscard]] bool has_its_inputs() const override;

  /// [batch][10], of the last run.
  [[nodiscard]] std::span<const float> logits() const { return logits_.span(); }

 private:
  /// A convolution of the whole batch, and what it shows.
  void run_convolution(std::size_t layer, const float* input, StageObserver& observer, const Trial& trial,
                       std::vector<Verification>& verification);
  /// The variant's other shapes, on inputs drawn by `seed`.
  void verify_other_shapes(StageObserver& observer, std::uint64_t seed,
                           std::vector<Verification>& verification);
  void pool_first_layer();
  /// Pools the second layer's output and classifies it, image by image, when `first` was the first image.
  std::vector<QualityValue> classify(std::size_t first);

  const Inputs& inputs_;
  double tolerance_;
  std::optional<std::string> precision_;
  std::array<std::unique_ptr<Convolution>, layers.size()> convolutions_;
  Classifier classifier_;
  Buffer convolved_;  ///< output of either convolution: the first one's is read before the second one's is
                      ///< written
  Buffer pooled_;     ///< [batch][4][40][40]: input of the second convolution
  Buffer logits_;
  std::array<OutputProof, layers.size()> proofs_;
};

}  // namespace mprof::conv
