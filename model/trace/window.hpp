// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

/// The part of a program that its trace and its counters are of: `mprof run --window`. Also compiled into
/// what the program loads, so that nothing here throws.
namespace mprof::trace {

struct Window {
  enum class Kind : std::uint8_t {
    steps,         ///< from the beginning of one step to the end of another
    ranges,        ///< the same of NVTX ranges of a name
    profiler_api,  ///< between cudaProfilerStart() and cudaProfilerStop(), each time
    seconds,       ///< since the program's start
  };
  static constexpr std::uint64_t open = std::numeric_limits<std::uint64_t>::max();

  Kind kind = Kind::profiler_api;
  std::string range{};  ///< of ranges: their name; of steps: of the range that begins each, without numbers
  std::uint64_t first = 1;  ///< of steps, ranges: counted from 1, both included
  std::uint64_t last = open;
  double from = 0;  ///< s, of seconds
  double to = std::numeric_limits<double>::infinity();
  bool operator==(const Window&) const = default;
};

/// "step:10..20", "range:NAME", "range:NAME[3]", "range:NAME[3..5]", "profiler-api", "seconds:1.5..3"; a
/// bound behind `..` may be left out. nullopt: it is something else, and `wrong` says why.
[[nodiscard]] std::optional<Window> parse_window(std::string_view text, std::string& wrong);

/// What the environment of a process gives to the library in it: `since` is when the program was
/// started, ns since 1970.
inline constexpr const char* window_variable = "MPROF_WINDOW";
[[nodiscard]] std::string written_window(const Window& window, std::int64_t since);
struct GivenWindow {
  Window window{};
  std::int64_t since = 0;  ///< ns since 1970
};
/// nullopt: it was not written so.
[[nodiscard]] std::optional<GivenWindow> given_window(std::string_view text);

}  // namespace mprof::trace
