// SPDX-License-Identifier: MIT
#pragma once

namespace mprof::test {

/// Whether AddressSanitizer is in: it answers bad signals and failed allocations itself, before the program
/// can.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool under_address_sanitizer = true;
#elif defined(__has_feature)
inline constexpr bool under_address_sanitizer = __has_feature(address_sanitizer);
#else
inline constexpr bool under_address_sanitizer = false;
#endif

}  // namespace mprof::test
