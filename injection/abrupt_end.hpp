// SPDX-License-Identifier: MIT
#pragma once

namespace mprof::injection {

/// A function that libmprof_os_runtime.so shows: `work` is done before the process ends by _exit() or
/// abort(), on the thread that ends it. One of the two libraries that are in a process in the trace pass
/// finds the other by this name.
using BeforeAbruptEnd = void(void (*work)());
constexpr const char* before_abrupt_end_symbol = "mprof_before_abrupt_end";

}  // namespace mprof::injection
