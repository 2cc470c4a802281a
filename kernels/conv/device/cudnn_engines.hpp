// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/conv/device/cudnn_library.hpp"
#include "kernels/conv/lenet/shape.hpp"

/// All ways in which cuDNN computes a convolution, by either of its interfaces.
namespace mprof::conv::cudnn {

/// What may be multiplied; each permits what stands before it, too. Sums are FP32.
enum class Math : std::uint8_t { fp32, tf32, fp16 };

/// How cuDNN sees the input or the output.
struct Side {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  cudnnTensorFormat_t layout = CUDNN_TENSOR_NCHW;
  std::size_t channels = 0;  ///< of an image; those beyond the convolution's own are 0

  bool operator==(const Side&) const = default;
};

/// A convolution of `shape`'s images with these tensors. The masks have the input's type and layout, and the
/// channels of both sides.
struct Task {
  Shape shape;
  Side input;
  Side output;
};

/// One of the ways, for one task. All pointers are to device memory, on addresses that 16 divides.
class Engine {
 public:
  virtual ~Engine() = default;
  [[nodiscard]] virtual std::size_t workspace_bytes() const = 0;
  /// Launches it on the handle's stream.
  [[nodiscard]] virtual cudnnStatus_t run(const void* input, const void* masks, void* output,
                                          void* workspace) const = 0;
};

/// An engine that is not made yet.
struct Candidate {
  std::string name;  ///< tells it from all others for the same task, in each process
  /// May take milliseconds; nullptr where cuDNN cannot do what it was asked for.
  std::function<std::unique_ptr<Engine>()> make;
};

/// The algorithms of cudnnConvolutionForward, with each math mode that `math` permits. It takes no task
/// whose sides have different types, layouts or extra channels: none then.
[[nodiscard]] std::vector<Candidate> algorithms(cudnnHandle_t handle, const Task& task, Math math);

/// The engines that cuDNN's heuristics propose for a graph of this one operation, the likeliest first.
/// Engines that round more than `math` permits are left out.
[[nodiscard]] std::vector<Candidate> graph_engines(cudnnHandle_t handle, const Task& task, Math math);

}  // namespace mprof::conv::cudnn
