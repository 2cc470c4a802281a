// SPDX-License-Identifier: MIT
// The reader of what `ncu --csv` prints must answer any bytes with launches whose values are numbers, or with
// an Error.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "inputs/ncu_csv.hpp"
#include "system/error.hpp"

// libFuzzer gives the name. NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const mprof::NcuReport report = mprof::parse_ncu_csv({reinterpret_cast<const char*>(data), size}, "fuzz");
    if (report.launches.empty()) __builtin_trap();
    for (const mprof::NcuLaunch& launch : report.launches) {
      for (const mprof::NcuValue& value : launch.values) {
        if (value.value && !std::isfinite(*value.value)) __builtin_trap();
      }
    }
  } catch (const mprof::Error& error) {
    if (error.code() != mprof::ExitCode::usage) __builtin_trap();
  }
  return 0;
}
