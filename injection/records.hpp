// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include <cupti_activity.h>

#include "injection/journal_writer.hpp"
#include "injection/window_gate.hpp"

namespace mprof::injection {

/// B, of a record of the kind in CUPTI 11.8; 0 for a kind that is not kept.
[[nodiscard]] std::size_t shortest_size(CUpti_ActivityKind kind);

/// Adds a record of `size` bytes in the layout of this build's headers, with the texts that it points to, and
/// frees what is its reader's to free. Fields that its version does not have yet are 0; fields of later
/// versions are left out. So are kinds that a trace has no use for. False: it is too short to be one.
bool add_record(CUpti_Activity& record, std::size_t size, JournalWriter& journal, Chunk& chunk);

/// Takes the records out of a buffer of CUPTI's, each with its size: it ends where the next begins.
/// `next_record` is CUPTI's; `take` gets a record and its size. False when what follows cannot be read.
template <class NextRecord, class Take>
bool for_each_record(NextRecord* next_record, std::uint8_t* buffer, std::size_t valid_size,
                     const Take& take) {
  CUpti_Activity* record = nullptr;
  CUptiResult result = next_record(buffer, valid_size, &record);
  while (result == CUPTI_SUCCESS) {
    CUpti_Activity* const current = record;
    result = next_record(buffer, valid_size, &record);
    const auto* const begin = reinterpret_cast<const std::uint8_t*>(current);
    const std::uint8_t* end = result == CUPTI_SUCCESS ? reinterpret_cast<const std::uint8_t*>(record) : begin;
    if (result == CUPTI_ERROR_MAX_LIMIT_REACHED) end = buffer + valid_size;
    take(*current, end > begin ? static_cast<std::size_t>(end - begin) : shortest_size(current->kind));
  }
  return result == CUPTI_ERROR_MAX_LIMIT_REACHED || valid_size == 0;
}

/// Whether a record belongs to the window of the process.
[[nodiscard]] bool is_kept(const CUpti_Activity& record, const WindowGate& gate);

}  // namespace mprof::injection
