// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <type_traits>

#include <cudnn.h>

#include "cuda/shared_library.hpp"

/// cuDNN, opened at run time: include this only where <cudnn.h> is.
namespace mprof::conv::cudnn {

/// The functions of the library that are called.
struct Functions {
  decltype(cudnnCreate)* create;
  decltype(cudnnDestroy)* destroy;
  decltype(cudnnGetErrorString)* error_string;
  // Its first interface: a convolution by the number of its algorithm.
  decltype(cudnnCreateTensorDescriptor)* create_tensor;
  decltype(cudnnSetTensor4dDescriptor)* set_tensor;
  decltype(cudnnDestroyTensorDescriptor)* destroy_tensor;
  decltype(cudnnCreateFilterDescriptor)* create_filter;
  decltype(cudnnSetFilter4dDescriptor)* set_filter;
  decltype(cudnnDestroyFilterDescriptor)* destroy_filter;
  decltype(cudnnCreateConvolutionDescriptor)* create_convolution;
  decltype(cudnnSetConvolution2dDescriptor)* set_convolution;
  decltype(cudnnSetConvolutionMathType)* set_math_type;
  decltype(cudnnDestroyConvolutionDescriptor)* destroy_convolution;
  decltype(cudnnGetConvolutionForwardWorkspaceSize)* workspace_size;
  decltype(cudnnConvolutionForward)* forward;
  // Its graphs.
  decltype(cudnnBackendCreateDescriptor)* create_descriptor;
  decltype(cudnnBackendDestroyDescriptor)* destroy_descriptor;
  decltype(cudnnBackendSetAttribute)* set_attribute;
  decltype(cudnnBackendGetAttribute)* get_attribute;
  decltype(cudnnBackendFinalize)* finalize;
  decltype(cudnnBackendExecute)* execute;

  explicit Functions(const cuda::SharedLibrary& library);
};

[[nodiscard]] const cuda::SharedLibrary& library();
/// Throws Error(environment) where the library is not there, or too old for one of them.
[[nodiscard]] const Functions& functions();
/// "9.19.0", or "not found".
[[nodiscard]] std::string version();

/// Throws Error(fault) where `status` is not success.
void check(cudnnStatus_t status, const std::string& what);

/// A handle or a descriptor, destroyed with its owner.
template <class Handle>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, cudnnStatus_t (*)(Handle)>;

template <class Handle>
[[nodiscard]] Owned<Handle> make_owned(cudnnStatus_t (*create)(Handle*), cudnnStatus_t (*destroy)(Handle)) {
  Handle handle = nullptr;
  check(create(&handle), "creating a handle or a descriptor");
  return {handle, destroy};
}

}  // namespace mprof::conv::cudnn
