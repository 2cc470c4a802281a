// SPDX-License-Identifier: MIT
// The reader of what PyTorch's profiler writes must answer any bytes with rows that make a case, or with an
// Error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "inputs/torch_trace.hpp"
#include "model/trace/program.hpp"
#include "system/error.hpp"

// libFuzzer gives the name. NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    mprof::trace::Trace trace = mprof::parse_torch_trace({reinterpret_cast<const char*>(data), size}, "fuzz");
    (void)mprof::trace::make_program_case(trace, {.case_id = "program/fuzz"});
  } catch (const mprof::Error& error) {
    if (error.code() != mprof::ExitCode::usage) __builtin_trap();
  }
  return 0;
}
