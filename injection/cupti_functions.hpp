// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <cupti.h>

namespace mprof::injection {

/// CUPTI's functions, by their names in its headers. They are of the library that the process has loaded
/// already, or else of the one that mprof has found: a process must not have two.
struct CuptiFunctions {
  CuptiFunctions();

  /// Why they cannot be used, a sentence; nullptr when they can.
  const char* obstacle = nullptr;

  decltype(::cuptiGetVersion)* version = nullptr;
  decltype(::cuptiSubscribe_v2)* subscribe = nullptr;
  decltype(::cuptiEnableCallback)* enable_callback = nullptr;
  decltype(::cuptiEnableDomain)* enable_domain = nullptr;
  decltype(::cuptiSetThreadIdType)* set_thread_id_type = nullptr;
  decltype(::cuptiActivityRegisterCallbacks)* register_callbacks = nullptr;
  decltype(::cuptiActivityEnable)* enable = nullptr;
  decltype(::cuptiActivityFlushAll)* flush_all = nullptr;
  decltype(::cuptiActivityGetNextRecord)* next_record = nullptr;
  decltype(::cuptiActivityGetNumDroppedRecords)* dropped_records = nullptr;
  decltype(::cuptiGetCallbackName)* callback_name = nullptr;
  decltype(::cuptiGetResultString)* result_string = nullptr;
  int (*initialize_nvtx)(void*) = nullptr;  ///< gives CUPTI the NVTX calls; in no header

  /// The library that they are of.
  [[nodiscard]] void* library() const { return library_; }
  /// "what: CUPTI's name of the error".
  [[nodiscard]] std::string described(const char* what, CUptiResult result) const;

 private:
  template <class Function>
  void import(Function*& function, const char* name);

  void* library_ = nullptr;
};

}  // namespace mprof::injection
