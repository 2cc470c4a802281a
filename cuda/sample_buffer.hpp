// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include <cupti_pcsampling.h>

namespace mprof::cuda {

/// Instructions that CUPTI hands over in one call.
inline constexpr std::size_t instructions_at_once = 8192;

/// What CUPTI fills with sampled instructions, with room for so many of them and of stall reasons.
struct SampleBuffer {
  SampleBuffer(std::size_t instructions, std::size_t all_reasons)
      : reasons(all_reasons), stalls(instructions * all_reasons), records(instructions) {
    data.size = sizeof(CUpti_PCSamplingData);
    data.collectNumPcs = instructions;
    data.pPcData = records.data();
    for (std::size_t i = 0; i < instructions; ++i) {
      records[i].size = sizeof(CUpti_PCSamplingPCData);
      records[i].stallReason = &stalls[i * all_reasons];
    }
    empty();
  }
  SampleBuffer(const SampleBuffer&) = delete;
  SampleBuffer& operator=(const SampleBuffer&) = delete;

  /// Before CUPTI fills it again: it writes how many reasons an instruction has over the room for them.
  void empty() {
    for (CUpti_PCSamplingPCData& record : records) record.stallReasonCount = reasons;
    data.totalNumPcs = 0;
  }

  std::size_t reasons;
  std::vector<CUpti_PCSamplingStallReason> stalls;
  std::vector<CUpti_PCSamplingPCData> records;
  CUpti_PCSamplingData data{};
};

}  // namespace mprof::cuda
