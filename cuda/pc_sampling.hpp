// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <cupti.h>
#include <cupti_pcsampling.h>

/// What mprof's own sampler of program counters and the one in a program's processes share. It calls CUPTI by
/// the functions that it is given, and throws nothing.
namespace mprof::cuda {

/// The parameters of most of these functions: a size, and a context.
template <class Params>
Params in_context(std::size_t size, CUcontext context) {
  Params params{};
  params.size = size;
  params.ctx = context;
  return params;
}

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

/// CUPTI's numbers for what a warp may wait for, with the names of their metrics.
using StallReasons = std::vector<std::pair<std::uint32_t, std::string>>;

inline CUptiResult read_stall_reasons(decltype(::cuptiPCSamplingGetNumStallReasons)* count_reasons,
                                      decltype(::cuptiPCSamplingGetStallReasons)* name_reasons,
                                      CUcontext context, StallReasons& reasons) {
  std::size_t count = 0;
  auto counted = in_context<CUpti_PCSamplingGetNumStallReasonsParams>(
      CUpti_PCSamplingGetNumStallReasonsParamsSize, context);
  counted.numStallReasons = &count;
  if (const CUptiResult result = count_reasons(&counted); result != CUPTI_SUCCESS) return result;
  std::vector<std::uint32_t> ids(count);
  std::vector<std::array<char, CUPTI_STALL_REASON_STRING_SIZE>> names(count);
  std::vector<char*> addresses;
  for (auto& name : names) addresses.push_back(name.data());
  auto named =
      in_context<CUpti_PCSamplingGetStallReasonsParams>(CUpti_PCSamplingGetStallReasonsParamsSize, context);
  named.numStallReasons = count;
  named.stallReasonIndex = ids.data();
  named.stallReasons = addresses.data();
  if (const CUptiResult result = name_reasons(&named); result != CUPTI_SUCCESS) return result;
  for (std::size_t i = 0; i < count; ++i) reasons.emplace_back(ids[i], names[i].data());
  return CUPTI_SUCCESS;
}

struct SamplingSetting {
  std::uint32_t period = 0;         ///< every 2^n cycles of a multiprocessor
  bool has_control = false;         ///< samples are taken between starts and stops alone
  std::size_t hardware_buffer = 0;  ///< B; 0: CUPTI's own default
  SampleBuffer* rest = nullptr;     ///< what CUPTI fills by itself, as when sampling is switched off
};

/// While kernels run together as always.
inline CUptiResult set_up(decltype(::cuptiPCSamplingSetConfigurationAttribute)* configure, CUcontext context,
                          const SamplingSetting& setting) {
  std::array<CUpti_PCSamplingConfigurationInfo, 5> settings{};
  settings[0].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE;
  settings[0].attributeData.collectionModeData.collectionMode = CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS;
  settings[1].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD;
  settings[1].attributeData.samplingPeriodData.samplingPeriod = setting.period;
  settings[2].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL;
  settings[2].attributeData.enableStartStopControlData.enableStartStopControl = setting.has_control ? 1 : 0;
  settings[3].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER;
  settings[3].attributeData.samplingDataBufferData.samplingDataBuffer = &setting.rest->data;
  settings[4].attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE;
  settings[4].attributeData.hardwareBufferSizeData.hardwareBufferSize = setting.hardware_buffer;
  auto params = in_context<CUpti_PCSamplingConfigurationInfoParams>(
      CUpti_PCSamplingConfigurationInfoParamsSize, context);
  params.numAttributes = settings.size() - (setting.hardware_buffer == 0 ? 1 : 0);
  params.pPCSamplingConfigurationInfo = settings.data();
  return configure(&params);
}

}  // namespace mprof::cuda
