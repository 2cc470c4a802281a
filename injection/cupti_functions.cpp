// SPDX-License-Identifier: MIT
#include "injection/cupti_functions.hpp"

#include <cstdlib>

#include <dlfcn.h>

#include "model/trace/journal.hpp"

namespace mprof::injection {
namespace {

constexpr const char* soname = "libcupti.so.13";
static_assert(CUPTI_API_VERSION / 10000 == 13, "the library's name has the version of its records");

void* open_cupti() {
  if (void* const loaded = ::dlopen(soname, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)) return loaded;
  if (const char* const found = std::getenv(journal::cupti_variable)) {
    if (void* const opened = ::dlopen(found, RTLD_NOW | RTLD_LOCAL)) return opened;
  }
  return ::dlopen(soname, RTLD_NOW | RTLD_LOCAL);
}

}  // namespace

template <class Function>
void CuptiFunctions::import(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(::dlsym(library_, name));
  if (function == nullptr) obstacle = "The process has a CUPTI of another version than mprof was built with.";
}

CuptiFunctions::CuptiFunctions() : library_(open_cupti()) {
  if (library_ == nullptr) {
    obstacle = "CUPTI could not be loaded into the process.";
    return;
  }
  import(version, "cuptiGetVersion");
  import(subscribe, "cuptiSubscribe_v2");
  import(enable_callback, "cuptiEnableCallback");
  import(enable_domain, "cuptiEnableDomain");
  import(set_thread_id_type, "cuptiSetThreadIdType");
  import(register_callbacks, "cuptiActivityRegisterCallbacks");
  import(enable, "cuptiActivityEnable");
  import(flush_all, "cuptiActivityFlushAll");
  import(next_record, "cuptiActivityGetNextRecord");
  import(dropped_records, "cuptiActivityGetNumDroppedRecords");
  import(callback_name, "cuptiGetCallbackName");
  import(result_string, "cuptiGetResultString");
  import(initialize_nvtx, "InitializeInjectionNvtx2");
  if (obstacle != nullptr) return;
  // Records are laid out as their version has them.
  std::uint32_t number = 0;
  if (version(&number) != CUPTI_SUCCESS || number / 100 != CUPTI_API_VERSION / 100)
    obstacle =
        "The process has a CUPTI of another version than mprof was built with, whose records it cannot read.";
}

std::string CuptiFunctions::described(const char* what, CUptiResult result) const {
  const char* name = nullptr;
  result_string(result, &name);
  return std::string("CUPTI could not ") + what + ": " + (name != nullptr ? name : "it does not say why");
}

}  // namespace mprof::injection
