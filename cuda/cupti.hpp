// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include <cupti_callbacks.h>
#include <cupti_result.h>

#include "cuda/shared_library.hpp"

/// CUPTI, opened when a pass needs it. A process that only times must never load it, because tracing slows
/// launches down for the rest of a process's life. A machine without CUPTI still runs everything else.
namespace mprof::cuda {

/// libcupti, opened at the first call. Import functions from it by name.
[[nodiscard]] const SharedLibrary& cupti_library();

/// Why CUPTI cannot be used: it is missing, or of another version than the headers of this build, whose
/// records it would lay out differently; nullopt when it can.
[[nodiscard]] std::optional<std::string> cupti_unavailable();

/// The version of the library that is loaded: "13.0.1". Call it where cupti_unavailable() has no objection.
[[nodiscard]] std::string cupti_version();

/// Subscribes to CUPTI's callbacks: `callback` gets `user` and CUPTI's data. A process has one subscriber;
/// throws Error(environment) that names the other tool when there is one already.
[[nodiscard]] CUpti_SubscriberHandle subscribe(CUpti_CallbackFunc callback, void* user);

/// Throws Error when `result` is not CUPTI_SUCCESS: what CUPTI says of it, and the next step.
void check(CUptiResult result, const char* file = __builtin_FILE(), int line = __builtin_LINE());

/// What a CUPTI result means, for people, with the next step where there is one.
[[nodiscard]] std::string describe(CUptiResult result);

}  // namespace mprof::cuda
