// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "model/trace/nvtx_payload.hpp"
#include "model/trace/sqlite.hpp"
#include "model/trace/stored_strings.hpp"
#include "model/trace/tables.hpp"

namespace mprof::trace::tables {

/// What the ranges of a file have attached, whichever way the file keeps it: as JSON, or as bytes with the
/// schemas that NVTX_PAYLOAD_SCHEMA_ENTRIES has.
class StoredPayloads {
 public:
  StoredPayloads(const sqlite::Database& database, StoredStrings& strings);

  /// JSON; empty where a range has nothing.
  [[nodiscard]] std::string json_of(const NvtxEvent& event);

 private:
  using Schemas = std::map<std::pair<std::int64_t, std::int64_t>, PayloadSchema>;  ///< by id and domain

  [[nodiscard]] const PayloadSchema* schema(std::int64_t id, std::int64_t domain) const;

  StoredStrings& strings_;
  Schemas schemas_;
};

}  // namespace mprof::trace::tables
