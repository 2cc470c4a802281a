// SPDX-License-Identifier: MIT
#pragma once

#include <mutex>

#include <cupti.h>

#include "injection/cupti_functions.hpp"
#include "injection/journal_writer.hpp"

namespace mprof::injection {

/// Notes in the journal which nodes the CUDA graphs of this process were given, when, on which thread, and of
/// which other node each is a copy. NVTX ranges of that thread then say where a node was captured.
class GraphNodes {
 public:
  GraphNodes(JournalWriter& journal, const CuptiFunctions& cupti) : journal_(journal), cupti_(cupti) {}

  /// Has CUPTI call back for nodes.
  void watch(CUpti_SubscriberHandle subscriber) const;
  /// What CUPTI calls back for resources. False: it is about no node.
  bool take(CUpti_CallbackId id, const CUpti_ResourceData& resource);
  /// Into the journal, whatever was noted since.
  void write();

 private:
  JournalWriter& journal_;
  const CuptiFunctions& cupti_;
  std::mutex mutex_;  ///< of what follows
  Chunk chunk_;
};

}  // namespace mprof::injection
