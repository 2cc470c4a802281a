// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// What a program attaches to an NVTX range by NVTX's payload extension: bytes, and a schema that says what
/// they mean. NCCL says so how large a message is, and of which communicator.
namespace mprof::trace {

struct PayloadField {
  std::uint64_t type = 0;    ///< as NVTX_PAYLOAD_ENTRY_TYPE_*
  std::uint64_t flags = 0;   ///< as NVTX_PAYLOAD_ENTRY_FLAG_*
  std::uint64_t offset = 0;  ///< B; 0 after the first field: where it lies by its alignment
  std::string name{};
};

struct PayloadSchema {
  std::uint64_t size = 0;  ///< B; 0: not known
  std::vector<PayloadField> fields{};
};

/// The named numbers of a payload as a JSON object, as Nsight Systems writes it. Fields that do not lie
/// within the bytes, arrays, pointers and types of other schemas are left out; "" where nothing is left.
[[nodiscard]] std::string payload_json(const PayloadSchema& schema, std::string_view bytes);

}  // namespace mprof::trace
