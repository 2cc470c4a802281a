// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include <cupti.h>

#include "injection/cupti_library.hpp"

namespace mprof::injection {

/// CUPTI's functions, by their names in its headers, of the library that the process has: find_cupti().
struct CuptiFunctions {
  enum class Use {
    records,   ///< of any known version
    counters,  ///< and samples: of this build's alone, since what mprof prepares outside must fit
  };
  explicit CuptiFunctions(Use use);

  /// Why they cannot be used, a sentence; empty when they can.
  std::string obstacle{};

  decltype(::cuptiGetVersion)* version = nullptr;
  decltype(::cuptiSubscribe)* subscribe_plainly = nullptr;
  decltype(::cuptiSubscribe_v2)* subscribe_by_name = nullptr;  ///< nullptr before 13.0
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
  decltype(::cuptiActivitySetAttribute)* set_attribute = nullptr;
  decltype(::cuptiGetStreamIdEx)* stream_id = nullptr;
  decltype(::cuptiGetGraphNodeId)* graph_node_id = nullptr;
  int (*initialize_nvtx)(void*) = nullptr;  ///< gives CUPTI the NVTX calls; in no header

  /// The library that they are of.
  [[nodiscard]] const CuptiLibrary& library() const { return library_; }
  /// As cuptiGetVersion() gives it; 0: it has none.
  [[nodiscard]] std::uint32_t number() const { return number_; }
  /// "what: CUPTI's name of the error".
  [[nodiscard]] std::string described(const char* what, CUptiResult result) const;
  /// Subscribes to callbacks. Returns why that was not possible, a sentence; empty: it was.
  [[nodiscard]] std::string subscribe(CUpti_SubscriberHandle& subscriber, CUpti_CallbackFunc callback) const;

 private:
  template <class Function>
  void import(Function*& function, const char* name);
  [[nodiscard]] std::string named() const;
  void look_at_version(Use use);

  CuptiLibrary library_;
  std::uint32_t number_ = 0;
};

}  // namespace mprof::injection
