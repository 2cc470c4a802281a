// SPDX-License-Identifier: MIT
#if __has_include(<cudnn.h>)

#include "kernels/conv/device/cudnn_engines.hpp"

namespace mprof::conv::cudnn {
namespace {

int extent(std::size_t size) {
  return static_cast<int>(size);
}

class Algorithm final : public Engine {
 public:
  Algorithm(cudnnHandle_t handle, const Task& task, cudnnMathType_t math, cudnnConvolutionFwdAlgo_t algorithm)
      : handle_(handle), algorithm_(algorithm) {
    const Shape& s = task.shape;
    const auto [type, layout, channels] = task.input;
    check(functions().set_tensor(input_.get(), layout, type, extent(s.batch), extent(channels),
                                 extent(s.height), extent(s.width)),
          "describing the input");
    check(functions().set_tensor(output_.get(), layout, type, extent(s.batch), extent(task.output.channels),
                                 extent(s.out_height()), extent(s.out_width())),
          "describing the output");
    check(functions().set_filter(masks_.get(), type, layout, extent(task.output.channels), extent(channels),
                                 extent(s.mask), extent(s.mask)),
          "describing the masks");
    check(functions().set_convolution(convolution_.get(), 0, 0, extent(s.stride), extent(s.stride), 1, 1,
                                      CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
          "describing the convolution");
    check(functions().set_math_type(convolution_.get(), math), "cudnnSetConvolutionMathType");
    is_supported_ =
        functions().workspace_size(handle_, input_.get(), masks_.get(), convolution_.get(), output_.get(),
                                   algorithm_, &workspace_bytes_) == CUDNN_STATUS_SUCCESS;
  }

  [[nodiscard]] bool is_supported() const { return is_supported_; }
  [[nodiscard]] std::size_t workspace_bytes() const override { return workspace_bytes_; }

  [[nodiscard]] cudnnStatus_t run(const void* input, const void* masks, void* output,
                                  void* workspace) const override {
    const float one = 1;
    const float zero = 0;
    return functions().forward(handle_, &one, input_.get(), input, masks_.get(), masks, convolution_.get(),
                               algorithm_, workspace, workspace_bytes_, &zero, output_.get(), output);
  }

 private:
  cudnnHandle_t handle_;
  cudnnConvolutionFwdAlgo_t algorithm_;
  Owned<cudnnTensorDescriptor_t> input_ = make_owned(functions().create_tensor, functions().destroy_tensor);
  Owned<cudnnTensorDescriptor_t> output_ = make_owned(functions().create_tensor, functions().destroy_tensor);
  Owned<cudnnFilterDescriptor_t> masks_ = make_owned(functions().create_filter, functions().destroy_filter);
  Owned<cudnnConvolutionDescriptor_t> convolution_ =
      make_owned(functions().create_convolution, functions().destroy_convolution);
  std::size_t workspace_bytes_ = 0;
  bool is_supported_ = false;
};

/// What is tried. The default would let FP32 be rounded to TF32; FP16 may also be what cuDNN itself rounds
/// FP32 tensors to.
std::vector<cudnnMathType_t> modes(Math math, cudnnDataType_t type) {
  if (type == CUDNN_DATA_HALF) return {CUDNN_TENSOR_OP_MATH};
  switch (math) {
    case Math::fp32:
      return {CUDNN_FMA_MATH};
    case Math::tf32:
      return {CUDNN_DEFAULT_MATH, CUDNN_TENSOR_OP_MATH, CUDNN_FMA_MATH};
    case Math::fp16:
      break;
  }
  return {CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION, CUDNN_DEFAULT_MATH};
}

}  // namespace

std::vector<Candidate> algorithms(cudnnHandle_t handle, const Task& task, Math math) {
  const bool is_known = task.input.type == task.output.type && task.input.layout == task.output.layout &&
                        task.input.channels == task.shape.channels && task.output.channels == task.shape.maps;
  if (!is_known) return {};
  std::vector<Candidate> candidates;
  for (const cudnnMathType_t mode : modes(math, task.input.type)) {
    for (int algorithm = 0; algorithm < CUDNN_CONVOLUTION_FWD_ALGO_COUNT; ++algorithm) {
      const auto make = [=]() -> std::unique_ptr<Engine> {
        auto made = std::make_unique<Algorithm>(handle, task, mode,
                                                static_cast<cudnnConvolutionFwdAlgo_t>(algorithm));
        return made->is_supported() ? std::move(made) : nullptr;
      };
      candidates.push_back(
          {"algorithm " + std::to_string(algorithm) + " with math type " + std::to_string(mode), make});
    }
  }
  return candidates;
}

}  // namespace mprof::conv::cudnn

#endif
