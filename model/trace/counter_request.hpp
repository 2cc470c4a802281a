// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What mprof asks of its library in the processes of a program in the counters pass: a file in the folder of
/// their journals.
namespace mprof::journal {

inline constexpr const char* counter_request_file = "counters.request";
/// A named pipe beside it: a byte in it asks mprof to end the program, which a counted kernel has stopped.
inline constexpr const char* stopped_pipe = "stopped";

struct CounterRequest {
  std::string chip{};                   ///< that the configuration is for, in CUPTI's words
  std::vector<std::string> metrics{};   ///< that are counted of each kernel
  std::vector<std::string> several{};   ///< of these, the metrics that a single pass does not count
  std::uint32_t passes = 1;             ///< of all metrics together
  std::string config{};                 ///< how CUPTI sets the hardware up for them: its configuration
  std::vector<std::string> ops{};       ///< that earlier passes have found; empty: none looked
  std::string ranges{};                 ///< the glob of NVTX ranges that are ops; empty: the outermost
  std::string kernels{};                ///< a regular expression that names must match somewhere; empty: all
  std::uint64_t launch_skip = 0;        ///< launches of these kernels that go by before counting begins
  std::uint64_t max_kernels = 0;        ///< so many distinct ones are counted; 0: all
  std::vector<std::string> left_out{};  ///< symbols of kernels that must not be counted
  std::vector<std::string> wanted{};    ///< symbols of the kernels that are counted; empty: all
  bool replays = false;                 ///< CUPTI runs a launch that is counted again for each further pass
  bool operator==(const CounterRequest&) const = default;
};

/// Whether a kernel is one of NCCL's or NVSHMEM's, which wait for kernels of other processes: its launches
/// take different times, so that passes at several of them do not fit together.
[[nodiscard]] bool is_of_communication(std::string_view symbol);

[[nodiscard]] std::string bytes_of(const CounterRequest& request);

/// nullopt for bytes that are no request, or were cut.
[[nodiscard]] std::optional<CounterRequest> read_counter_request(std::string_view bytes);

}  // namespace mprof::journal
