// SPDX-License-Identifier: MIT
#pragma once

#include <cupti.h>

#include "injection/window_gate.hpp"

namespace mprof::injection {

/// What CUPTI calls back for NVTX, told to the gate of a window: which ranges begin and end.
void take_nvtx_callback(CUpti_CallbackId id, const CUpti_NvtxData& data, WindowGate& gate);

}  // namespace mprof::injection
