// SPDX-License-Identifier: MIT
#include "injection/cupti_functions.hpp"

#include <array>

#include <dlfcn.h>

namespace mprof::injection {

template <class Function>
void CuptiFunctions::import(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(::dlsym(library_.handle, name));
  if (function == nullptr && obstacle.empty())
    obstacle = named() + " has no function " + name + ": mprof reads CUPTI 11.8 to 13.";
}

CuptiFunctions::CuptiFunctions(Use use) : library_(find_cupti(use == Use::records)) {
  if (library_.handle == nullptr) {
    obstacle =
        "CUPTI could not be loaded into the process: install the CUDA toolkit's CUPTI, or add its folder to "
        "LD_LIBRARY_PATH.";
    return;
  }
  import(version, "cuptiGetVersion");
  if (version != nullptr && version(&number_) != CUPTI_SUCCESS) number_ = 0;
  look_at_version(use);
  if (!obstacle.empty()) return;
  import(subscribe_plainly, "cuptiSubscribe");
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
  import(set_attribute, "cuptiActivitySetAttribute");
  import(stream_id, "cuptiGetStreamIdEx");
  import(graph_node_id, "cuptiGetGraphNodeId");
  import(initialize_nvtx, "InitializeInjectionNvtx2");
  subscribe_by_name =
      reinterpret_cast<decltype(subscribe_by_name)>(::dlsym(library_.handle, "cuptiSubscribe_v2"));
}

/// "The process has CUPTI 14.0 (/path/libcupti.so.14), which".
std::string CuptiFunctions::named() const {
  return "The process has CUPTI " + (number_ != 0 ? cupti_version_text(number_) : "of no version") + " (" +
         library_.path + "), which";
}

void CuptiFunctions::look_at_version(Use use) {
  if (!obstacle.empty()) return;
  if (!has_known_records(number_)) {
    obstacle = named() + " this mprof does not know: it reads CUPTI 11.8 to 13.";
  } else if (use == Use::counters && number_ / 100 != CUPTI_API_VERSION / 100) {
    obstacle = named() + " does not count for this mprof: kernels are counted and sampled by CUPTI " +
               cupti_version_text(CUPTI_API_VERSION / 100 * 100) + " alone.";
  }
}

std::string CuptiFunctions::described(const char* what, CUptiResult result) const {
  const char* name = nullptr;
  result_string(result, &name);
  return std::string("CUPTI could not ") + what + ": " + (name != nullptr ? name : "it does not say why");
}

std::string CuptiFunctions::subscribe(CUpti_SubscriberHandle& subscriber, CUpti_CallbackFunc callback) const {
  std::array<char, CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN> other{};
  CUptiResult result = CUPTI_SUCCESS;
  if (subscribe_by_name != nullptr) {
    CUpti_SubscriberParams params{};
    params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
    params.subscriberName = "mprof";
    params.oldSubscriberName = other.data();
    params.oldSubscriberSize = other.size();
    result = subscribe_by_name(&subscriber, callback, nullptr, &params);
  } else {
    result = subscribe_plainly(&subscriber, callback, nullptr);
  }
  if (result == CUPTI_SUCCESS) return "";
  if (result != CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
    return described("attach to the process", result) + ".";
  return std::string("Another tool is attached to the process: ") +
         (other.front() != '\0' ? other.data() : "it profiles itself") + ".";
}

}  // namespace mprof::injection
