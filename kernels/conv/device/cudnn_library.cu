// SPDX-License-Identifier: MIT
#if __has_include(<cudnn.h>)  // which does not come with the CUDA toolkit

#include "kernels/conv/device/cudnn_library.hpp"
#include "system/error.hpp"

namespace mprof::conv::cudnn {

Functions::Functions(const cuda::SharedLibrary& library) {
  library.import(create, "cudnnCreate");
  library.import(destroy, "cudnnDestroy");
  library.import(error_string, "cudnnGetErrorString");
  library.import(create_tensor, "cudnnCreateTensorDescriptor");
  library.import(set_tensor, "cudnnSetTensor4dDescriptor");
  library.import(destroy_tensor, "cudnnDestroyTensorDescriptor");
  library.import(create_filter, "cudnnCreateFilterDescriptor");
  library.import(set_filter, "cudnnSetFilter4dDescriptor");
  library.import(destroy_filter, "cudnnDestroyFilterDescriptor");
  library.import(create_convolution, "cudnnCreateConvolutionDescriptor");
  library.import(set_convolution, "cudnnSetConvolution2dDescriptor");
  library.import(set_math_type, "cudnnSetConvolutionMathType");
  library.import(destroy_convolution, "cudnnDestroyConvolutionDescriptor");
  library.import(workspace_size, "cudnnGetConvolutionForwardWorkspaceSize");
  library.import(forward, "cudnnConvolutionForward");
  library.import(create_descriptor, "cudnnBackendCreateDescriptor");
  library.import(destroy_descriptor, "cudnnBackendDestroyDescriptor");
  library.import(set_attribute, "cudnnBackendSetAttribute");
  library.import(get_attribute, "cudnnBackendGetAttribute");
  library.import(finalize, "cudnnBackendFinalize");
  library.import(execute, "cudnnBackendExecute");
}

const cuda::SharedLibrary& library() {
  static const cuda::SharedLibrary opened(cuda::toolkit_paths("libcudnn.so." + std::to_string(CUDNN_MAJOR)));
  return opened;
}

const Functions& functions() {
  static const Functions imported(library());
  return imported;
}

std::string version() {
  auto* const get = reinterpret_cast<decltype(cudnnGetVersion)*>(library().find("cudnnGetVersion"));
  if (get == nullptr) return "not found";
  const std::size_t number = get();  // 91900 for 9.19.0
  return std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) + "." +
         std::to_string(number % 100);
}

void check(cudnnStatus_t status, const std::string& what) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  throw Error(ExitCode::fault,
              "conv/cudnn: " + what + " failed: " + functions().error_string(status) +
                  ". With CUDNN_LOGLEVEL_DBG=2 and CUDNN_LOGDEST_DBG=stderr in the environment, cuDNN says "
                  "more.");
}

}  // namespace mprof::conv::cudnn

#endif
