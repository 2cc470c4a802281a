// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include <cupti.h>

#include "injection/call_stacks.hpp"
#include "injection/cupti_functions.hpp"
#include "injection/journal_writer.hpp"
#include "model/trace/launch_record.hpp"

namespace mprof::injection {

/// Notes the launches of this process. The last ones are in a file that outlives it; launches that CUDA
/// refuses are in its journal. What a GPU was doing when something went wrong is known from them.
class LaunchLog {
 public:
  /// `stacks`: of launches; nullptr: none are taken.
  LaunchLog(JournalWriter& journal, const CuptiFunctions& cupti, CallStacks* stacks);

  /// Has CUPTI call back for launches.
  void watch(CUpti_SubscriberHandle subscriber);
  /// A call of CUPTI's, of any of the two APIs. False: it is no launch.
  bool take(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& call);
  /// The number of the stack from which the calling thread is launching something; 0: of none.
  [[nodiscard]] static std::uint32_t stack_of_launching();

 private:
  /// A kernel's name, and how often it was launched.
  struct Symbol {
    std::uint64_t number = 0;
    std::atomic<std::uint64_t> launches = 0;
  };

  void begins(CUpti_CallbackId id, const CUpti_CallbackData& call);
  void ends(std::uint32_t result, const launch_log::Launch& launch);
  [[nodiscard]] launch_log::Launch launch_of(CUpti_CallbackId id, const CUpti_CallbackData& call);
  Symbol& symbol_of(const char* name);
  std::uint32_t stream_of(CUcontext context, CUstream stream, bool is_per_thread) const;
  void open();

  JournalWriter& journal_;
  const CuptiFunctions& cupti_;
  CallStacks* stacks_;
  std::atomic<launch_log::Head*> head_ = nullptr;
  launch_log::Launch* places_ = nullptr;
  std::atomic<std::uint64_t> failures_ = 0;
  std::atomic<bool> has_faulted_ = false;  ///< a kernel, so that no other one runs
  std::mutex mutex_;                       ///< of what follows
  std::unordered_map<std::string, Symbol> symbols_;
};

}  // namespace mprof::injection
