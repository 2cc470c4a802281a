// SPDX-License-Identifier: MIT
#pragma once

/// A parameter block of CUPTI's profiling functions, zeroed and with its size. A macro, since CUPTI gives
/// each size as a macro that is named after the type.
#define MPROF_CUPTI_PARAMS(type, name) \
  type name{};                         \
  (name).structSize = type##_STRUCT_SIZE
