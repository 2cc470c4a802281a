// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include "injection/journal_writer.hpp"

namespace mprof::injection {

/// What the process attaches to its NVTX ranges by NVTX's payload extension, for the journal. CUPTI's records
/// of ranges do not have it. Memory that the process names is copied by the kernel, which refuses a bad
/// address; sizes and counts are limited. Never destroyed: the extension's functions stay in its modules.
class NvtxPayloads {
 public:
  explicit NvtxPayloads(JournalWriter& journal) : journal_(journal) {}

  /// Takes the extension's functions in the module that asks, for the one recorder of the process. False for
  /// another extension, or another layout of this one.
  bool take_functions(const nvtxExtModuleInfo_t* module);
  /// A thread begins a range in a domain: pushes or starts it.
  void begins(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes);
  /// Writes what is kept.
  void flush();

 private:
  struct Schema {
    std::uint64_t size = 0;  ///< B; 0: not known
    std::string name{};      ///< empty: it has none
  };
  using SchemaKey = std::pair<std::uint64_t, std::uint64_t>;  ///< its domain and its id

  static std::uint64_t register_schema(nvtxDomainHandle_t domain, const nvtxPayloadSchemaAttr_t* attributes);
  static int push_with_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payload,
                               std::size_t count);
  static int pop_with_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payload, std::size_t count);

  std::uint64_t add_schema(std::uint64_t domain, const nvtxPayloadSchemaAttr_t* attributes);
  [[nodiscard]] std::string schema_name(std::uint64_t domain, const nvtxPayloadData_t* data);
  void add_payload(journal::Payload payload, const nvtxPayloadData_t* data);
  [[nodiscard]] std::string copy_name(const char* name);
  [[nodiscard]] bool copy(const void* from, void* to, std::size_t size);

  JournalWriter& journal_;
  std::mutex mutex_;  ///< of what follows
  std::map<SchemaKey, Schema> schemas_{};
  std::uint64_t last_id_ = 0;
  bool is_refused_ = false;  ///< the system does not let it copy
  Chunk chunk_;
};

}  // namespace mprof::injection
