// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "report/trace/profile_tables.hpp"

/// Which API call launched which kernel, and which ranges it was in.
namespace mprof {

/// A kernel with the call that launched it, by its place in Trace::kernels and Trace::calls.
struct Launch {
  std::uint32_t kernel = 0;
  std::uint32_t call = 0;
};

/// The kernels in the scope whose call was traced, in the order of the calls' threads and starts. Any call
/// can launch: they are matched by correlation id and process, not by a list of names. Where a runtime call
/// and the driver call within it have the same id, the runtime's stands for both.
[[nodiscard]] std::vector<Launch> launches(const trace::Trace& trace, const ProfileScope& scope);

/// The kernels of one name that were launched within ranges of one name on one thread.
struct RangeKernels {
  trace::NameIndex range = 0;  ///< 0: in no range
  std::optional<trace::RangeStyle> style{};
  std::optional<std::int64_t> process{};  ///< of the call; nullopt: it was not traced
  std::optional<std::int64_t> thread{};
  trace::NameIndex kernel = 0;
  std::int64_t instances = 0;       ///< of the range
  std::vector<std::int64_t> times;  ///< ns, of each kernel
};

/// A kernel is in every range that contains its launching call, on that call's thread; one that is in none
/// has a row nevertheless. By range and thread, the longest first.
[[nodiscard]] std::vector<RangeKernels> kernels_of_ranges(const trace::Trace& trace,
                                                          const ProfileScope& scope);

}  // namespace mprof
