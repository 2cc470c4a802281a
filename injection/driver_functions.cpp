// SPDX-License-Identifier: MIT
#include "injection/driver_functions.hpp"

#include <type_traits>

#include <dlfcn.h>

namespace mprof::injection {

DriverFunctions::DriverFunctions() {
  void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return;
  has_all = true;
  const auto import = [&](auto*& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    has_all = has_all && function != nullptr;
  };
  import(device_of_context, "cuCtxGetDevice");
  import(record_context, "cuCtxRecordEvent");
  import(create_event, "cuEventCreate");
  import(query_event, "cuEventQuery");
  import(is_capturing, "cuStreamIsCapturing");
  import(function_attribute, "cuFuncGetAttribute");
  import(kernel_attribute, "cuKernelGetAttribute");
}

}  // namespace mprof::injection
